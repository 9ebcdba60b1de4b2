//! What the payment provider tells us unasked. A webhook only wakes the saga, which then
//! asks the provider what is true: a late, repeated or reordered one changes nothing.

use axum::Extension;
use axum::extract::{Request, State};
use onsale_app::{App, Error};
use onsale_domain::ids::OrderId;
use onsale_domain::order::Order;
use onsale_http::{Api, Problem, json};
use onsale_payments::{WebhookEvent, WebhookKind, WebhookSecrets};
use serde::Serialize;
use utoipa::ToSchema;

const SIGNATURE: &str = "stripe-signature";
/// Stripe's events are a few kilobytes; the largest objects stay far below this.
const MAX_BYTES: usize = 256 * 1024;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Received {
    received: bool,
}

/// Hear from the payment provider
///
/// Stripe events, with the header `Stripe-Signature`.
#[utoipa::path(
    post,
    path = "/api/v1/payments/webhook",
    operation_id = "receive_payment_webhook",
    request_body(content = Object, content_type = "application/json"),
    responses(
        (status = 200, description = "Understood, or none of ours.", body = Received),
        (status = 400, description = "The signature is missing, wrong or too old."),
        (status = 413, description = "The event is too large."),
        (status = 503, description = "Tell us again later."),
    ),
)]
pub(crate) async fn receive(
    State(api): State<Api>,
    Extension(secrets): Extension<WebhookSecrets>,
    request: Request,
) -> Result<axum::Json<Received>, Problem> {
    let (parts, body) = request.into_parts();
    let payload = json::bytes(&parts.headers, body, MAX_BYTES).await?;
    let signature = parts.headers.get(SIGNATURE);
    let signature = signature
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let event = secrets
        .verify(&payload, signature, api.app.now())
        .map_err(|refusal| {
            tracing::warn!(%refusal, "a webhook was refused");
            Problem::invalid("The signature of the webhook is missing, wrong or too old.")
        })?;
    hear(&api.app, event).await?;
    Ok(axum::Json(Received { received: true }))
}

async fn hear(app: &App, event: WebhookEvent) -> Result<(), Error> {
    if event.kind == WebhookKind::Other {
        return Ok(());
    }
    let Some(order) = order_of(app, &event).await? else {
        // Somebody else's payment on the same account, or one of ours that has no order:
        // reconciling finds those.
        tracing::warn!(event = event.id, "a webhook about an unknown payment");
        return Ok(());
    };
    match (event.kind, &event.payment) {
        (WebhookKind::Dispute, Some(payment)) => app.charge_back(order, payment).await,
        (WebhookKind::Inquiry, _) => {
            tracing::warn!(%order, event = event.id, "a bank asks about a payment: answer it there");
            Ok(())
        }
        (WebhookKind::Refund, Some(payment)) => {
            app.look_at_refund(order, payment).await.map(|_missing| ())
        }
        _ => {
            app.wake_order(order).await;
            Ok(())
        }
    }
}

/// The order that the event names, or that the provider has on record for its payment.
async fn order_of(app: &App, event: &WebhookEvent) -> Result<Option<OrderId>, Error> {
    let order = match (event.order, &event.payment) {
        (Some(order), _) => Some(order),
        (None, Some(payment)) => app.payments.look_up(payment).await?.and_then(|p| p.order),
        (None, None) => None,
    };
    let Some(order) = order else {
        return Ok(None);
    };
    Ok(app
        .store
        .read::<Order>(order)
        .await?
        .map(|known| known.value.id))
}
