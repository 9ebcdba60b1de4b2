//! `reconcile`: looks whether what must be true is true. Runs on a schedule.

use onsale_app::App;
use onsale_app::reconcile::Report;
use onsale_domain::ids::OrderId;
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
    /// Nothing: an order that is stuck goes on, because an operator says so.
    Resume,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Request {
    #[serde(default)]
    pub scope: Scope,
    /// For `resend_mails`: this one only.
    #[serde(default)]
    pub mail: Option<MailId>,
    /// For `resume`: the order.
    #[serde(default)]
    pub order: Option<OrderId>,
}

/// What whoever asked is told. What it wakes goes on under the id of this run.
pub async fn handle(app: &App, request: Request) -> Result<String, String> {
    let run = |_| reconciled(app, &request);
    Cause::fresh().run(Kind::Internal, "reconcile", run).await
}

async fn reconciled(app: &App, request: &Request) -> Result<String, String> {
    let report = match request.scope {
        Scope::Open => app.reconcile_open().await,
        Scope::All => app.reconcile_all().await,
        Scope::ResendMails => resent(app, request.mail.as_ref()).await,
        Scope::Resume => return resumed(app, request.order).await,
    };
    let report = report.map_err(|error| error.to_string())?;
    if request.scope == Scope::All {
        tracing::info!(%report, "reconciled");
    }
    // Everything else was looked at by now. Failing tells that it was not everything.
    match report.missed {
        0 => Ok(report.to_string()),
        _ => Err(report.to_string()),
    }
}

async fn resent(app: &App, mail: Option<&MailId>) -> onsale_app::Result<Report> {
    let resent = match mail {
        Some(mail) => u64::from(app.resend_mail(mail).await?),
        None => app.resend_parked().await?,
    };
    tracing::info!(resent, "parked mails are sent again");
    Ok(Report::resent(resent))
}

/// What the organiser of its show may ask for too, by `POST /api/v1/orders/{order}/resume`.
async fn resumed(app: &App, order: Option<OrderId>) -> Result<String, String> {
    let order = order.ok_or("name the order that is to go on")?;
    let resumed = app.resume_order(order).await;
    if !resumed.map_err(|error| error.to_string())? {
        return Ok(format!("{order} is not stuck; nothing was changed."));
    }
    tracing::info!(%order, "an order that was stuck goes on");
    Ok(format!("{order} goes on."))
}
