//! `reconcile`: looks whether what must be true is true. Runs on a schedule.

use onsale_app::App;
use onsale_app::reconcile::Report;
use onsale_domain::mail::MailId;
use onsale_observe::{Cause, Kind};
use serde::Deserialize;

/// What a run looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Work that nobody drives: every minute.
    #[default]
    Open,
    /// Every show and every payment of the last days as well: every hour.
    All,
    /// Nothing: mails that are parked are sent again, because an operator says so.
    ResendMails,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Request {
    #[serde(default)]
    pub scope: Scope,
    /// For `resend_mails`: this one only.
    #[serde(default)]
    pub mail: Option<MailId>,
}

/// What it wakes goes on under the id of this run.
pub async fn handle(app: &App, request: Request) -> Result<Report, String> {
    let run = |_| reconciled(app, &request);
    Cause::fresh().run(Kind::Internal, "reconcile", run).await
}

async fn reconciled(app: &App, request: &Request) -> Result<Report, String> {
    let report = match request.scope {
        Scope::Open => app.reconcile_open().await,
        Scope::All => app.reconcile_all().await,
        Scope::ResendMails => resent(app, request.mail.as_ref()).await,
    };
    let report = report.map_err(|error| error.to_string())?;
    if request.scope == Scope::All {
        tracing::info!(%report, "reconciled");
    }
    Ok(report)
}

async fn resent(app: &App, mail: Option<&MailId>) -> onsale_app::Result<Report> {
    let resent = match mail {
        Some(mail) => u64::from(app.resend_mail(mail).await?),
        None => app.resend_parked().await?,
    };
    tracing::info!(resent, "parked mails are sent again");
    Ok(Report::resent(resent))
}
