//! Calling an order off, and helping one that is stuck.

use axum::extract::State;
use axum::http::StatusCode;
use onsale_app::checkout::{Cancelled, Cancelling};
use onsale_domain::ids::OrderId;
use onsale_domain::money::Money;
use onsale_http::schemas::{MoneyValue, OrderIdText};
use onsale_http::{
    Api, Authenticated, Code, OptionalJson, OptionalKey, Path, Problem, RequiredKey, to_the_end,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::order::StatusText;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelRequest {
    /// What the buyer was told to get back, as `refund_if_cancelled_now` says it. If it is
    /// not what would go back by now, nothing is cancelled.
    #[schema(value_type = Option<MoneyValue>)]
    expected_refund: Option<Money>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancelAnswer {
    /// What goes back. Zero if nothing was charged yet.
    #[schema(value_type = MoneyValue)]
    refund: Money,
    /// The share of the price that the show's policy gives back now.
    #[schema(minimum = 0, maximum = 100)]
    percent: u8,
}

impl From<Cancelled> for CancelAnswer {
    fn from(cancelled: Cancelled) -> Self {
        Self {
            refund: cancelled.refund,
            percent: cancelled.percent,
        }
    }
}

/// Cancel an order
///
/// The share is that of the moment in which this is asked first; asking again gives the
/// same answer. The tickets die at once, and the places are free for others.
#[utoipa::path(
    post,
    path = "/api/v1/orders/{order}/cancel",
    operation_id = "cancel_order",
    params(("order" = OrderIdText, Path), RequiredKey),
    request_body = Option<CancelRequest>,
    responses(
        (status = 202, description = "The order is being cancelled.", body = CancelAnswer),
        (status = 409, description = "The order has failed, a ticket was used, or the show has begun; or `expected_refund` is not what would go back: `refund` and `percent` say what would, and nothing was cancelled."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn cancel(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(order): Path<OrderId>,
    // An order is cancelled once, whatever the key: it only has to be there.
    RequiredKey(_): RequiredKey,
    OptionalJson(request): OptionalJson<CancelRequest>,
) -> Result<(StatusCode, axum::Json<CancelAnswer>), Problem> {
    let expected = request.and_then(|request| request.expected_refund);
    if expected.is_some_and(|refund| i64::try_from(refund.amount.0).is_err()) {
        return Err(Problem::invalid(
            "`expected_refund` is more than any order costs.",
        ));
    }
    let asked = to_the_end(async move {
        let app = &api.app;
        app.cancel_order_for(&caller, order, expected).await
    });
    match asked.await? {
        Cancelling::Done(cancelled) => Ok((StatusCode::ACCEPTED, axum::Json(cancelled.into()))),
        Cancelling::Other(now) => Err(Problem::new(
            Code::Conflict,
            format!(
                "By now {} would be refunded. Nothing was cancelled: ask the buyer again.",
                now.refund
            ),
        )
        .with("refund", json!(now.refund))
        .with("percent", now.percent)),
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResumeAnswer {
    #[schema(value_type = OrderIdText)]
    order_id: OrderId,
    status: StatusText,
}

/// Let a stuck order go on
///
/// For the organiser of the show.
#[utoipa::path(
    post,
    path = "/api/v1/orders/{order}/resume",
    operation_id = "resume_order",
    params(("order" = OrderIdText, Path), OptionalKey),
    responses(
        (status = 202, description = "The order goes on where it stood.", body = ResumeAnswer),
        (status = 409, description = "The order is not stuck."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn resume(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(order_id): Path<OrderId>,
    OptionalKey(key): OptionalKey,
) -> Result<(StatusCode, axum::Json<ResumeAnswer>), Problem> {
    let resumed = to_the_end(async move {
        let app = &api.app;
        app.resume_as_organiser(&caller, order_id, key.as_ref())
            .await
    });
    let status = resumed.await?.into();
    let answer = ResumeAnswer { order_id, status };
    Ok((StatusCode::ACCEPTED, axum::Json(answer)))
}
