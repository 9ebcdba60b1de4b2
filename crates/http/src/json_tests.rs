//! What a body may be.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Order {
    name: String,
    count: u8,
    #[serde(default)]
    note: Option<String>,
    #[serde(default)]
    place: Option<Place>,
    #[serde(default)]
    prices: BTreeMap<String, u64>,
    #[serde(default)]
    kind: Option<Kind>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Place {
    lat: f64,
    lon: f64,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Seated,
    General { capacity: u32 },
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
struct Patch {
    name: Option<String>,
}

async fn send<T: DeserializeOwned>(
    content_type: &str,
    body: impl Into<Body>,
) -> Result<Json<T>, Problem> {
    let request = Request::builder()
        .header(header::CONTENT_TYPE, content_type)
        .body(body.into())
        .unwrap();
    Json::from_request(request, &()).await
}

async fn order(body: impl Into<Body>) -> Result<Json<Order>, Problem> {
    send("application/json", body).await
}

async fn refusal(body: &str) -> Problem {
    order(body.to_owned())
        .await
        .map(|Json(order, _)| order)
        .expect_err(body)
}

#[tokio::test]
async fn a_body_is_read_with_any_spelling_of_its_media_type() {
    for content_type in ["application/json", "Application/JSON; charset=utf-8"] {
        let Json(order, _) = send::<Order>(content_type, r#"{"name": "Zażółć 🎟", "count": 2}"#)
            .await
            .unwrap();
        assert_eq!((order.name.as_str(), order.count), ("Zażółć 🎟", 2));
    }
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "",
    ] {
        let problem = send::<Order>(content_type, r#"{"name": "a", "count": 2}"#)
            .await
            .unwrap_err();
        assert_eq!(
            problem.code().status(),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "{content_type}"
        );
    }
}

#[tokio::test]
async fn mistakes_are_named_by_their_place_and_without_rust() {
    let cases = [
        (
            r#"{"name": "a", "count": 2, "extra": 1}"#,
            "unknown field \"extra\"",
        ),
        (r#"{"count": 2}"#, "lacks the field `name`"),
        (
            r#"{"name": 7, "count": 2}"#,
            "`name` must be a string, not 7",
        ),
        (
            r#"{"name": "a", "count": 256}"#,
            "`count` must be a whole number from 0 to 255, not 256",
        ),
        (
            r#"{"name": "a", "count": -1}"#,
            "`count` must be a whole number from 0 to 255, not -1",
        ),
        (
            r#"{"name": "a", "count": 1.5}"#,
            "`count` must be a whole number",
        ),
        (r#"{"name": "a", "count": null}"#, "not null"),
        (
            r#"{"name": "a", "count": 2, "place": {"lat": 1.0}}"#,
            "`place` lacks the field `lon`",
        ),
        (
            r#"{"name": "a", "count": 2, "place": {"lat": "x", "lon": 1}}"#,
            "`place.lat` must be a number",
        ),
        (
            r#"{"name": "a", "count": 2, "prices": {"A": "free"}}"#,
            "`prices.A` must be a whole number",
        ),
        (
            r#"{"name": "a", "count": 2, "prices": {"A": -1}}"#,
            "`prices.A` must be a whole number, 0 or more, not -1",
        ),
        (
            r#"{"name": "a", "count": 2, "kind": {"general": {"capacity": 4294967296}}}"#,
            "`kind.general.capacity` must be a smaller whole number, not 4294967296",
        ),
        (
            r#"{"name": "a", "count": 2, "kind": "standing"}"#,
            "`kind` must be one of seated, general",
        ),
        (
            r#"{"name": "a", "count": 2, "kind": {"general": {}}}"#,
            "`kind.general` lacks",
        ),
        ("[]", "must be an object, not an array"),
        ("null", "must be an object, not null"),
        (r#""text""#, "must be an object"),
    ];
    for (body, expected) in cases {
        let problem = refusal(body).await;
        assert_eq!(problem.code(), Code::InvalidRequest, "{body}");
        let detail = problem.detail();
        assert!(detail.contains(expected), "{body}: {detail}");
        for rust in [
            "struct", "enum", "u8", "u64", "f64", "Order", "Place", "Kind", "serde",
        ] {
            assert!(!detail.contains(rust), "{body}: {detail}");
        }
    }
}

#[tokio::test]
async fn an_object_is_never_a_list_of_its_values() {
    for body in [
        r#"["a", 2]"#,
        r#"{"name": "a", "count": 2, "place": [1.0, 2.0]}"#,
        r#"{"name": "a", "count": 2, "kind": {"general": [5]}}"#,
        r#"{"name": "a", "count": 2, "kind": {"seated": null}}"#,
    ] {
        assert_eq!(refusal(body).await.code(), Code::InvalidRequest, "{body}");
    }
    assert!(send::<Patch>("application/json", "[]").await.is_err());
    assert!(send::<Patch>("application/json", "{}").await.is_ok());
    let Json(order, _) =
        order(r#"{"name": "a", "count": 2, "kind": {"general": {"capacity": 5}}}"#)
            .await
            .unwrap();
    assert_eq!(order.kind, Some(Kind::General { capacity: 5 }));
}

#[tokio::test]
async fn what_is_not_json_is_refused_where_it_breaks() {
    let deep = "[".repeat(100_000);
    let deep_objects = r#"{"a":"#.repeat(10_000);
    let bodies: [&[u8]; 10] = [
        b"",
        b"{",
        br#"{"name": "a", "count": 2"#,
        br#"{"name": "a", "count": 2}}"#,
        br#"{'name': 'a'}"#,
        br#"{"name": "\ud800", "count": 2}"#,
        b"{\"name\": \"\xff\xfe\", \"count\": 2}",
        br#"{"name": "a", "count": 1e999}"#,
        &deep.as_bytes()[..60_000],
        &deep_objects.as_bytes()[..50_000],
    ];
    for body in bodies {
        let problem = order(body.to_vec()).await.unwrap_err();
        assert_eq!(problem.code(), Code::InvalidRequest, "{}", problem.detail());
        assert!(
            problem.detail().contains("not JSON"),
            "{}",
            problem.detail()
        );
    }
}

#[tokio::test]
async fn absurd_unicode_is_quoted_briefly_or_taken_as_it_is() {
    let absurd = "\u{202e}\u{0000}🧑‍🚀Z̷̢̛ạ".repeat(200);
    let body = serde_json::json!({"name": absurd, "count": 1}).to_string();
    let Json(order, _) = order(body).await.unwrap();
    assert_eq!(order.name, absurd);
    let mut body = serde_json::json!({"name": "a", "count": 1});
    body[absurd.as_str()] = serde_json::json!(1);
    let problem = refusal(&body.to_string()).await;
    assert!(problem.detail().len() < 2_000, "{}", problem.detail());
    assert!(!problem.detail().contains('\u{0}'));
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_announced_or_not() {
    let padded = |length: usize| {
        let body = r#"{"name": "a", "count": 2}"#;
        format!("{body}{}", " ".repeat(length - body.len()))
    };
    assert!(order(padded(MAX_BODY)).await.is_ok());
    let too_large = padded(MAX_BODY + 1);
    assert_eq!(
        order(too_large.clone()).await.unwrap_err().code(),
        Code::PayloadTooLarge
    );

    let parts = futures_util::stream::iter([Ok::<_, std::io::Error>(too_large.clone())]);
    let streamed = order(Body::from_stream(parts)).await;
    assert_eq!(streamed.unwrap_err().code(), Code::PayloadTooLarge);

    let request = Request::builder()
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONTENT_LENGTH, "999999999999999")
        .body(Body::empty())
        .unwrap();
    let announced = Json::<Order>::from_request(request, &()).await;
    assert_eq!(announced.unwrap_err().code(), Code::PayloadTooLarge);

    let request = Request::builder()
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(too_large))
        .unwrap();
    assert!(LargeJson::<Order>::from_request(request, &()).await.is_ok());

    let broken = futures_util::stream::iter([Err::<String, _>(std::io::Error::other("gone"))]);
    let broken = order(Body::from_stream(broken)).await;
    assert_eq!(broken.unwrap_err().code(), Code::InvalidRequest);
}

#[tokio::test]
async fn the_same_request_written_differently_has_the_same_hash() {
    let hash = async |body: &'static str| order(body).await.unwrap().1;
    let first = hash(r#"{"name": "a", "count": 2}"#).await;
    assert_eq!(first, hash(r#" {"count":2,"name":"\u0061"} "#).await);
    assert_ne!(first, hash(r#"{"name": "a", "count": 3}"#).await);
    assert_ne!(first, hash(r#"{"name": "b", "count": 2}"#).await);
}

#[tokio::test]
async fn a_body_that_may_be_left_out_is_read_as_strictly_when_it_is_there() {
    let send = |content_type: Option<&str>, body: &str| {
        let mut request = Request::builder();
        if let Some(content_type) = content_type {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        async move {
            let read = OptionalJson::<Patch>::from_request(request, &()).await;
            read.map(|OptionalJson(patch)| patch.map(|patch| patch.name))
                .map_err(|problem| problem.code().status())
        }
    };
    let json = Some("application/json");
    assert_eq!(send(None, "").await, Ok(None));
    assert_eq!(send(json, "").await, Ok(None));
    assert_eq!(send(json, "null").await, Ok(None));
    assert_eq!(send(json, "{}").await, Ok(Some(None)));
    let named = send(json, r#"{"name": "Ana"}"#).await;
    assert_eq!(named, Ok(Some(Some("Ana".to_owned()))));
    let unsupported = Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(send(None, "{}").await, unsupported);
    let bad = Err(StatusCode::BAD_REQUEST);
    assert_eq!(send(json, r#"{"nane": "Ana"}"#).await, bad);
}
