//! Who the reader is: a name and an address are enough, as with a script.

use http::StatusCode;
use onsale_domain::ids::ShowId;
use serde_json::{Value, json};

use super::html::{Card, Plain, form, hidden, link, paragraph, row};
use super::reader::{Form, Heard};
use super::{Asked, best};
use crate::answer::{Answer, see_other};
use crate::host::Host;
use crate::refusal_page;
use crate::rendered::values::text;
use crate::web::escaped;

impl<H: Host> Asked<'_, H> {
    /// Makes an account without a password, which comes with a session. The key is that of
    /// the form, so a form that is sent twice makes one.
    pub(super) async fn register(&self, form: &Form, key: &str) -> Result<Heard, Heard> {
        let account = json!({
            "name": form.field("name"),
            "email": form.field("email"),
            "role": "buyer",
            "language": self.words.0.as_str(),
        });
        let made = self.post("/api/v1/accounts", &account, Some(key)).await;
        if made.is_done() { Ok(made) } else { Err(made) }
    }

    pub(super) fn not_registered(&self, show: ShowId, form: &Form, refused: &Heard) -> Answer {
        let email = form.field("email");
        match refused.code() {
            "email_taken" => {
                let said = self.words.with("session.taken", &[("email", email)]);
                let said = format!("{said} {}", self.t("plain.inbox"));
                let again = link(&best::path(show), self.t("plain.choose_again"), "");
                self.notice(StatusCode::CONFLICT, self.t("session.inbox"), &said, &again)
            }
            "invalid_request" => self.who(show, form, Some(self.t("plain.who.wrong"))),
            _ => {
                let (status, detail) = (refused.status, text(&refused.body, "detail"));
                refusal_page::page(self.words, status, detail, Some(&best::path(show)))
            }
        }
    }

    /// Asks for a name and an address, and keeps what was asked for.
    pub(super) fn who(&self, show: ShowId, sent: &Form, wrong: Option<&str>) -> Answer {
        let field = |name: &str, label: &str, more: &str| {
            format!(
                "<div class=\"field\"><label for=\"{name}\">{}</label><input id=\"{name}\" name=\"{name}\" \
                 value=\"{}\" required {more}></div>",
                escaped(label),
                escaped(sent.field(name)),
            )
        };
        let kept: String = ["key", "quantity", "section"]
            .into_iter()
            .map(|name| hidden(name, sent.field(name)))
            .collect();
        let name = "autocomplete=\"name\" maxlength=\"100\"";
        let email = "type=\"email\" autocomplete=\"email\" maxlength=\"254\"";
        let fields = kept
            + &field("name", self.t("session.name"), name)
            + &field("email", self.t("session.email"), email)
            + &format!(
                "<p class=\"hint\">{}</p>",
                escaped(self.t("session.no_password_needed"))
            );
        let action = format!("/api/v1/shows/{show}/holds");
        let card = Card {
            headline: self.t("session.who"),
            body: wrong.map(paragraph).unwrap_or_default()
                + &form(&action, &fields, self.t("session.go_on"))
                + &row(&link(&best::path(show), self.t("error.back"), " plain")),
            ..Card::default()
        };
        let page = Plain {
            title: self.t("title.checkout"),
            main: card.html(),
            path: &format!("/shows/{show}/seats"),
            ..Plain::default()
        };
        page.answer(self.words, StatusCode::UNAUTHORIZED)
    }

    /// Follows the link that was mailed to a reader who has an account.
    pub(super) async fn log_in(&self, token: &str, sent: &Form) -> Answer {
        let path = format!("/api/v1/session-links/{token}");
        let opened = self.post(&path, &Value::Null, sent.key()).await;
        if opened.can_be_repeated() {
            let again = hidden("key", sent.field("key"));
            let again = form(&path, &again, self.t("try_again"));
            return self.busy(opened.status, self.t("title.log_in"), "/", &again);
        }
        if !opened.is_done() {
            let detail = text(&opened.body, "detail");
            return refusal_page::page(self.words, opened.status, detail, None);
        }
        let mut answer = see_other("/");
        opened.set_cookies(&mut answer);
        answer
    }

    /// For a reader whose session has ended, or who has none.
    pub(super) fn nobody(&self, why: &str, way: &str) -> Answer {
        let home = link(way, self.t("error.home"), "");
        self.notice(StatusCode::UNAUTHORIZED, self.t("session.who"), why, &home)
    }
}
