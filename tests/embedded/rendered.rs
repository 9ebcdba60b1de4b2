//! What can be read without a script: the front page, an event, a show.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::orders::{text, until};
use crate::sale::Sale;
use crate::visitor::Visitor;

/// What a browser that speaks this language is shown.
async fn page(stranger: &Visitor, path: &str, language: &str) -> (StatusCode, String) {
    let request = stranger.request(Method::GET, path);
    let page = request
        .header("accept", "text/html")
        .header("accept-language", language.to_owned())
        .send()
        .await
        .unwrap();
    let kind = page.headers()["content-type"].clone();
    assert_eq!(kind, "text/html; charset=utf-8", "{path}");
    (page.status(), page.text().await.unwrap())
}

fn has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "no {part} in {page}");
    }
}

/// The schema.org data of a page.
fn linked_data(page: &str) -> Value {
    let data = page.split("<script type=\"application/ld+json\">").nth(1);
    let data = data.unwrap().split("</script>").next().unwrap();
    serde_json::from_str(data).unwrap()
}

/// An event in Berlin with a title that looks like markup, and one show in winter.
async fn winter(sale: &Sale, more: Value) -> (String, String) {
    let sections = json!([{"name": "Floor", "capacity": 3}]);
    let venue = json!({"name": "Halle", "city": "Berlin", "address": "Am Kai 1",
        "timezone": "Europe/Berlin", "sections": sections});
    let venue = sale.organiser.post("/api/v1/venues", venue).await;
    let event = json!({"title": "Nacht </script><b>", "category": "concert",
        "description": "Zwei\nZeilen & mehr", "venue_id": text(&venue.expect(201), "venue_id")});
    let event = sale
        .organiser
        .post("/api/v1/events", event)
        .await
        .expect(201);
    let event = text(&event, "event_id").to_owned();
    let mut show = json!({"starts_at": "2098-12-17T19:00:00Z", "currency": "EUR",
        "prices": {"Floor": 123_450}});
    for (name, value) in more.as_object().unwrap() {
        show[name] = value.clone();
    }
    let path = format!("/api/v1/events/{event}/shows");
    let show = sale.organiser.post(&path, show).await.expect(201);
    (event, text(&show, "show_id").to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_can_be_read_without_a_script_and_by_machines() {
    let sale = Sale::small(json!({})).await;
    let stranger = Visitor::anonymous(&sale.server.url);
    let (event, show) = winter(&sale, json!({})).await;
    let (status, german) = page(&stranger, &format!("/events/{event}"), "de").await;
    assert_eq!(status, 200);
    has(
        &german,
        &[
            "<h1 id=\"title\">Nacht &lt;/script&gt;&lt;b&gt;</h1>",
            "<title>Nacht &lt;/script&gt;&lt;b&gt;</title>",
            "Zwei\nZeilen &amp; mehr",
            "Halle, Am Kai 1, Berlin",
            "Mittwoch, 17. Dezember 2098, 20:00 Uhr",
            "ab 1.234,50\u{a0}€",
            &format!("href=\"/shows/{show}\""),
            "<meta name=\"description\" content=\"Zwei Zeilen &amp; mehr\">",
            "<meta property=\"og:title\" content=\"Nacht &lt;/script&gt;&lt;b&gt;\">",
            &format!(
                "<link rel=\"canonical\" href=\"{}/events/{event}\">",
                sale.server.url
            ),
        ],
    );
    assert!(!german.contains("noindex"), "{german}");
    let data = linked_data(&german);
    assert_eq!(data["@type"], "Event");
    assert_eq!(data["name"], "Nacht </script><b>");
    assert_eq!(data["location"]["address"]["addressLocality"], "Berlin");
    assert_eq!(data["subEvent"][0]["offers"]["lowPrice"], "1234.50");
    let (_, english) = page(&stranger, &format!("/events/{event}"), "en").await;
    has(
        &english,
        &["Wednesday 17 December 2098, 20:00", "€1,234.50"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_show_names_its_next_step() {
    let sale = Sale::small(json!({})).await;
    let stranger = Visitor::anonymous(&sale.server.url);
    let seats = |show: &str, label: &str| {
        format!("<a class=\"button\" href=\"/shows/{show}/seats\">{label}</a>")
    };
    let (_, numbered) = page(&stranger, &format!("/shows/{}", sale.show), "en").await;
    has(&numbered, &[&seats(&sale.show, "Choose seats")]);

    let (_, show) = winter(&sale, json!({})).await;
    let (_, general) = page(&stranger, &format!("/shows/{show}"), "en").await;
    has(
        &general,
        &[
            &seats(&show, "Choose tickets"),
            "<td data-section=\"Floor\">3</td>",
        ],
    );
    let data = linked_data(&general);
    assert_eq!(data["startDate"], "2098-12-17T19:00:00Z");
    assert_eq!(data["offers"]["availability"], "https://schema.org/InStock");

    let room = json!({"mode": "queue", "capacity": 10, "rate_per_second": 1});
    let (_, show) = winter(&sale, json!({"room": room})).await;
    let (_, queued) = page(&stranger, &format!("/shows/{show}"), "en").await;
    has(&queued, &[&format!("href=\"/room/{show}\"")]);
    assert!(
        !queued.contains(&format!("/shows/{show}/seats")),
        "{queued}"
    );

    let room = json!({"mode": "closed", "capacity": 10, "rate_per_second": 1});
    let (_, show) = winter(&sale, json!({"room": room})).await;
    let (_, paused) = page(&stranger, &format!("/shows/{show}"), "en").await;
    has(
        &paused,
        &["The sale is paused", "Come back a little later."],
    );
    assert!(!paused.contains("There are tickets"), "{paused}");
    assert!(!paused.contains(&format!("/room/{show}")), "{paused}");

    let (_, show) = winter(&sale, json!({"on_sale_at": "2098-07-01T08:00:00Z"})).await;
    let (_, soon) = page(&stranger, &format!("/shows/{show}"), "en").await;
    has(&soon, &["Not on sale yet", "Tuesday 1 July 2098, 10:00"]);
    assert!(!soon.contains(&format!("/shows/{show}/seats")), "{soon}");

    let (_, show) = winter(&sale, json!({})).await;
    let path = format!("/api/v1/shows/{show}/cancel");
    sale.organiser.post(&path, Value::Null).await.expect(202);
    let (status, cancelled) = page(&stranger, &format!("/shows/{show}"), "en").await;
    assert_eq!(status, 200);
    has(&cancelled, &["This show is cancelled"]);
    let status = &linked_data(&cancelled)["eventStatus"];
    assert_eq!(status, "https://schema.org/EventCancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_exist_and_what_is_a_draft_is_not_found() {
    let sale = Sale::small(json!({})).await;
    let stranger = Visitor::anonymous(&sale.server.url);
    let (_, draft) = winter(&sale, json!({"draft": true})).await;
    let unknown = "0".repeat(32);
    for path in [
        format!("/shows/{draft}"),
        format!("/shows/shw_{unknown}"),
        format!("/shows/{draft}/seats"),
        format!("/shows/shw_{unknown}/seats"),
        format!("/fairness/shw_{unknown}"),
        "/fairness/nonsense".to_owned(),
        format!("/events/evt_{unknown}"),
        "/events/nonsense".to_owned(),
    ] {
        let (status, lost) = page(&stranger, &path, "fr-CH, en;q=0.5").await;
        assert_eq!(status, 404, "{path}");
        has(&lost, &["href=\"/\"", "noindex"]);
    }
    for path in [
        format!("/shows/{}/seats", sale.show),
        format!("/fairness/{}", sale.show),
    ] {
        let (status, _) = page(&stranger, &path, "en").await;
        assert_eq!(status, 200, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organiser_with_a_session_gets_the_page_of_a_draft_with_its_module() {
    let sale = Sale::small(json!({})).await;
    let (_, draft) = winter(&sale, json!({"draft": true})).await;
    let anybody = Visitor::anonymous(&sale.server.url);
    let request = anybody.request(Method::GET, &format!("/shows/{draft}"));
    let cookie = format!("onsale_session={}", sale.organiser.token);
    let request = request.header("accept", "text/html");
    let answer = request.header("cookie", cookie).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let page = answer.text().await.unwrap();
    has(&page, &["data-page=\"show\"", "<script type=\"module\""]);
    assert!(!page.contains("Nacht"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_section_that_is_only_reserved_is_not_called_sold_out() {
    let sale = Sale::small(json!({})).await;
    let (_, show) = winter(&sale, json!({})).await;
    let ana = sale.buyer("ana").await;
    let all = json!({"best_available": {"quantity": 3}});
    ana.hold(&show, "all", all).await.expect(201);
    let stranger = Visitor::anonymous(&sale.server.url);
    let zero = "<td data-section=\"Floor\">0</td>";
    until("nothing is free", async || {
        let (_, text) = page(&stranger, &format!("/shows/{show}"), "en").await;
        text.contains(zero).then_some(())
    })
    .await;
    let (_, best) = page(&stranger, &format!("/shows/{show}/seats?plain"), "en").await;
    let option = "<option value=\"Floor\" disabled>Floor · €1,234.50 · 0 free</option>";
    has(&best, &[option]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_front_page_lists_events_and_searches_without_a_script() {
    let sale = Sale::small(json!({})).await;
    let stranger = Visitor::anonymous(&sale.server.url);
    let (event, _) = winter(&sale, json!({})).await;
    let card = format!("<a class=\"event\" href=\"/events/{event}\">");
    // A new event is found within seconds.
    loop {
        let found = stranger.get("/api/v1/events?query=nacht").await.expect(200);
        if found["items"]
            .as_array()
            .is_some_and(|items| !items.is_empty())
        {
            break;
        }
    }
    let (status, found) = page(&stranger, "/?query=nacht", "en").await;
    assert_eq!(status, 200);
    has(&found, &[&card]);
    has(
        &found,
        &[
            "name=\"query\" type=\"search\"",
            "value=\"nacht\"",
            "<strong>Nacht &lt;/script&gt;&lt;b&gt;</strong>",
            "Halle, Berlin",
            "from €1,234.50",
        ],
    );
    let (_, none) = page(&stranger, "/?query=zzzzzz&city=Nowhere", "en").await;
    has(&none, &["Nothing found"]);
    assert!(!none.contains(&card), "{none}");
}
