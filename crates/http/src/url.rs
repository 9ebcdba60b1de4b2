//! The path and the query of a request. An address that names nothing is `not_found`;
//! a query that cannot be read, or names what we do not know, is `invalid_request`.

use std::error::Error;

use axum::extract::{FromRequestParts, Path as AxumPath, Query as AxumQuery};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

#[derive(Debug, Clone, Copy)]
pub struct Path<T>(pub T);

impl<T, S> FromRequestParts<S> for Path<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match AxumPath::<T>::from_request_parts(parts, state).await {
            Ok(AxumPath(value)) => Ok(Self(value)),
            Err(_) => Err(Problem::no_such("resource")),
        }
    }
}

/// `T` carries `#[serde(deny_unknown_fields)]`: a misspelt filter must not silently
/// list everything.
#[derive(Debug, Clone, Copy)]
pub struct Query<T>(pub T);

impl<T, S> FromRequestParts<S> for Query<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        match AxumQuery::<T>::try_from_uri(&parts.uri) {
            Ok(AxumQuery(value)) => Ok(Self(value)),
            Err(rejection) => {
                let reason = rejection
                    .source()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let reason: String = reason.chars().take(200).collect();
                Err(Problem::invalid(format!(
                    "The query is not valid: {reason}"
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use serde::Deserialize;

    use super::*;
    use crate::page::{Cursor, Limit};
    use crate::problem::Code;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Search {
        city: Option<String>,
        #[serde(default)]
        limit: Limit,
        cursor: Option<Cursor>,
    }

    async fn search(query: &str) -> Result<Search, Problem> {
        let request = Request::builder().uri(format!("/events?{query}"));
        let (mut parts, _) = request.body(Body::empty()).unwrap().into_parts();
        let found = Query::from_request_parts(&mut parts, &()).await;
        found.map(|Query(search)| search)
    }

    #[tokio::test]
    async fn a_page_has_twenty_items_unless_told() {
        let found = search("city=K%C3%B6ln").await.unwrap();
        assert_eq!(
            (found.city.as_deref(), found.limit),
            (Some("Köln"), Limit(20))
        );
        assert_eq!(search("").await.unwrap().cursor, None);
        assert_eq!(search("limit=100").await.unwrap().limit, Limit(100));
    }

    #[tokio::test]
    async fn a_cursor_goes_into_an_address_as_it_is_and_comes_back() {
        for place in [
            "000001800000000#tkt_1",
            "a b+c/d?e&f=%23",
            "Südtor 🎟 #1",
            "7",
        ] {
            let next = Cursor::encoded(place.to_owned());
            let found = search(&format!("cursor={next}&limit=3")).await.unwrap();
            assert_eq!(found.cursor, Some(Cursor(place.to_owned())));
            assert_eq!(found.limit, Limit(3));
        }
    }

    #[tokio::test]
    async fn a_query_that_cannot_be_meant_is_refused() {
        let long = format!("cursor={}", "x".repeat(513));
        for query in [
            "limit=0",
            "limit=101",
            "limit=",
            "limit=+5",
            "limit=5.0",
            "limit=-1",
            "limit=x",
            "limit=99999999999999999999",
            "limit=1&limit=2",
            "cursor=",
            // A place in a list as it is stored, and what is no text.
            "cursor=000001800000000%23ord_1",
            "cursor=__8",
            "town=Lyon",
            &long,
        ] {
            let problem = search(query).await.unwrap_err();
            assert_eq!(problem.code(), Code::InvalidRequest, "{query}");
            assert!(problem.detail().len() < 300, "{}", problem.detail());
        }
    }
}
