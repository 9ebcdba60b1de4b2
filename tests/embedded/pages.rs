//! Every button of a mail leads to a page.

use onsale_mails::links::PAGES;
use reqwest::Method;
use serde_json::{Value, json};

use crate::mails::mails;
use crate::orders::{order_of, text};
use crate::sale::Sale;
use crate::visitor::Visitor;

/// Asks as a browser that follows a link does, and looks at what protects its reader.
async fn open(stranger: &Visitor, path: &str) -> String {
    let request = stranger.request(Method::GET, path);
    let page = request.header("accept", "text/html").send().await.unwrap();
    assert_eq!(page.status(), 200, "{path}");
    let header = |name: &str| {
        let value = page.headers().get(name);
        let value = value.unwrap_or_else(|| panic!("{path} has no {name}"));
        value.to_str().unwrap().to_owned()
    };
    assert_eq!(header("content-type"), "text/html; charset=utf-8", "{path}");
    assert_eq!(header("cache-control"), "no-store", "{path}");
    assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
    let policy = header("content-security-policy");
    for rule in [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(rule), "{path}: {policy}");
    }
    let referrer = match path.starts_with("/room/") {
        true => "same-origin",
        false => "no-referrer",
    };
    assert_eq!(header("referrer-policy"), referrer, "{path}");
    page.text().await.unwrap()
}

/// The files that a page names.
fn files(page: &str) -> Vec<&str> {
    let quoted = page.split('"').filter(|text| text.starts_with("/assets/"));
    quoted.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_that_a_mail_may_lead_to_is_served_with_its_files() {
    let sale = Sale::small(json!({})).await;
    let stranger = Visitor::anonymous(&sale.server.url);
    for pattern in PAGES {
        let path = pattern.replace("{show}", &sale.show);
        let segments = path.split('/').map(|segment| match segment {
            segment if segment.starts_with('{') => "some-id_or-token",
            segment => segment,
        });
        let path = segments.collect::<Vec<_>>().join("/");
        let page = open(&stranger, &path).await;
        assert!(!files(&page).is_empty(), "{path}: {page}");
        for file in files(&page) {
            let (headers, _) = stranger.bytes(file).await;
            let kept = headers["cache-control"].to_str().unwrap();
            assert!(kept.contains("immutable"), "{file}");
        }
        let posted = stranger.send(stranger.request(Method::POST, &path)).await;
        assert_eq!(posted.status.as_u16(), 405, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_opens_the_address_itself_sees_what_is_on() {
    let sale = Sale::small(json!({})).await;
    let stranger = Visitor::anonymous(&sale.server.url);
    let page = open(&stranger, "/").await;
    assert!(page.contains("<body data-page=\"home\">"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_of_a_mail_opens_a_page() {
    let sale = Sale::small(json!({})).await;
    let stranger = Visitor::anonymous(&sale.server.url);
    let ana = sale.buyer("ana").await;

    // Bought, offered to a friend who has no account, and declined.
    let order = ana.buys(&sale.show, &["A-1-1"]).await;
    let tickets = ana.tickets(text(&order, "order_id")).await;
    let path = format!(
        "/api/v1/tickets/{}/transfer",
        text(&tickets[0], "ticket_id")
    );
    let offer = ana.post(&path, json!({"to_email": "bo@example.org"})).await;
    let offer = offer.expect(202);
    let hold = ana.holds(&sale.show, &["A-1-2"]).await;
    let pay = ana.check_out(&sale.show, &hold, "pay", "pm_card_chargeDeclined");
    pay.await.expect(202);
    ana.order_becomes(&order_of(&hold), "declined").await;

    // Forgotten, and invited.
    let forgot = json!({"email": "ana@example.org"});
    let asked = stranger.post("/api/v1/password-resets", forgot).await;
    asked.expect(202);
    let staff = json!({"email": "gate@example.org", "name": "Gate", "show_ids": [sale.show]});
    let invited = sale.organiser.post("/api/v1/staff", staff).await;
    invited.expect(201);

    // Moved, and called off.
    let show = format!("/api/v1/shows/{}", sale.show);
    let later = json!({"starts_at": "2098-01-02T19:00:00Z"});
    sale.organiser.patch(&show, later).await.expect(200);
    mails(&ana, "ana", 4).await;
    let cancel = format!("{show}/cancel");
    let cancelled = sale.organiser.post(&cancel, Value::Null).await;
    cancelled.expect(202);

    let mut all = mails(&ana, "ana", 6).await;
    all.extend(mails(&ana, "bo", 1).await);
    all.extend(mails(&ana, "gate", 1).await);
    let mut paths = Vec::new();
    for mail in &all {
        let links = mail["links"].as_array().unwrap();
        assert!(!links.is_empty(), "{mail}");
        for link in links {
            let link = link.as_str().unwrap();
            paths.push(link.strip_prefix(&sale.server.url).unwrap().to_owned());
        }
    }
    for path in &paths {
        open(&stranger, path).await;
    }
    let token = |page: &str| {
        let token = paths.iter().find_map(|path| path.strip_prefix(page));
        token.unwrap_or_else(|| panic!("no mail leads to {page}"))
    };
    let transfer = text(&offer, "transfer_id");
    assert_eq!(token("/transfers/"), transfer);
    assert_eq!(token("/shows/"), sale.show);
    assert!(paths.contains(&"/orders".to_owned()), "{paths:?}");
    // What the pages do with the tokens in their addresses.
    for page in ["/reset/", "/invitation/"] {
        let set = format!("/api/v1/password-resets/{}", token(page));
        let new = json!({"password": "another horse"});
        stranger.post(&set, new).await.expect(204);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_and_long_answers_are_compressed_for_those_who_read_that() {
    let sale = Sale::small(json!({})).await;
    let stranger = Visitor::anonymous(&sale.server.url);
    let page = open(&stranger, "/account").await;
    let file = files(&page).into_iter().find(|file| file.ends_with(".css"));
    for path in [file.unwrap(), "/account", "/api/v1/openapi.json"] {
        let ask = |encoding: &str| {
            let request = stranger.request(Method::GET, path);
            request.header("accept-encoding", encoding.to_owned())
        };
        let plain = ask("identity").send().await.unwrap();
        assert!(!plain.headers().contains_key("content-encoding"), "{path}");
        let sent = ask("gzip, br").send().await.unwrap();
        assert_eq!(sent.headers()["content-encoding"], "gzip", "{path}");
        let mut vary = sent.headers().get_all("vary").iter();
        assert!(vary.any(|it| it == "accept-encoding"), "{path}");
        let (plain, sent) = (plain.bytes().await.unwrap(), sent.bytes().await.unwrap());
        assert!(
            2 * sent.len() < plain.len(),
            "{path}: {} of {}",
            sent.len(),
            plain.len()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_refused_with_a_page_and_a_program_with_a_problem() {
    let sale = Sale::small(json!({})).await;
    let stranger = Visitor::anonymous(&sale.server.url);
    for path in [
        "/nothing/here",
        "/api/v1/orders/ord_1",
        "/room/shw_nonsense",
    ] {
        let request = stranger.request(Method::GET, path);
        let page = request
            .header("accept", "text/html,*/*;q=0.8")
            .header("accept-language", "de")
            .send()
            .await
            .unwrap();
        let status = page.status();
        assert!(status.is_client_error(), "{path}: {status}");
        assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
        let text = page.text().await.unwrap();
        assert!(text.contains("<html lang=\"de\">"), "{text}");
        assert!(text.contains("href=\"/\""), "{text}");
        let request = stranger.request(Method::GET, path);
        let problem = request.header("accept", "*/*").send().await.unwrap();
        assert_eq!(problem.status(), status);
        let kind = &problem.headers()["content-type"];
        assert_eq!(kind, "application/problem+json", "{path}");
    }
}
