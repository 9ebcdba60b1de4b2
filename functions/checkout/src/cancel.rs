//! Calling an order off, and helping one that is stuck.

use axum::extract::State;
use axum::http::StatusCode;
use onsale_domain::ids::OrderId;
use onsale_domain::money::Money;
use onsale_http::schemas::{MoneyValue, OrderIdText};
use onsale_http::{Api, Authenticated, OptionalKey, Path, Problem, RequiredKey, to_the_end};
use serde::Serialize;
use utoipa::ToSchema;

use crate::order::StatusText;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancelAnswer {
    /// What goes back. Zero if nothing was charged yet.
    #[schema(value_type = MoneyValue)]
    refund: Money,
    /// The share of the price that the show's policy gives back now.
    #[schema(minimum = 0, maximum = 100)]
    percent: u8,
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
    responses(
        (status = 202, description = "The order is being cancelled.", body = CancelAnswer),
        (status = 409, description = "The order has failed, a ticket was used, or the show has begun."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn cancel(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(order): Path<OrderId>,
    // An order is cancelled once, whatever the key: it only has to be there.
    RequiredKey(_): RequiredKey,
) -> Result<(StatusCode, axum::Json<CancelAnswer>), Problem> {
    let cancelled = to_the_end(async move { api.app.cancel_order(&caller, order).await }).await?;
    let answer = CancelAnswer {
        refund: cancelled.refund,
        percent: cancelled.percent,
    };
    Ok((StatusCode::ACCEPTED, axum::Json(answer)))
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
