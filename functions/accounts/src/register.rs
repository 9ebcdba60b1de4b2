//! Registering an account.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use onsale_domain::account::Role;
use onsale_http::{Api, Device, EmailText, Json, OptionalKey, Problem, request_hash};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::account::{AccountAnswer, LanguageName, NameText};

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Register {
    email: EmailText,
    #[schema(min_length = 8, max_length = 128)]
    password: String,
    #[schema(value_type = NameText)]
    name: String,
    role: NewRole,
    /// In which language to write to them.
    language: Option<LanguageName>,
}

/// Staff accounts are made by their organiser.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum NewRole {
    Buyer,
    Organiser,
}

impl From<NewRole> for Role {
    fn from(role: NewRole) -> Self {
        match role {
            NewRole::Buyer => Self::Buyer,
            NewRole::Organiser => Self::Organiser,
        }
    }
}

/// Register
///
/// Creates an account. Emails are compared without regard to case. A key belongs to its
/// address: nothing is kept for strangers, so with another address it makes another account.
#[utoipa::path(
    post,
    path = "/api/v1/accounts",
    params(OptionalKey),
    request_body = Register,
    responses(
        (status = 201, description = "The account.", body = AccountAnswer),
        (status = 409, description = "`email_taken`"),
        (status = 422, description = "`idempotency_mismatch`"),
    )
)]
pub(crate) async fn register(
    State(api): State<Api>,
    OptionalKey(key): OptionalKey,
    Device(device): Device,
    Json(body, _): Json<Register>,
) -> Result<(StatusCode, JsonAnswer<AccountAnswer>), Problem> {
    let Register {
        email: EmailText(email),
        password,
        name,
        role,
        language,
    } = body;
    api.limits.registration(&email, api.app.now())?;
    // Without the password: a fast hash of it must not be stored.
    let request = request_hash(&(email.as_str(), &name, role));
    let mut account = api
        .app
        .register(
            email.as_str(),
            &password,
            &name,
            role.into(),
            key.as_ref(),
            request,
        )
        .await?;
    if let Some(language) = language {
        api.app.note_language(&mut account, language.into()).await;
    }
    if let Some(device) = device {
        // It counts from now on; what it is suspected of is told at the log-in.
        api.app.note_device(device, account.id).await;
    }
    Ok((StatusCode::CREATED, JsonAnswer(account.into())))
}
