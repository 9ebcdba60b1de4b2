//! An order without a script: how it stands, loaded again while that changes, and its tickets.

use http::StatusCode;
use onsale_domain::ids::OrderId;
use serde_json::Value;

use super::html::{Card, Plain, form, link, money, paragraph, place_words, row, zone};
use super::{Asked, best, checkout};
use crate::answer::{Answer, Problem, see_other};
use crate::host::Host;
use crate::refusal_page;
use crate::rendered::values::{Length, moment_words, text};
use crate::web::escaped;

/// How long a page stands whose order is about to change.
const AGAIN_S: u8 = 2;

/// The page without a script.
pub(super) fn path(order: OrderId) -> String {
    format!("/orders/{order}?plain")
}

impl<H: Host> Asked<'_, H> {
    pub(super) async fn order_page(&self, id: OrderId) -> Result<Answer, Problem> {
        let order = self.get(&format!("/api/v1/orders/{id}")).await;
        match order.status {
            StatusCode::OK => {}
            StatusCode::UNAUTHORIZED => return Ok(self.nobody(self.t("order.why"), "/")),
            StatusCode::NOT_FOUND => return Err(Problem::missing("There is no such order.")),
            _ => return Err(Problem::unavailable()),
        }
        let order = order.body;
        let show = self.show(text(&order, "show_id")).await?;
        let changes = ["pending", "authorised", "cancelling"].contains(&text(&order, "status"));
        let tickets = match order["tickets"].as_array().is_some_and(|it| !it.is_empty()) {
            true => self.get(&format!("/api/v1/orders/{id}/tickets")).await.body,
            false => Value::Null,
        };
        let tickets = tickets["items"].as_array().into_iter().flatten();
        let tickets: String = tickets.map(|ticket| self.ticket(ticket)).collect();
        let page = Plain {
            title: text(&show["event"], "title"),
            main: self.standing(id, &order, &show) + &tickets,
            path: &format!("/orders/{id}"),
            again_s: changes.then_some(AGAIN_S),
        };
        Ok(page.answer(self.words, StatusCode::OK))
    }

    /// How the order stands, and what its reader does next.
    fn standing(&self, id: OrderId, order: &Value, show: &Value) -> String {
        let (kind, headline, said) = match text(order, "status") {
            "pending" => ("", "order.pending", "order.pending_words"),
            "requires_action" => ("", "order.requires_action", "order.requires_action_words"),
            "authorised" => ("", "order.authorised", "order.authorised_words"),
            "confirmed" => ("good", "order.confirmed", "order.confirmed_words"),
            "declined" => ("bad", "order.declined", "order.declined_words"),
            "cancelling" => ("", "order.cancelling", "order.cancelling_words"),
            "cancelled" => ("", "order.cancelled", "order.cancelled_words"),
            "refunded" => ("", "order.refunded", "order.refunded_words"),
            "failed" => ("bad", "order.failed", "order.failed_words"),
            _ => ("", "order.stuck", "order.stuck_words"),
        };
        let mut more = vec![(self.t("order.number"), escaped(text(order, "number")))];
        if !order["refund"].is_null() {
            let refund = money(self.words, &order["refund"]);
            more.push((self.t("order.refund"), escaped(&refund)));
        }
        let card = Card {
            kind,
            badge: "",
            headline: self.t(headline),
            body: paragraph(self.t(said))
                + &self.next(id, order, show)
                + &self.facts(show, &more)
                + &self.costs(order),
        };
        card.html()
    }

    fn next(&self, id: OrderId, order: &Value, show: &Value) -> String {
        let Ok(of_show) = text(order, "show_id").parse() else {
            return String::new();
        };
        let again = || {
            row(&link(
                &best::path(of_show),
                self.t("order.choose_again"),
                "",
            ))
        };
        match text(order, "status") {
            "requires_action" => self.bank(id, &order["action"]),
            "declined" if self.is_past(text(order, "pay_until")) => {
                paragraph(self.t("order.not_kept")) + &again()
            }
            "declined" => {
                let until = text(order, "pay_until");
                let until = moment_words(self.words, until, zone(show), Length::Short);
                let kept = self.words.with("order.kept_until", &[("until", &until)]);
                let hold = checkout::path(of_show, id.hold());
                paragraph(&kept) + &row(&link(&hold, self.t("order.try_again"), ""))
            }
            "failed" if text(order, "reason") != "show_cancelled" => again(),
            "confirmed" => {
                let paper = |kind, label| {
                    link(
                        &format!("/api/v1/orders/{id}/{kind}"),
                        self.t(label),
                        " plain",
                    )
                };
                let calendar = paper("calendar", "order.calendar");
                row(&(calendar + &paper("receipt", "order.receipt")))
            }
            _ => String::new(),
        }
    }

    /// The bank asks: at its own address, or in the sandbox by a form.
    fn bank(&self, id: OrderId, action: &Value) -> String {
        let label = self.t("order.confirm_at_bank");
        match text(action, "type") {
            "redirect" if text(action, "url").starts_with("https://") => {
                row(&link(text(action, "url"), label, ""))
            }
            "confirm_in_sandbox" => form(&format!("/api/v1/orders/{id}/confirm-action"), "", label),
            _ => paragraph(self.t("plain.pay_script")),
        }
    }

    pub(super) async fn confirm(&self, order: OrderId) -> Answer {
        let action = format!("/api/v1/orders/{order}/confirm-action");
        let confirmed = self.post(&action, &Value::Null, None).await;
        // Confirmed already, or over: the page says which.
        if confirmed.is_done() || confirmed.code() == "conflict" {
            return see_other(&path(order));
        }
        let detail = text(&confirmed.body, "detail");
        refusal_page::page(self.words, confirmed.status, detail, Some(&path(order)))
    }

    /// A ticket with its code, while it is good.
    fn ticket(&self, ticket: &Value) -> String {
        let (id, seat) = (escaped(text(ticket, "ticket_id")), text(ticket, "seat"));
        let seat = place_words(self.words, seat);
        let (kind, state) = match text(ticket, "status") {
            "valid" => ("good", "ticket.valid"),
            "used" => ("over", "ticket.used"),
            _ => ("over", "ticket.revoked"),
        };
        let (more, code) = match kind {
            "good" => {
                let pdf = link(
                    &format!("/api/v1/tickets/{id}/pdf"),
                    self.t("ticket.pdf"),
                    " plain",
                );
                let alt = self.words.with("ticket.qr", &[("place", &seat)]);
                let shown = format!(
                    "<p class=\"quiet\">{}</p>",
                    escaped(self.t("ticket.show_it"))
                );
                let code = format!(
                    "<div class=\"code\"><img src=\"/api/v1/tickets/{id}/svg\" alt=\"{}\" width=\"240\" height=\"240\"></div>",
                    escaped(&alt),
                );
                (shown + &row(&pdf), code)
            }
            _ => (String::new(), String::new()),
        };
        format!(
            "<section class=\"ticket admits {kind}\"><div class=\"body\"><p class=\"badge\">{}</p><h3 class=\"seat\">{}</h3>\
             {more}</div>{code}</section>\n",
            escaped(self.t(state)),
            escaped(&seat),
        )
    }
}
