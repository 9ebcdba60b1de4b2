//! Writes a stored letter as a message, with the tickets if it has any.

use std::sync::Arc;

use async_trait::async_trait;
use onsale_app::ports::LetterWriter;
use onsale_domain::ids::ResetId;
use onsale_domain::language::Language;
use onsale_domain::letter::{Composed, Letter, ShowLine, TicketLine};
use onsale_domain::mail::{MailId, digest};
use onsale_domain::money::{Currency, Money};
use onsale_tickets::{TicketPage, local_time, place_of};

use crate::mime::{Attachment, Message, Sender};
use crate::texts::render;

/// Makes the secret part of a link that sets a password. The key stays with whoever
/// implements it; letters have the id only.
pub trait ResetTokens: Send + Sync {
    fn token(&self, reset: ResetId) -> String;
}

/// What all mails have in common.
#[derive(Clone)]
pub struct Settings {
    pub sender: Sender,
    /// The origin of all links, such as `https://onsale.example`.
    pub base_url: String,
    /// For those who never said which language they read.
    pub language: Language,
    /// Without it no mail that needs one is written.
    pub reset_tokens: Option<Arc<dyn ResetTokens>>,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Settings({}, {})", self.base_url, self.language)
    }
}

#[derive(Debug, Clone)]
pub struct MailWriter {
    settings: Settings,
}

impl MailWriter {
    pub fn new(mut settings: Settings) -> Self {
        let base = settings.base_url.trim_end_matches('/').len();
        settings.base_url.truncate(base);
        Self { settings }
    }

    /// The whole message. The same letter gives the same bytes.
    pub fn message(&self, id: &MailId, composed: &Composed) -> Result<String, String> {
        // The path of mail beyond ASCII is not one that SES goes.
        if !composed.to.as_str().is_ascii() {
            return Err("the address is not ASCII".to_owned());
        }
        let tokens = self.settings.reset_tokens.as_ref();
        let asks = matches!(
            composed.letter,
            Letter::PasswordReset { .. } | Letter::Invitation { .. }
        );
        if asks && tokens.is_none() {
            return Err("no key for links that set a password is configured".to_owned());
        }
        let token = |reset| tokens.map_or_else(String::new, |tokens| tokens.token(reset));
        let base = &self.settings.base_url;
        let rendered = render(&composed.letter, composed.language, base, token);
        let attachments = match &composed.letter {
            Letter::Confirmation {
                name,
                show,
                order,
                tickets,
            } => {
                let currency = order.total.currency;
                let page = |ticket| ticket_page(name, show, ticket, currency);
                let pages: Vec<_> = tickets.iter().map(page).collect();
                let bytes = onsale_tickets::pdf(&pages).map_err(|e| e.to_string())?;
                vec![Attachment {
                    file_name: format!("{}.pdf", order.order_id),
                    content_type: "application/pdf",
                    bytes,
                }]
            }
            _ => vec![],
        };
        let token = &digest(id.as_str().as_bytes())[..32];
        let message = Message {
            from: &self.settings.sender,
            to: &composed.to,
            subject: &rendered.subject,
            at: composed.at,
            token,
            language: composed.language.as_str(),
            text: &rendered.text,
            html: &rendered.html,
            attachments: &attachments,
        };
        Ok(message.write())
    }
}

fn ticket_page(
    holder: &str,
    show: &ShowLine,
    ticket: &TicketLine,
    currency: Currency,
) -> TicketPage {
    let (section, row, seat) = place_of(&ticket.seat);
    let amount = ticket.price;
    TicketPage {
        event: show.title.clone(),
        venue: show.venue.clone(),
        city: show.city.clone(),
        starts_at_text: local_time(show.starts_at.0, &show.timezone),
        section: section.to_owned(),
        row: row.map(str::to_owned),
        seat: seat.map(str::to_owned),
        price_text: Money { amount, currency }.to_string(),
        holder: holder.to_owned(),
        ticket_id: ticket.ticket_id.to_string(),
        code: ticket.code.clone(),
    }
}

#[async_trait]
impl LetterWriter for MailWriter {
    async fn write(&self, id: &MailId, composed: &Composed) -> Result<Vec<u8>, String> {
        let (writer, id, composed) = (self.clone(), id.clone(), composed.clone());
        // Laying out tickets is work for the processor, and others are waiting.
        let written = tokio::task::spawn_blocking(move || writer.message(&id, &composed)).await;
        let message = written.map_err(|_| "writing the letter failed".to_owned())?;
        message.map(String::into_bytes)
    }
}
