//! Buying without a script: from the page of a show to the code of a ticket by plain forms.

use std::sync::Arc;

use reqwest::cookie::Jar;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde_json::{Value, json};

use crate::mails::mails;
use crate::orders::{text, until};
use crate::sale::Sale;
use crate::visitor::{Visitor, rows};
use crate::waiting::Waiting;

/// A browser without scripts: it keeps cookies, shows pages and sends forms.
struct Browser {
    client: Client,
    cookies: Arc<Jar>,
    url: String,
}

#[derive(Debug)]
struct Page {
    path: String,
    status: u16,
    text: String,
}

impl Page {
    /// What stands between these two.
    #[track_caller]
    fn between(&self, before: &str, after: &str) -> &str {
        let found = self.text.split_once(before);
        let (_, rest) = found.unwrap_or_else(|| panic!("no {before} in {}", self.text));
        rest.split_once(after).unwrap().0
    }

    #[track_caller]
    fn says(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.text.contains(part), "no {part} in {}", self.text);
        }
    }

    /// The action and the fields of its form as they stand there, with what is chosen.
    #[track_caller]
    fn form(&self) -> (String, Vec<(String, String)>) {
        let form = self.between("<main", "</main>");
        let form = form.split("<form method=\"post\" action=\"").nth(1);
        let form = form.unwrap_or_else(|| panic!("no form in {}", self.text));
        let (action, rest) = form.split_once('"').unwrap();
        let inputs = rest
            .split("</form>")
            .next()
            .unwrap()
            .split("<input")
            .skip(1);
        let attribute = |input: &str, name: &str| {
            let value = input
                .split_once(&format!("{name}=\""))?
                .1
                .split_once('"')?
                .0;
            Some(value.to_owned())
        };
        let fields = inputs.filter_map(|input| {
            let input = input.split_once('>')?.0;
            let is_sent = !input.contains("type=\"radio\"") || input.contains(" checked");
            let name = attribute(input, "name").filter(|_| is_sent)?;
            Some((name, attribute(input, "value").unwrap_or_default()))
        });
        (action.to_owned(), fields.collect())
    }
}

impl Browser {
    fn at(sale: &Sale) -> Self {
        let cookies = Arc::new(Jar::default());
        let client = Client::builder()
            .cookie_provider(cookies.clone())
            .redirect(Policy::none());
        Self {
            client: client.build().unwrap(),
            cookies,
            url: sale.server.url.clone(),
        }
    }

    async fn open(&self, path: &str) -> Page {
        let request = self.client.get(format!("{}{path}", self.url));
        let answer = request.header("accept", "text/html").send().await.unwrap();
        if let Some(next) = answer.headers().get(LOCATION) {
            let next = next.to_str().unwrap().to_owned();
            return Box::pin(self.open(&next)).await;
        }
        let kind = answer.headers()[CONTENT_TYPE].clone();
        assert_eq!(kind, "text/html; charset=utf-8", "{path}");
        Page {
            path: path.to_owned(),
            status: answer.status().as_u16(),
            text: answer.text().await.unwrap(),
        }
    }

    /// Sends a form: where it leads, or the page that it is answered with.
    async fn send(
        &self,
        origin: &str,
        action: &str,
        fields: &[(String, String)],
    ) -> Result<String, Page> {
        let request = self.client.post(format!("{}{action}", self.url));
        let request = request
            .header("accept", "text/html")
            .header("origin", origin);
        let answer = request.form(fields).send().await.unwrap();
        if answer.status() == 303 {
            return Ok(answer.headers()[LOCATION].to_str().unwrap().to_owned());
        }
        let kind = answer.headers()[CONTENT_TYPE].clone();
        assert_eq!(kind, "text/html; charset=utf-8", "{action}");
        Err(Page {
            path: action.to_owned(),
            status: answer.status().as_u16(),
            text: answer.text().await.unwrap(),
        })
    }

    /// Sends the form of a page, with these fields filled in or chosen.
    async fn submit(&self, page: &Page, filled: &[(&str, &str)]) -> Result<String, Page> {
        let (action, mut fields) = page.form();
        for (name, value) in filled {
            fields.retain(|(known, _)| known != name);
            fields.push((name.to_string(), value.to_string()));
        }
        self.send(&self.url, &action, &fields).await
    }

    /// The holds of the session.
    async fn holds(&self, show: &str) -> Vec<Value> {
        let path = format!("{}/api/v1/shows/{show}/holds", self.url);
        let listed = self.client.get(path).send().await.unwrap();
        let listed: Value = listed.json().await.unwrap();
        listed["items"].as_array().unwrap().clone()
    }

    /// The page with the form for the best places.
    async fn best(&self, show: &str) -> Page {
        self.open(&format!("/shows/{show}/seats?plain")).await
    }

    /// Reserves this many, as a new buyer.
    async fn reserves(&self, show: &str, quantity: &str, name: &str) -> Page {
        let who = self
            .submit(&self.best(show).await, &[("quantity", quantity)])
            .await;
        let email = format!("{name}@example.org");
        let who = who.map(|_| ()).unwrap_err();
        let led = self
            .submit(&who, &[("name", name), ("email", &email)])
            .await;
        self.open(&led.unwrap_or_else(|page| panic!("{}", page.text)))
            .await
    }

    /// Pays with this card and waits until the page of the order says so.
    async fn pays(&self, checkout: &Page, card: &str, headline: &str) -> Page {
        let led = self.submit(checkout, &[("card", card)]).await;
        let order = led.unwrap_or_else(|page| panic!("{}", page.text));
        assert!(order.starts_with("/orders/ord_"), "{order}");
        until(headline, async || {
            let page = self.open(&order).await;
            page.text.contains(headline).then_some(page)
        })
        .await
    }
}

/// Waits until so many places are held. The map may be a second old.
async fn until_held(sale: &Sale, places: u64) {
    until("so many are held", async || {
        let held = sale.availability().await["held"].as_u64();
        (held == Some(places)).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_two_are_reserved_and_paid_by_plain_forms() {
    let sale = Sale::small(json!({})).await;
    let browser = Browser::at(&sale);
    let show = browser.open(&format!("/shows/{}", sale.show)).await;
    let seats = format!("/shows/{}/seats", sale.show);
    show.says(&[&format!("href=\"{seats}\">Choose seats</a>")]);
    let with_script = browser.open(&seats).await;
    let without = with_script.between("<noscript>", "</noscript>");
    assert!(
        without.contains("http-equiv=\"refresh\" content=\"0; url=?plain\""),
        "{without}"
    );

    let best = browser.best(&sale.show).await;
    best.says(&[
        "<legend>How many tickets?</legend>",
        "value=\"6\"",
        "A · €45.01 · 20 free",
        "Monday 1 June 2099, 21:00",
    ]);
    assert!(!best.text.contains("<script"), "{}", best.text);
    assert!(!best.text.contains("quantity-7"), "six are the most");
    let who = browser
        .submit(&best, &[("section", "A")])
        .await
        .unwrap_err();
    assert_eq!(who.status, 401);
    let ana = [("name", "Ana <b>"), ("email", "ana@example.org")];
    let wrong = browser
        .submit(&who, &[("name", "Ana"), ("email", "ana")])
        .await;
    wrong
        .unwrap_err()
        .says(&["Check your name", "value=\"ana\""]);

    // Sent twice, at once and later: one account and one hold.
    let (first, second) = tokio::join!(browser.submit(&who, &ana), browser.submit(&who, &ana));
    let first = first.unwrap_or_else(|page| panic!("{}", page.text));
    for again in [second.ok(), browser.submit(&who, &ana).await.ok()] {
        assert_eq!(again.as_deref(), Some(first.as_str()));
    }
    let holds = browser.holds(&sale.show).await;
    assert_eq!(holds.len(), 1, "{holds:?}");
    until_held(&sale, 2).await;

    let checkout = browser.open(&first).await;
    checkout.says(&[
        "These places are held for you",
        "A, row 1, seat ",
        "€90.02",
        "Buy now · €90.02",
    ]);
    let until = checkout.between("Held for you until</dt><dd><time datetime=\"", "</time>");
    let (utc, local) = until.split_once("\">").unwrap();
    let hour = |text: &str| text[..2].parse::<u32>().unwrap();
    let (utc, local) = (
        hour(utc.split_once('T').unwrap().1),
        hour(local.rsplit_once(' ').unwrap().1),
    );
    assert!(
        [1, 2].contains(&((24 + local - utc) % 24)),
        "in Graz: {until}"
    );

    let order = browser
        .pays(&checkout, "pm_card_visa", "You are going")
        .await;
    order.says(&["alt=\"QR code: A, row 1, seat ", "/calendar\""]);
    assert!(
        !order.text.contains("http-equiv=\"refresh\""),
        "it has ended"
    );
    let code = order.between("<img src=\"", "\"").to_owned();
    let code = browser.client.get(format!("{}{code}", browser.url));
    let code = code.send().await.unwrap();
    assert_eq!(code.headers()[CONTENT_TYPE], "image/svg+xml");
    assert_eq!(order.text.matches("<img src=").count(), 2);
    // The hold leads to its order from now on.
    assert_eq!(browser.open(&first).await.path, order.path);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_card_keeps_the_places_and_the_bank_may_ask() {
    let sale = Sale::small(json!({})).await;
    let browser = Browser::at(&sale);
    let checkout = browser.reserves(&sale.show, "1", "bo").await;
    let declined = "Your payment was declined";
    let order = browser
        .pays(&checkout, "pm_card_chargeDeclined", declined)
        .await;
    order.says(&["Your places are kept for you until", "Try again"]);
    let again = browser.open(&checkout.path).await;
    again.says(&[declined, "try another card"]);
    let asked = browser
        .pays(
            &again,
            "pm_sandbox_requires_action",
            "Your bank has a question",
        )
        .await;
    let led = browser.submit(&asked, &[]).await;
    assert_eq!(led.ok().as_deref(), Some(asked.path.as_str()));
    until("the order is confirmed", async || {
        let page = browser.open(&asked.path).await;
        page.text.contains("You are going").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_is_a_page_with_a_way_on() {
    let sale = Sale::open(
        json!([rows("A", 1, 3), rows("B", 1, 8)]),
        json!({"A": 4501, "B": 2000}),
        json!({"max_tickets_per_buyer": 8}),
    )
    .await;
    let browser = Browser::at(&sale);
    let again = format!("href=\"/shows/{}/seats?plain\"", sale.show);
    let best = browser.best(&sale.show).await;
    let (action, fields) = best.form();

    // Another site makes the browser send it.
    let foreign = browser.send("https://evil.example", &action, &fields).await;
    let foreign = foreign.unwrap_err();
    assert_eq!(foreign.status, 403);
    foreign.says(&[&again]);

    let checkout = browser.reserves(&sale.show, "2", "ana").await;
    let many = |quantity: &'static str, section: &'static str| {
        [("quantity", quantity), ("section", section)]
    };
    let best = browser.best(&sale.show).await;
    let taken = browser.submit(&best, &many("4", "A")).await.unwrap_err();
    assert_eq!(taken.status, 409);
    taken.says(&["There are not so many left", &again]);
    let limit = browser.submit(&best, &many("7", "B")).await.unwrap_err();
    assert_eq!(limit.status, 422);
    limit.says(&["at most 8 tickets", &again]);
    until_held(&sale, 2).await;

    // One form, sent again with another number.
    browser.submit(&best, &many("1", "B")).await.unwrap();
    let twice = browser.submit(&best, &many("2", "B")).await.unwrap_err();
    assert_eq!(twice.status, 422);
    twice.says(&["This form was sent before", &again]);

    // Others see nothing of it, and those without a session are told why.
    let stranger = Browser::at(&sale);
    let nobody = stranger.open(&checkout.path).await;
    assert_eq!(nobody.status, 401);
    assert!(!nobody.text.contains("row 1"), "{}", nobody.text);
    stranger.reserves(&sale.show, "1", "bo").await;
    assert_eq!(stranger.open(&checkout.path).await.status, 404);
    let paid = stranger.submit(&checkout, &[]).await.unwrap_err();
    assert_eq!(paid.status, 404);

    let sold = sale
        .organiser
        .show(
            &sale.event,
            json!({"A": 1, "B": 1}),
            json!({"on_sale_at": "2098-01-01T00:00:00Z"}),
        )
        .await;
    let soon = browser.best(&sold).await;
    soon.says(&[
        "There are no tickets to reserve now",
        &format!("href=\"/shows/{sold}\""),
    ]);
    assert!(
        !soon.text.contains("action=\"/api/v1/shows"),
        "{}",
        soon.text
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_room_is_on_a_form_leads_there_unless_the_browser_has_a_pass() {
    let room = json!({"mode": "queue_all", "capacity": 10, "rate_per_second": 10});
    let sale = Sale::small(json!({"room": room})).await;
    let browser = Browser::at(&sale);
    let best = browser.best(&sale.show).await;
    let who = browser.submit(&best, &[]).await.unwrap_err();
    let ana = [("name", "Ana"), ("email", "ana@example.org")];
    let led = browser.submit(&who, &ana).await.ok();
    assert_eq!(led, Some(format!("/room/{}", sale.show)));

    let anybody = Visitor::anonymous(&sale.server.url);
    let waiting = Waiting::join(&anybody, &sale.show).await;
    waiting.until("admitted").await;
    let pass = waiting.pass().await;
    let cookie = format!("onsale_pass={pass}; Path=/api/v1/shows/{}", sale.show);
    browser
        .cookies
        .add_cookie_str(&cookie, &Url::parse(&sale.server.url).unwrap());
    // The session is there already, so nobody is asked who they are.
    let led = browser.submit(&browser.best(&sale.show).await, &[]).await;
    let led = led.unwrap_or_else(|page| panic!("{}", page.text));
    assert!(led.contains("/holds/hld_"), "{led}");
    until_held(&sale, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_has_an_account_gets_a_link_and_its_page_logs_in_by_a_form() {
    let sale = Sale::small(json!({})).await;
    sale.buyer("ana").await;
    let browser = Browser::at(&sale);
    let who = browser
        .submit(&browser.best(&sale.show).await, &[])
        .await
        .unwrap_err();
    let taken = browser
        .submit(&who, &[("name", "Ana"), ("email", "ana@example.org")])
        .await;
    let taken = taken.unwrap_err();
    assert_eq!(taken.status, 409);
    taken.says(&["There is an account for ana@example.org already"]);
    let mails = mails(&sale.organiser, "ana", 1).await;
    let links = mails[0]["links"].as_array().unwrap();
    let mut links = links
        .iter()
        .filter_map(|link| link.as_str()?.strip_prefix(&browser.url));
    let page = browser
        .open(links.find(|link| link.starts_with("/log-in/")).unwrap())
        .await;
    assert_eq!(browser.submit(&page, &[]).await.ok().as_deref(), Some("/"));
    let led = browser
        .submit(&browser.best(&sale.show).await, &[])
        .await
        .ok();
    assert!(led.is_some_and(|led| led.contains("/holds/hld_")));
    let me = browser.client.get(format!("{}/api/v1/me", browser.url));
    let me: Value = me.send().await.unwrap().json().await.unwrap();
    assert_eq!(text(&me, "email"), "ana@example.org");
}
