//! Pages for which the edge asks the functions.

use std::sync::atomic::Ordering;

use http::{Response, StatusCode};
use onsale_domain::show::RoomMode;
use serde_json::json;

use crate::scene::{Scene, held, settings};

const SHOW: &str = "shw_01010101010101010101010101010101";
const EVENT: &str = "evt_01010101010101010101010101010101";

fn scene() -> Scene {
    Scene::new(settings(RoomMode::Queue, None))
}

/// Lets the functions answer this many times that there is no such thing.
fn nothing_is_there(scene: &Scene, times: usize) {
    let missing = || {
        let mut answer = Response::new(b"{}".to_vec());
        *answer.status_mut() = StatusCode::NOT_FOUND;
        answer
    };
    held(&scene.world().functions).extend((0..times).map(|_| missing()));
}

/// What the functions were asked, with the query.
fn asked(scene: &Scene) -> Vec<String> {
    let calls = held(&scene.world().calls_of_functions);
    calls.iter().map(|call| call.uri().to_string()).collect()
}

#[tokio::test]
async fn a_show_that_the_edge_reads_for_its_pages_is_not_counted_as_looked_at() {
    for page in ["", "/seats", "/seats?plain"] {
        let scene = scene();
        let show = json!({"show_id": SHOW, "event": {"title": "Nacht"}});
        held(&scene.world().functions).push_back(Response::new(show.to_string().into_bytes()));
        let page = format!("/shows/{SHOW}{page}");
        scene.visitor().page(&page).await.expect(200);
        let asked = asked(&scene);
        let shows = asked.iter().filter(|it| {
            let path = it.split('?').next();
            path == Some(&format!("/api/v1/shows/{SHOW}"))
        });
        let shows: Vec<_> = shows.collect();
        assert_eq!(shows, [&format!("/api/v1/shows/{SHOW}?look=no")], "{page}");
    }
}

#[tokio::test]
async fn pages_of_a_show_that_does_not_exist_are_not_found() {
    for path in [
        format!("/shows/{SHOW}/seats"),
        format!("/fairness/{SHOW}"),
        "/shows/nonsense/seats".to_owned(),
        "/fairness/nonsense".to_owned(),
    ] {
        let scene = scene();
        nothing_is_there(&scene, 3);
        let lost = scene.visitor().page(&path).await.expect(404);
        assert!(lost.text.contains("There is nothing here"), "{}", lost.text);
    }
}

/// Their modules ask again, and say what they are told.
#[tokio::test]
async fn pages_of_a_show_are_sent_where_the_functions_do_not_answer() {
    for path in [format!("/shows/{SHOW}/seats"), format!("/fairness/{SHOW}")] {
        let scene = scene();
        let down = &scene.world().functions_are_down;
        down.store(true, Ordering::SeqCst);
        scene.visitor().page(&path).await.expect(200);
    }
}

#[tokio::test]
async fn a_reader_with_a_session_gets_the_page_whose_module_may_find_a_draft() {
    for path in [
        format!("/shows/{SHOW}"),
        format!("/events/{EVENT}"),
        format!("/shows/{SHOW}/seats"),
        format!("/fairness/{SHOW}"),
    ] {
        for (cookie, token, status) in [
            ("onsale_session", "t", 200),
            ("__Host-onsale_session", "t", 200),
            ("onsale_session", "", 404),
            ("onsale_visitor", "t", 404),
        ] {
            let scene = scene();
            nothing_is_there(&scene, 3);
            let mut reader = scene.visitor();
            reader.cookies.insert(cookie.to_owned(), token.to_owned());
            let page = reader.page(&path).await.expect(status);
            assert_eq!(page.text.contains("<script type=\"module\""), status == 200);
        }
    }
}

/// The key in the form of a page.
fn key_of(page: &str) -> &str {
    let key = page.split("name=\"key\" value=\"").nth(1).unwrap();
    key.split('"').next().unwrap()
}

#[tokio::test]
async fn a_link_to_log_in_can_be_used_again_by_the_same_form_when_the_answer_was_lost() {
    let scene = scene();
    let mut ana = scene.visitor();
    let first = ana.page("/log-in/token").await.expect(200).text;
    let other = ana.page("/log-in/token").await.expect(200).text;
    assert_ne!(key_of(&first), key_of(&other));
    let down = &scene.world().functions_are_down;
    down.store(true, Ordering::SeqCst);
    let action = "/api/v1/session-links/token";
    let body = format!("key={}", key_of(&first));
    let lost = ana.form(action, &body).await.expect(503).text;
    assert!(lost.contains(&format!("action=\"{action}\"")), "{lost}");
    assert_eq!(key_of(&lost), key_of(&first));
    down.store(false, Ordering::SeqCst);
    let again = format!("key={}", key_of(&lost));
    ana.form(action, &again).await.expect(303);
    let calls = held(&scene.world().calls_of_functions);
    assert_eq!(calls.len(), 2);
    for call in calls.iter() {
        assert_eq!(call.headers()["idempotency-key"], key_of(&first));
    }
}
