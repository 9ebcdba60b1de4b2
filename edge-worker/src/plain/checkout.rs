//! The checkout without a script: the places, what they cost, until when they are held, and
//! the cards of the sandbox. A card number is only ever typed into the form of Stripe, which
//! is a script.

use http::StatusCode;
use onsale_domain::ids::{HoldId, OrderId, ShowId};
use serde_json::{Value, json};

use super::html::{Card, Plain, choice, choices, form, hidden, link, money, paragraph, row, zone};
use super::reader::Form;
use super::{Asked, best, order};
use crate::answer::{Answer, Problem, see_other};
use crate::catalogue::Told;
use crate::host::Host;
use crate::refusal_page;
use crate::rendered::values::{Length, text, time};
use crate::web::escaped;

/// The page without a script.
pub(super) fn path(show: ShowId, hold: HoldId) -> String {
    format!("/shows/{show}/holds/{hold}?plain")
}

fn to_hold(show: ShowId, hold: HoldId) -> String {
    format!("/api/v1/shows/{show}/holds/{hold}")
}

impl<H: Host> Asked<'_, H> {
    pub(super) async fn checkout_page(&self, id: ShowId, hold: HoldId) -> Result<Answer, Problem> {
        let held = self.get(&to_hold(id, hold)).await;
        match held.status {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED => {
                return Ok(self.nobody(self.t("checkout.why"), &format!("/shows/{id}")));
            }
            StatusCode::NOT_FOUND => return Err(Problem::missing("There is no such hold.")),
            _ => return Err(Problem::unavailable()),
        }
        let held = held.body;
        let order = OrderId::of(hold);
        if ["paying", "sold"].contains(&text(&held, "status")) {
            return Ok(see_other(&order::path(order)));
        }
        let show = self.show(&id.to_string()).await?;
        let is_held = text(&held, "status") == "held" && !self.is_past(text(&held, "expires_at"));
        let main = if is_held {
            let tried = self.get(&format!("/api/v1/orders/{order}")).await;
            let is_declined = tried.is_done() && text(&tried.body, "status") == "declined";
            self.held(&show, &held, is_declined) + &self.payment(id, hold, &held).await
        } else {
            let again = link(&best::path(id), self.t("checkout.choose_again"), "");
            let to_show = link(
                &format!("/shows/{id}"),
                self.t("checkout.to_show"),
                " plain",
            );
            let (headline, said) = match text(&held, "status") {
                "released" => ("checkout.released", "checkout.released_words"),
                _ => ("checkout.lapsed", "checkout.lapsed_words"),
            };
            let card = Card {
                badge: self.t("checkout.over"),
                headline: self.t(headline),
                body: paragraph(self.t(said)) + &row(&format!("{again}{to_show}")),
                ..Card::default()
            };
            card.html()
        };
        let page = Plain {
            title: text(&show["event"], "title"),
            main,
            path: &format!("/shows/{id}/holds/{hold}"),
            ..Plain::default()
        };
        Ok(page.answer(self.words, StatusCode::OK))
    }

    fn held(&self, show: &Value, held: &Value, is_declined: bool) -> String {
        let until = time(
            self.words,
            text(held, "expires_at"),
            zone(show),
            Length::Short,
        );
        let facts = self.facts(show, &[(self.t("plain.held_until"), until)]);
        let (kind, headline, note) = match is_declined {
            true => ("", "checkout.declined", paragraph(self.t("plain.declined"))),
            false => ("good", "checkout.held", String::new()),
        };
        let card = Card {
            kind,
            badge: self.t("checkout.held_badge"),
            headline: self.t(headline),
            body: note + &facts + &self.costs(held),
        };
        card.html()
    }

    /// A form with the cards of the sandbox, or the sentence that a script is needed.
    async fn payment(&self, show: ShowId, hold: HoldId, held: &Value) -> String {
        let settings = self.edge.told(self.host, "/api/v1/payments/settings").await;
        let is_sandbox = matches!(&settings, Told::Found(it) if text(it, "provider") == "sandbox");
        if !is_sandbox {
            let with_script = format!("/shows/{show}/holds/{hold}");
            let card = Card {
                headline: self.t("site.needs_script"),
                body: paragraph(self.t("plain.pay_script"))
                    + &row(&link(&with_script, self.t("try_again"), "")),
                ..Card::default()
            };
            return card.html();
        }
        let cards = [
            (
                "pm_card_visa",
                self.t("checkout.card_works"),
                "checkout.card_works_hint",
            ),
            (
                "pm_card_chargeDeclined",
                self.t("checkout.card_declined"),
                "checkout.card_declined_hint",
            ),
            (
                "pm_sandbox_requires_action",
                "3-D Secure",
                "checkout.card_3ds_hint",
            ),
            (
                "pm_sandbox_capture_fails",
                self.t("checkout.card_capture"),
                "checkout.card_capture_hint",
            ),
        ];
        let cards: String = (cards.iter().enumerate())
            .map(|(at, &(value, name, hint))| choice("card", value, name, self.t(hint), at == 0))
            .collect();
        let terms = format!(
            "<p class=\"quiet\">{} <a href=\"/terms\">{}</a></p>",
            escaped(self.t("checkout.accept")),
            escaped(self.t("checkout.terms")),
        );
        let fields =
            hidden("key", &self.new_key()) + &choices(self.t("checkout.sandbox"), &cards) + &terms;
        let price = money(self.words, &held["total"]);
        let buy = self.words.with("checkout.buy", &[("price", &price)]);
        let action = format!("{}/checkout", to_hold(show, hold));
        let card = Card {
            headline: self.t("checkout.how"),
            body: form(&action, &fields, &buy),
            ..Card::default()
        };
        card.html()
    }

    pub(super) async fn pay(&self, show: ShowId, hold: HoldId, form: &Form) -> Answer {
        let (Some(key), card) = (form.key(), form.field("card")) else {
            return see_other(&path(show, hold));
        };
        let body = json!({"payment_method": card});
        let action = format!("{}/checkout", to_hold(show, hold));
        let paid = self.post(&action, &body, Some(key)).await;
        if paid.is_done() {
            return see_other(&order::path(OrderId::of(hold)));
        }
        let back = link(&path(show, hold), self.t("error.back"), "");
        match paid.code() {
            "unauthenticated" => self.nobody(self.t("session.ended"), &format!("/shows/{show}")),
            // The page says which of its ends it has come to.
            "hold_expired" | "conflict" | "request_in_flight" | "idempotency_mismatch" => {
                see_other(&path(show, hold))
            }
            "work_required" => {
                let needs = self.t("site.needs_script");
                self.notice(paid.status, needs, self.t("plain.work"), &back)
            }
            _ => {
                let detail = text(&paid.body, "detail");
                refusal_page::page(self.words, paid.status, detail, Some(&path(show, hold)))
            }
        }
    }
}
