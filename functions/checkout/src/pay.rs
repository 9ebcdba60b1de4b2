//! Starting to pay, and going on after 3-D Secure.

use axum::extract::State;
use axum::http::StatusCode;
use onsale_domain::ids::{HoldId, OrderId, ShowId};
use onsale_domain::order::OrderStatus;
use onsale_domain::payment::PaymentMethod;
use onsale_http::schemas::{HoldIdText, OrderIdText, ShowIdText};
use onsale_http::{
    Api, Attempt, Authenticated, Json, OptionalKey, Path, Problem, RequiredKey, WorkProof,
    to_the_end,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::order::StatusText;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckoutRequest {
    /// The provider's name for a way to pay. Never a card number.
    #[schema(
        min_length = 1,
        max_length = 100,
        pattern = "^[0-9_]*[A-Za-z][A-Za-z0-9_]*$",
        examples("pm_card_visa")
    )]
    payment_method: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Started {
    #[schema(value_type = OrderIdText)]
    order_id: OrderId,
    status: StatusText,
}

fn started(order_id: OrderId, status: OrderStatus) -> (StatusCode, axum::Json<Started>) {
    let status = status.into();
    (
        StatusCode::ACCEPTED,
        axum::Json(Started { order_id, status }),
    )
}

/// Pay for a hold
///
/// The hold is locked before the answer comes; read the order to see what became of the
/// payment. After a decline the same hold can be paid in another way, under a new key.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/holds/{hold}/checkout",
    operation_id = "check_out",
    params(("show" = ShowIdText, Path), ("hold" = HoldIdText, Path), RequiredKey, WorkProof),
    request_body = CheckoutRequest,
    responses(
        (status = 202, description = "The payment is under way.", body = Started),
        (status = 409, description = "Another attempt is under way, the hold is paid, or the show is cancelled."),
        (status = 410, description = "The hold has expired."),
        (status = 422, description = "The key came with another request, or there were too many attempts."),
        (status = 428, description = "`work_required`: solve `challenge` and repeat."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn check_out(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path((show, hold)): Path<(ShowId, HoldId)>,
    RequiredKey(key): RequiredKey,
    work: WorkProof,
    Json(request, _): Json<CheckoutRequest>,
) -> Result<(StatusCode, axum::Json<Started>), Problem> {
    let method = PaymentMethod::parse(&request.payment_method).ok_or_else(|| {
        Problem::invalid(
            "payment_method must be the provider's name for a way to pay, such as pm_card_visa: \
             1 to 100 letters, digits and underscores, and never a card number.",
        )
    })?;
    let attempt = Attempt {
        caller: &caller,
        show,
        hold: Some(hold),
        key: &key,
    };
    let work = api.judge_work(&work, attempt).await;
    let verdict = work.clone();
    let order = to_the_end(async move {
        let admit = || {
            let (account, now) = (caller.account, api.app.now());
            api.limits
                .checkout_attempt_if(account, now, || verdict.admit())
        };
        api.app
            .check_out_if(&caller, show, hold, &key, method, admit)
            .await
    });
    let order = order.await.map_err(|refusal| work.explain(refusal))?;
    Ok(started(order, OrderStatus::Pending))
}

/// Go on after 3-D Secure
///
/// For whoever has done what `action` of the order asked for: the payment is looked at at once
/// instead of when the provider tells us. In the sandbox it stands in for the bank's page
/// itself. Asking again
/// changes nothing: under a key the first answer comes again, and without one the status
/// is that of the order by now.
#[utoipa::path(
    post,
    path = "/api/v1/orders/{order}/confirm-action",
    operation_id = "confirm_action",
    params(("order" = OrderIdText, Path), OptionalKey),
    responses(
        (status = 202, description = "Confirmed; the payment goes on.", body = Started),
        (status = 409, description = "The order waits for no such action, or the bank still waits for the buyer."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn confirm_action(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(order): Path<OrderId>,
    // A payment is confirmed once, whatever the key.
    OptionalKey(key): OptionalKey,
) -> Result<(StatusCode, axum::Json<Started>), Problem> {
    let now = to_the_end(async move { api.app.confirm_action(&caller, order).await }).await?;
    let status = match key {
        // The first answer said so, and is given again.
        Some(_) => OrderStatus::Pending,
        None => now,
    };
    Ok(started(order, status))
}
