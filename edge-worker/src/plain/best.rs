//! "The best two": a form that reserves so many of the best places that are free.

use http::{Method, StatusCode};
use onsale_domain::ids::ShowId;
use serde_json::{Value, json};

use super::html::{Card, Plain, choice, choices, form, hidden, link, money, paragraph, row};
use super::reader::{Form, Heard};
use super::{Asked, checkout};
use crate::answer::{Answer, Problem, see_other};
use crate::catalogue::Told;
use crate::host::Host;
use crate::refusal_page;
use crate::rendered::values::{Left, left_in, number, text};
use crate::web::escaped;

/// Up to here each number is a choice of its own; beyond, it is typed.
const MAX_CHOICES: u64 = 10;

/// The page with the form.
pub(super) fn path(show: ShowId) -> String {
    format!("/shows/{show}/seats?plain")
}

fn to_holds(show: ShowId) -> String {
    format!("/api/v1/shows/{show}/holds")
}

impl<H: Host> Asked<'_, H> {
    pub(super) async fn best_page(&self, id: ShowId) -> Result<Answer, Problem> {
        let show = self.show(&id.to_string()).await?;
        let places = format!("/api/v1/shows/{id}/availability");
        let places = match self.edge.told(self.host, &places).await {
            Told::Found(places) => Some(places),
            Told::Missing | Told::Silent => None,
        };
        let is_open = text(&show, "status") == "on_sale"
            && !self.is_past(text(&show, "starts_at"))
            && show["on_sale_at"]
                .as_str()
                .is_none_or(|at| self.is_past(at));
        let to_show = link(
            &format!("/shows/{id}"),
            self.t("checkout.to_show"),
            " plain",
        );
        let facts = self.facts(&show, &[]);
        let card = match is_open {
            true => Card {
                kind: "good",
                badge: self.t("show.on_sale"),
                headline: self.t("plain.best"),
                body: paragraph(self.t("plain.best.what"))
                    + &facts
                    + &self.best_form(id, &show, places.as_deref())
                    + &row(&to_show),
            },
            false => Card {
                headline: self.t("plain.closed"),
                body: facts + &row(&to_show),
                ..Card::default()
            },
        };
        let page = Plain {
            title: text(&show["event"], "title"),
            main: card.html(),
            path: &format!("/shows/{id}/seats"),
            ..Plain::default()
        };
        Ok(page.answer(self.words, StatusCode::OK))
    }

    fn best_form(&self, id: ShowId, show: &Value, places: Option<&Value>) -> String {
        let most = show["max_tickets_per_buyer"].as_u64().unwrap_or(1).max(1);
        let usual = most.min(2);
        let how_many = self.t("show.waitlist.quantity");
        let quantity = match most <= MAX_CHOICES {
            true => {
                let one =
                    |n: u64| choice("quantity", &n.to_string(), &n.to_string(), "", n == usual);
                choices(how_many, &(1..=most).map(one).collect::<String>())
            }
            false => format!(
                "<div class=\"field\"><label for=\"quantity\">{}</label><input id=\"quantity\" name=\"quantity\" \
                 type=\"number\" min=\"1\" max=\"{most}\" value=\"{usual}\" required></div>",
                escaped(how_many),
            ),
        };
        let fields = hidden("key", &self.new_key()) + &quantity + &self.sections(show, places);
        form(&to_holds(id), &fields, self.t("plain.reserve"))
    }

    /// Where to sit: anywhere, or in one section with its price and what is free.
    fn sections(&self, show: &Value, places: Option<&Value>) -> String {
        let words = self.words;
        let option = |(section, price): (&String, &Value)| {
            let left = left_in(places, section);
            let free = match left {
                None => String::new(),
                Some(Left::SoldOut) => format!(" · {}", self.t("state.sold_out")),
                Some(Left::Free(n)) => {
                    format!(" · {} {}", number(words, n), self.t("plain.free"))
                }
            };
            let is_taken = matches!(left, Some(Left::SoldOut | Left::Free(0)));
            let disabled = if is_taken { " disabled" } else { "" };
            let label = format!("{section} · {}{free}", money(words, price));
            let (section, label) = (escaped(section), escaped(&label));
            format!("<option value=\"{section}\"{disabled}>{label}</option>")
        };
        let prices = show["prices"].as_object().into_iter().flatten();
        let options: String = prices.map(option).collect();
        format!(
            "<div class=\"field\"><label for=\"section\">{}</label><select id=\"section\" name=\"section\">\
             <option value=\"\" selected>{}</option>{options}</select></div>",
            escaped(self.t("show.section")),
            escaped(self.t("plain.anywhere")),
        )
    }

    /// Reserves, for the reader of the session or for one who says name and address here.
    pub(super) async fn hold(&self, show: ShowId, form: &Form) -> Answer {
        let (Some(key), Ok(quantity)) = (form.key(), form.field("quantity").parse::<u32>()) else {
            return see_other(&path(show));
        };
        let mut best = json!({"quantity": quantity});
        let section = form.field("section");
        if !section.is_empty() {
            best["section"] = section.into();
        }
        let body = json!({"best_available": best});
        let registered = match form.field("email").is_empty() {
            true => None,
            false => match self.register(form, key).await {
                Ok(registered) => Some(registered),
                Err(refused) => return self.not_registered(show, form, &refused),
            },
        };
        let token = registered.as_ref().and_then(|it| it.body["token"].as_str());
        let holds = to_holds(show);
        let held = self.call(Method::POST, &holds, Some(&body), Some(key), token);
        let held = held.await;
        let mut answer = match held.body["hold_id"].as_str().map(str::parse) {
            Some(Ok(hold)) if held.is_done() => see_other(&checkout::path(show, hold)),
            _ => self.not_held(show, form, &held),
        };
        if let Some(registered) = registered {
            registered.set_cookies(&mut answer);
        }
        answer
    }

    fn not_held(&self, show: ShowId, form: &Form, refused: &Heard) -> Answer {
        let again = link(&path(show), self.t("plain.choose_again"), "");
        let to_show = link(
            &format!("/shows/{show}"),
            self.t("checkout.to_show"),
            " plain",
        );
        let said = |headline, words: &str| {
            self.notice(
                refused.status,
                headline,
                words,
                &format!("{again}{to_show}"),
            )
        };
        match refused.code() {
            "unauthenticated" => self.who(show, form, None),
            "pass_required" | "not_admitted" => see_other(&format!("/room/{show}")),
            "seats_taken" => said(self.t("plain.taken"), self.t("plain.taken.what")),
            "not_on_sale" => said(self.t("plain.closed"), self.t("plain.closed.what")),
            "limit_exceeded" => {
                let n = refused.body["limit"].as_u64().unwrap_or_default();
                let words = self
                    .words
                    .with("plain.limit.what", &[("n", &n.to_string())]);
                said(self.t("plain.limit"), &words)
            }
            "work_required" => said(self.t("site.needs_script"), self.t("plain.work")),
            "idempotency_mismatch" => said(self.t("plain.twice"), self.t("plain.twice.what")),
            _ if refused.can_be_repeated() => {
                let again = self.once_more(show, form) + &row(&to_show);
                let page = format!("/shows/{show}/seats");
                self.busy(refused.status, self.t("title.seats"), &page, &again)
            }
            _ => {
                let detail = text(&refused.body, "detail");
                refusal_page::page(self.words, refused.status, detail, Some(&path(show)))
            }
        }
    }

    fn once_more(&self, show: ShowId, sent: &Form) -> String {
        let fields: String = ["key", "quantity", "section", "name", "email"]
            .into_iter()
            .map(|name| hidden(name, sent.field(name)))
            .collect();
        form(&to_holds(show), &fields, self.t("try_again"))
    }
}
