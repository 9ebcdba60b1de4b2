//! `notify`: tells people by mail what happened.
//!
//! Its queue has three kinds of messages: news, which a rule of the bus puts there; our own,
//! by which a mail or a mailing is looked at again; and what SES says of mails that bounced
//! or that somebody complained of, by a rule of the account's own bus. The dead letters come here as
//! well, and are tried like all others.

mod feedback;
mod settings;

use std::sync::Arc;

use onsale_app::App;
use onsale_app::ports::{Mailer, Notify, Post};
use onsale_consume::{Delivery, each_message};
use onsale_domain::announcement::Announcement;
use onsale_mails::MailWriter;
use serde::Deserialize;

use feedback::SesEvent;
pub use settings::settings;

#[derive(Deserialize)]
#[serde(untagged)]
enum Incoming {
    /// As EventBridge writes it into a queue.
    News {
        detail: Announcement,
    },
    Own(Notify),
    Feedback(SesEvent),
}

/// What sends mails with these settings.
pub fn post(mailer: Arc<dyn Mailer>, settings: onsale_mails::Settings) -> Post {
    Post {
        mailer,
        language: settings.language,
        writer: Arc::new(MailWriter::new(settings)),
    }
}

pub async fn handle(app: &App, post: &Post, batch: Vec<Delivery>) -> Vec<String> {
    each_message(batch, |message: Incoming| async move {
        let done = match &message {
            Incoming::News { detail } => app.hear(post, detail).await,
            Incoming::Own(own) => app.notify(post, own).await,
            Incoming::Feedback(event) => hear(app, event).await,
        };
        done.map_err(|e| e.to_string())
    })
    .await
}

async fn hear(app: &App, event: &SesEvent) -> onsale_app::Result<()> {
    for (email, feedback) in event.feedback() {
        app.hear_feedback(&email, &feedback).await?;
    }
    Ok(())
}
