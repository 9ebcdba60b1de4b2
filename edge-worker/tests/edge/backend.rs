//! Functions that fail those who shop: the line rests until they answer again.

use std::sync::atomic::Ordering;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Response, StatusCode};
use onsale_domain::ids::ShowId;
use onsale_domain::room::backend::Calls;
use onsale_domain::room::census::CounterReport;
use onsale_domain::show::RoomMode;
use onsale_edge::EdgeLimits;
use onsale_edge::host::Flush;
use onsale_edge::objects::counter::CounterObject;
use serde_json::json;

use crate::controller::Around;
use crate::scene::{SHOW, Scene, Visitor, held, secrets, settings};

/// A room in which Ana shops, and Ben and Cem wait or may come.
async fn scene() -> Scene {
    let limits = EdgeLimits::off();
    let scene = Scene::with(settings(RoomMode::QueueAll, None), secrets(&[]), limits);
    scene.run(5).await;
    scene
}

async fn inside(scene: &Scene) -> Visitor<'_> {
    let mut visitor = scene.visitor();
    visitor.join().await.expect(201);
    scene.run(8).await;
    visitor.enter().await.expect(200);
    visitor
}

async fn hold(visitor: &mut Visitor<'_>, show: ShowId, times: usize) -> Vec<u16> {
    let mut answers = Vec::new();
    for _ in 0..times {
        let path = format!("/api/v1/shows/{show}/holds");
        answers.push(visitor.post(&path, json!({})).await.status);
    }
    answers
}

fn fail(scene: &Scene, status: StatusCode, times: usize) {
    let mut functions = held(&scene.world().functions);
    functions.extend((0..times).map(|_| {
        let mut answer = Response::new(b"{}".to_vec());
        *answer.status_mut() = status;
        answer
    }));
}

#[tokio::test]
async fn nobody_is_let_in_while_holds_fail_and_the_line_goes_on_afterwards() {
    let scene = scene().await;
    let mut ana = inside(&scene).await;
    let mut ben = scene.visitor();
    ben.join().await.expect(201);
    fail(&scene, StatusCode::SERVICE_UNAVAILABLE, 25);
    assert_eq!(hold(&mut ana, SHOW, 25).await, [503; 25]);
    scene.run(6).await;
    let told = ben.get("status").await.expect(200).json;
    assert_eq!(told["state"], "waiting");
    assert_eq!(told["wait_seconds"], json!(null), "nothing is promised");
    assert_eq!(ben.enter().await.expect(425).json["state"], "waiting");
    // Whoever shops goes on.
    ana.enter().await.expect(200);
    // Those inside still fail now and then, and the line rests.
    fail(&scene, StatusCode::BAD_GATEWAY, 1);
    hold(&mut ana, SHOW, 1).await;
    scene.run(6).await;
    assert_eq!(ben.state().await, "waiting");
    hold(&mut ana, SHOW, 2).await;
    scene.run(2).await;
    assert_eq!(ben.state().await, "admitted");
    ben.enter().await.expect(200);
}

#[tokio::test]
async fn nobody_is_let_in_while_those_who_hold_places_cannot_pay() {
    let scene = scene().await;
    let mut ana = inside(&scene).await;
    let mut ben = scene.visitor();
    ben.join().await.expect(201);
    let hold = format!("/api/v1/shows/{SHOW}/holds/hld_{}", "02".repeat(16));
    // Looking at a hold or giving it back is no sign of how the sale goes.
    fail(&scene, StatusCode::SERVICE_UNAVAILABLE, 60);
    for method in [Method::GET, Method::DELETE] {
        for _ in 0..20 {
            ana.send(method.clone(), &hold, &[], "").await.expect(503);
        }
    }
    scene.run(6).await;
    assert_eq!(ben.state().await, "admitted");
    let mut cem = scene.visitor();
    cem.join().await.expect(201);
    for _ in 0..20 {
        let pay = format!("{hold}/checkout");
        ana.post(&pay, json!({})).await.expect(503);
    }
    scene.run(6).await;
    assert_eq!(cem.state().await, "waiting");
}

#[tokio::test]
async fn when_nobody_calls_any_more_the_next_few_are_let_in_to_see() {
    let scene = scene().await;
    let mut ana = inside(&scene).await;
    let mut ben = scene.visitor();
    ben.join().await.expect(201);
    let down = &scene.world().functions_are_down;
    down.store(true, Ordering::SeqCst);
    assert_eq!(hold(&mut ana, SHOW, 20).await, [503; 20]);
    scene.run(8).await;
    assert_eq!(ben.state().await, "waiting");
    scene.run(4).await;
    assert_eq!(ben.state().await, "admitted");
    ben.enter().await.expect(200);
    let mut cem = scene.visitor();
    cem.join().await.expect(201);
    hold(&mut ben, SHOW, 5).await;
    scene.run(6).await;
    assert_eq!(cem.state().await, "waiting");
}

#[tokio::test]
async fn refusals_are_answers_and_what_strangers_send_tells_nothing() {
    let scene = scene().await;
    let mut ana = inside(&scene).await;
    let mut ben = scene.visitor();
    ben.join().await.expect(201);
    fail(&scene, StatusCode::CONFLICT, 30);
    hold(&mut ana, SHOW, 30).await;
    fail(&scene, StatusCode::INTERNAL_SERVER_ERROR, 60);
    let mut stranger = scene.visitor();
    hold(&mut stranger, SHOW, 20).await;
    stranger.cookies = [("onsale_pass".to_owned(), "e30.e30.e30".to_owned())].into();
    hold(&mut stranger, SHOW, 20).await;
    // A pass of another show is none.
    hold(&mut ana, ShowId::from_bytes([9; 16]), 20).await;
    scene.run(6).await;
    assert_eq!(ben.state().await, "admitted");
}

/// A function URL without an instance left answers 429, and that is no limit of ours.
#[tokio::test]
async fn functions_that_are_throttled_fail() {
    let scene = scene().await;
    let mut ana = inside(&scene).await;
    let mut ben = scene.visitor();
    ben.join().await.expect(201);
    fail(&scene, StatusCode::TOO_MANY_REQUESTS, 20);
    hold(&mut ana, SHOW, 20).await;
    scene.run(6).await;
    assert_eq!(ben.state().await, "waiting");
}

/// Who tries again and again meets a limit, and who sends nonsense is refused before anything
/// is asked of the store: neither shows that holds succeed.
#[tokio::test]
async fn refusals_that_never_ask_the_store_do_not_hide_failures() {
    let scene = scene().await;
    let mut ana = inside(&scene).await;
    let mut ben = scene.visitor();
    ben.join().await.expect(201);
    fail(&scene, StatusCode::SERVICE_UNAVAILABLE, 20);
    hold(&mut ana, SHOW, 20).await;
    fail(&scene, StatusCode::BAD_REQUEST, 40);
    hold(&mut ana, SHOW, 40).await;
    {
        let mut functions = held(&scene.world().functions);
        functions.extend((0..40).map(|_| {
            let mut answer = Response::new(b"{}".to_vec());
            *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            let kind = HeaderValue::from_static("application/problem+json");
            answer.headers_mut().insert(CONTENT_TYPE, kind);
            answer
        }));
    }
    hold(&mut ana, SHOW, 40).await;
    scene.run(6).await;
    assert_eq!(ben.state().await, "waiting");
}

#[tokio::test]
async fn a_counter_tells_of_calls_once_and_stores_none() {
    let around = Around::default();
    let counter = CounterObject::new(SHOW, 3, around.clone(), around.clone());
    let calls = |answered, failed| Calls { answered, failed };
    for calls in [calls(1, 2), calls(4, 0)] {
        let joined = Vec::new();
        counter.add(Flush { joined, calls }).await.unwrap();
    }
    around.0.is_deaf.store(true, Ordering::SeqCst);
    assert!(counter.report().await.is_err());
    around.0.is_deaf.store(false, Ordering::SeqCst);
    counter.report().await.unwrap();
    counter.report().await.unwrap();
    let told = CounterReport {
        counter: 3,
        calls: calls(5, 2),
        ..CounterReport::default()
    };
    assert_eq!(*around.0.reports.lock().unwrap(), [told]);
    assert!(around.0.stored.lock().unwrap().is_empty());
}
