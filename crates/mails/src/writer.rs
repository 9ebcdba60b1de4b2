//! Writes a stored letter as a message, with the tickets if it has any.

use std::sync::Arc;

use async_trait::async_trait;
use onsale_app::ports::LetterWriter;
use onsale_domain::ids::ResetId;
use onsale_domain::language::Language;
use onsale_domain::letter::{Composed, Letter, Letterhead, ShowLine, TicketLine};
use onsale_domain::mail::{MailId, digest};
use onsale_domain::money::{Currency, Money};
use onsale_domain::password_reset::{ResetKeyId, ResetKeys};
use onsale_tickets::{TicketPage, amount, local_time, place_of};

use crate::mime::{Attachment, Message, Sender};
use crate::texts::render;

/// What all mails have in common.
#[derive(Clone)]
pub struct Settings {
    pub sender: Sender,
    /// The origin of all links, such as `https://onsale.example`.
    pub base_url: String,
    /// For those who never said which language they read.
    pub language: Language,
    /// What links that set a password are made with; letters have the id of the reset only.
    /// Without, such letters are not sent.
    pub reset_keys: Option<Arc<ResetKeys>>,
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
        if !composed.to.is_reachable() {
            return Err("the address is not ASCII".to_owned());
        }
        let keys = self.settings.reset_keys.as_ref();
        if has_secret_link(&composed.letter) && keys.is_none() {
            return Err("no keys for links that set a password are configured".to_owned());
        }
        let today = self.head(&composed.letter);
        let head = composed.head.as_ref().unwrap_or(&today);
        let made_by = head.reset_key.map(ResetKeyId);
        let token = |reset: ResetId| {
            // A key that is gone made a link that is dead: the newest makes one that works.
            let token = keys.map(|keys| {
                let made = made_by.and_then(|key| keys.token_by(key, reset));
                made.unwrap_or_else(|| keys.token(reset)).to_string()
            });
            token.unwrap_or_default()
        };
        let rendered = render(&composed.letter, composed.language, &head.base_url, token);
        let attachments = match &composed.letter {
            Letter::Confirmation {
                name,
                show,
                order,
                tickets,
            } => {
                let currency = order.total.currency;
                let language = composed.language;
                let page = |ticket| ticket_page(name, show, ticket, currency, language);
                let pages: Vec<_> = tickets.iter().map(page).collect();
                let bytes = onsale_tickets::pdf(&pages, language).map_err(|e| e.to_string())?;
                vec![Attachment {
                    file_name: format!("{}.pdf", order.order_id),
                    content_type: "application/pdf",
                    bytes,
                }]
            }
            _ => vec![],
        };
        let token = &digest(id.as_str().as_bytes())[..32];
        let sender = Sender {
            name: head.sender_name.clone(),
            address: head.sender.clone(),
        };
        let message = Message {
            from: &sender,
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

    fn head(&self, letter: &Letter) -> Letterhead {
        let Settings {
            sender,
            base_url,
            reset_keys,
            ..
        } = &self.settings;
        let keys = reset_keys.as_ref();
        let keys = keys.filter(|_| has_secret_link(letter));
        Letterhead {
            sender_name: sender.name.clone(),
            sender: sender.address.clone(),
            base_url: base_url.clone(),
            reset_key: keys.map(|keys| keys.newest().0),
        }
    }
}

fn has_secret_link(letter: &Letter) -> bool {
    matches!(
        letter,
        Letter::PasswordReset { .. }
            | Letter::Invitation { .. }
            | Letter::LogInLink { .. }
            | Letter::ProveAddress { .. }
    )
}

fn ticket_page(
    holder: &str,
    show: &ShowLine,
    ticket: &TicketLine,
    currency: Currency,
    language: Language,
) -> TicketPage {
    let (section, row, seat) = place_of(&ticket.seat);
    let price = Money {
        amount: ticket.price,
        currency,
    };
    TicketPage {
        event: show.title.clone(),
        venue: show.venue.clone(),
        city: show.city.clone(),
        starts_at_text: local_time(show.starts_at, &show.timezone, language),
        section: section.to_owned(),
        row: row.map(str::to_owned),
        seat: seat.map(str::to_owned),
        price_text: amount(price, language),
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

    fn letterhead(&self, letter: &Letter) -> Option<Letterhead> {
        Some(self.head(letter))
    }
}
