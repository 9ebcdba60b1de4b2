//! How the prices of a show are made, and the log of what they were.

use axum::Json as JsonAnswer;
use axum::extract::State;
use onsale_app::Error;
use onsale_app::ports::Page;
use onsale_domain::ids::ShowId;
use onsale_domain::pricing::{Bounds, Pricing, multiple};
use onsale_http::prices::{PointView, PricingMode};
use onsale_http::schemas::ShowIdText;
use onsale_http::{Api, Json, List, LoggedIn, PageQuery, Path, Problem, Query, to_the_end};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `floor` and `ceiling` are multiples of the prices of the show, for `dynamic` only.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PricingChange)]
pub(crate) struct PricingBody {
    mode: PricingMode,
    #[schema(minimum = 0.7, maximum = 1, default = 0.7)]
    floor: Option<f64>,
    #[schema(minimum = 1, maximum = 3, default = 3)]
    ceiling: Option<f64>,
}

impl PricingBody {
    fn pricing(&self) -> Result<Pricing, Error> {
        match self.mode {
            PricingMode::Dynamic => Bounds::from_multiples(self.floor, self.ceiling)
                .map(Pricing::Dynamic)
                .map_err(|why| Error::Invalid(why.to_string())),
            PricingMode::Fixed if self.floor.is_some() || self.ceiling.is_some() => Err(
                Error::Invalid("floor and ceiling are for dynamic prices".into()),
            ),
            PricingMode::Fixed => Ok(Pricing::Fixed),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Pricing)]
pub(crate) struct PricingAnswer {
    mode: PricingMode,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    floor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ceiling: Option<f64>,
}

impl From<Pricing> for PricingAnswer {
    fn from(pricing: Pricing) -> Self {
        let (mode, bounds) = match pricing {
            Pricing::Fixed => (PricingMode::Fixed, None),
            Pricing::Dynamic(bounds) => (PricingMode::Dynamic, Some(bounds)),
        };
        Self {
            mode,
            floor: bounds.map(|bounds| multiple(bounds.floor)),
            ceiling: bounds.map(|bounds| multiple(bounds.ceiling)),
        }
    }
}

/// Let prices follow demand, or keep them fixed
///
/// Dynamic prices change at most once a minute, within `floor` and `ceiling`. A hold keeps
/// the prices it was given.
#[utoipa::path(
    put,
    path = "/api/v1/shows/{show}/pricing",
    operation_id = "change_pricing",
    security(("session" = [])),
    params(("show" = ShowIdText, Path)),
    request_body = PricingBody,
    responses(
        (status = 200, description = "How prices are made now", body = PricingAnswer),
        (status = 409, description = "`conflict`: the show is over or cancelled, or others keep changing it"),
    )
)]
pub(crate) async fn change(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Path(show): Path<ShowId>,
    Json(body, _): Json<PricingBody>,
) -> Result<JsonAnswer<PricingAnswer>, Problem> {
    let pricing = body.pricing()?;
    let changed = to_the_end(async move { api.app.change_pricing(&caller, show, pricing).await });
    Ok(JsonAnswer(changed.await?.show.pricing.into()))
}

/// The price log of a show
///
/// Every price that was ever asked, newest first: from when on, what it follows from, or
/// that it was fixed. A change takes up to two seconds to reach everybody.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/prices",
    operation_id = "list_prices",
    params(("show" = ShowIdText, Path), PageQuery),
    responses((status = 200, description = "A page of the log", body = List<PointView>))
)]
pub(crate) async fn log(
    State(api): State<Api>,
    Path(show): Path<ShowId>,
    Query(query): Query<PageQuery>,
) -> Result<JsonAnswer<List<PointView>>, Problem> {
    let before =
        match query.after() {
            None => None,
            Some(text) => Some(text.parse().map_err(|_| {
                Error::Invalid("cursor: must be the next_cursor of a page".to_owned())
            })?),
        };
    let (show, page): (_, Page<_>) = api.app.price_history(show, before, query.limit.0).await?;
    Ok(JsonAnswer(List::from_page(page, |point| {
        PointView::of(&point, &show, |_| true)
    })))
}
