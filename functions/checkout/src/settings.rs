//! What a page has to know before it takes a payment.

use axum::Extension;
use onsale_payments::{PaymentSettings, ProviderKind};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = PaymentProvider)]
pub(crate) enum ProviderName {
    Sandbox,
    Stripe,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PaymentSettings)]
pub(crate) struct SettingsView {
    provider: ProviderName,
    /// For Stripe's script. Where it is missing, that script cannot be used here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("pk_test_1"))]
    publishable_key: Option<String>,
}

impl From<PaymentSettings> for SettingsView {
    fn from(settings: PaymentSettings) -> Self {
        Self {
            provider: match settings.kind {
                ProviderKind::Sandbox => ProviderName::Sandbox,
                ProviderKind::Stripe => ProviderName::Stripe,
            },
            publishable_key: settings.publishable_key,
        }
    }
}

/// Who takes payments here
#[utoipa::path(
    get,
    path = "/api/v1/payments/settings",
    operation_id = "read_payment_settings",
    responses((status = 200, description = "The same for everybody.", body = SettingsView)),
)]
pub(crate) async fn read(
    Extension(settings): Extension<PaymentSettings>,
) -> axum::Json<SettingsView> {
    axum::Json(settings.into())
}
