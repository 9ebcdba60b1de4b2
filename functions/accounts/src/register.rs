//! Registering an account.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::{Extension, Json as JsonAnswer};
use onsale_domain::account::Role;
use onsale_domain::ids::VisitorId;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::time::Millis;
use onsale_http::schemas::Timestamp;
use onsale_http::{
    Api, Device, EmailText, Json, OptionalKey, Problem, SessionSigner, request_hash, to_the_end,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::account::{AccountAnswer, LanguageName, NameText};
use crate::link_keys::Keys;
use crate::sessions::Opened;

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Register {
    email: EmailText,
    /// May be left out for a buyer.
    #[schema(min_length = 8, max_length = 128)]
    password: Option<String>,
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

/// The account, and the session of a buyer who registers without a password.
#[derive(Serialize, ToSchema)]
#[schema(as = Registered)]
pub(crate) struct RegisteredAnswer {
    #[serde(flatten)]
    account: AccountAnswer,
    /// Send it as `Authorization: Bearer …`. Only without a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    expires_at: Option<Millis>,
}

/// Register
///
/// Creates an account. Emails are compared without regard to case. A key belongs to its
/// address: nothing is kept for strangers, so with another address it makes another account.
///
/// A buyer needs no password: then the answer has a session, and later ones come by
/// `POST /api/v1/session-links`. If the address is taken, such a link is mailed there. With a
/// key, that answer can be had again for ten minutes.
#[utoipa::path(
    post,
    path = "/api/v1/accounts",
    operation_id = "register_account",
    params(OptionalKey),
    request_body = Register,
    responses(
        (status = 201, description = "The account.", body = RegisteredAnswer, headers(
            ("Set-Cookie" = String, description = "The session for browsers, without a password.")
        )),
        (status = 403, description = "`forbidden`: a page of another site sent it."),
        (status = 409, description = "`email_taken`"),
        (status = 422, description = "`idempotency_mismatch`"),
    )
)]
pub(crate) async fn register(
    State(api): State<Api>,
    Extension(signer): Extension<Arc<SessionSigner>>,
    Extension(keys): Extension<Keys>,
    OptionalKey(key): OptionalKey,
    Device(device): Device,
    headers: HeaderMap,
    Json(body, _): Json<Register>,
) -> Result<Response, Problem> {
    api.limits.registration(&body.email.0, api.app.now())?;
    let Some(password) = &body.password else {
        let guest = Guest {
            body,
            key,
            device,
            keys,
        };
        return guest.register(&api, &signer, &headers).await;
    };
    let EmailText(email) = &body.email;
    let app = &api.app;
    let (name, role) = (&body.name, body.role);
    let request = body.request();
    let registered = app.register(
        email.as_str(),
        password,
        name,
        role.into(),
        key.as_ref(),
        request,
    );
    let mut account = registered.await?;
    if let Some(language) = body.language {
        app.note_language(&mut account, language.into()).await;
    }
    if let Some(device) = device {
        // It counts from now on; what it is suspected of is told at the log-in.
        app.note_device(device, account.id).await;
    }
    let answer = RegisteredAnswer {
        account: account.into(),
        token: None,
        expires_at: None,
    };
    Ok((StatusCode::CREATED, JsonAnswer(answer)).into_response())
}

impl Register {
    /// Without the password: a fast hash of it must not be stored.
    fn request(&self) -> RequestHash {
        request_hash(&(self.email.0.as_str(), &self.name, self.role))
    }
}

/// A buyer without a password.
struct Guest {
    body: Register,
    key: Option<IdempotencyKey>,
    device: Option<VisitorId>,
    keys: Keys,
}

impl Guest {
    async fn register(
        self,
        api: &Api,
        signer: &SessionSigner,
        headers: &HeaderMap,
    ) -> Result<Response, Problem> {
        if !matches!(self.body.role, NewRole::Buyer) {
            return Err(Problem::invalid(
                "password: only a buyer's account goes without one",
            ));
        }
        let (asked, device) = (api.clone(), self.device);
        let language = self.body.language;
        let (session, mut account) = to_the_end(async move {
            let request = self.body.request();
            let (EmailText(email), name) = (&self.body.email, &self.body.name);
            // A mail to an address that is taken counts as every other link to log in.
            let may_mail = || {
                let now = asked.app.now();
                self.keys.are_set() && asked.limits.session_link(email, now).is_ok()
            };
            let (app, key) = (&asked.app, self.key.as_ref());
            app.register_guest(email.as_str(), name, key, request, device, may_mail)
                .await
        })
        .await?;
        if let Some(language) = language {
            api.app.note_language(&mut account, language.into()).await;
        }
        let opened = Opened::new(api, signer, session, &account, device).await?;
        let set = AppendHeaders([opened.cookie(api.app.now(), headers)]);
        let suspected = AppendHeaders(opened.suspicion());
        let answer = RegisteredAnswer {
            expires_at: Some(opened.expires()),
            token: Some(opened.token),
            account: account.into(),
        };
        Ok((StatusCode::CREATED, set, suspected, JsonAnswer(answer)).into_response())
    }
}
