//! Who somebody is: their account, whose staff they are, and where they are logged in.

use onsale_app::ports::Session;
use onsale_domain::account::Account;
use onsale_domain::ids::{AccountId, SessionId, ShowId, VisitorId};
use onsale_domain::staff::Staff;
use onsale_domain::time::Millis;
use onsale_http::schemas::{AccountIdText, ShowIdText, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::account::AccountAnswer;

#[derive(Serialize, ToSchema)]
pub(super) struct ExportedAccount {
    #[serde(flatten)]
    account: AccountAnswer,
    #[schema(value_type = Timestamp)]
    created_at: Millis,
}

impl ExportedAccount {
    pub(super) fn of(account: Account) -> Self {
        Self {
            created_at: account.created,
            account: account.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct ExportedStaff {
    #[schema(value_type = AccountIdText)]
    organiser: AccountId,
    #[schema(value_type = Vec<ShowIdText>)]
    show_ids: Vec<ShowId>,
}

impl ExportedStaff {
    pub(super) fn of(staff: Staff) -> Self {
        Self {
            organiser: staff.organiser,
            show_ids: staff.shows.into_iter().collect(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(super) struct ExportedSession {
    /// Its name. The token that carries it is not stored.
    #[schema(value_type = String)]
    session_id: SessionId,
    #[schema(value_type = Timestamp)]
    opened_at: Millis,
    /// Left out once the session was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    expires_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    device_id: Option<VisitorId>,
}

impl ExportedSession {
    pub(super) fn of(session: &Session) -> Self {
        Self {
            session_id: session.id,
            opened_at: session.opened,
            expires_at: Some(session.expires).filter(|at| *at > Millis(0)),
            device_id: session.device,
        }
    }
}
