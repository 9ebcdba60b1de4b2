//! Streams of orders and sales: how often a function is asked for them.

use http::{HeaderMap, Request, Response, Uri};
use onsale_domain::ids::{OrderId, ShowId};
use onsale_domain::show::RoomMode;
use onsale_edge::watching::{Subject, Watch, Watcher};
use onsale_edge::{EdgeLimits, Reply};

use crate::scene::{SHOW, Scene, held, secrets, settings};

const ORDER: Subject = Subject::Order(OrderId::from_bytes([4; 16]));
const SALES: Subject = Subject::Sales(ShowId::from_bytes([1; 16]));

fn answers(scene: &Scene, answer: Response<Vec<u8>>) {
    held(&scene.world().functions).push_back(answer);
}

fn json(text: &str) -> Response<Vec<u8>> {
    Response::new(text.as_bytes().to_vec())
}

async fn watched(scene: &Scene, subject: Subject) -> Watch {
    answers(scene, json(r#"{"status":"pending"}"#));
    let watcher = Watcher::of(&Uri::from_static("/feed"), &HeaderMap::new());
    watcher.watch(&scene.host, subject).await.unwrap()
}

/// How many questions a stream asks in its first minute, and in all, when nothing changes.
async fn questions(subject: Subject) -> (u32, u32) {
    let scene = Scene::new(settings(RoomMode::Queue, None));
    let mut watch = watched(&scene, subject).await;
    let (mut age_ms, mut early, mut all) = (0, 0, 0);
    while !watch.is_over() {
        age_ms += watch.pause_ms();
        answers(&scene, json(r#"{"status":"pending"}"#));
        watch.next(&scene.host).await;
        all += 1;
        early += u32::from(age_ms <= 60_000);
    }
    assert!(age_ms >= 600_000);
    (early, all)
}

#[tokio::test]
async fn a_stream_leaves_its_owner_most_of_their_hundred_requests_a_minute() {
    let (early, all) = questions(SALES).await;
    assert!(early <= 20 && all <= 130, "{early}, {all}");
    let (early, all) = questions(ORDER).await;
    assert!(early <= 30 && all <= 220, "{early}, {all}");
}

#[tokio::test]
async fn a_change_is_told_and_a_function_that_has_enough_is_left_alone_for_as_long_as_it_says() {
    let scene = Scene::new(settings(RoomMode::Queue, None));
    let mut watch = watched(&scene, ORDER).await;
    assert_eq!(watch.pause_ms(), 1_000);
    let refused = Response::builder().status(429).header("retry-after", "7");
    answers(&scene, refused.body(Vec::new()).unwrap());
    assert_eq!(watch.next(&scene.host).await, None);
    assert_eq!(watch.pause_ms(), 7_000);
    answers(&scene, json(r#"{"status":"confirmed"}"#));
    let told = watch.next(&scene.host).await.unwrap();
    assert!(told.contains("confirmed"), "{told}");
    assert!(watch.is_over());
}

#[tokio::test]
async fn an_address_opens_a_limited_number_of_streams() {
    let limits = EdgeLimits::new(1_000);
    let scene = Scene::with(settings(RoomMode::Queue, None), secrets(&[]), limits);
    let open = async |address: &str| {
        let request = Request::get(format!("/feed/{SHOW}/sales"));
        let request = request.body(Vec::new()).unwrap();
        match scene.edge.handle(&scene.host, request, address).await {
            Reply::Answer(answer) => answer.status().as_u16(),
            Reply::Watch(..) => 200,
            Reply::Feed(_) => panic!("this is no map"),
        }
    };
    for _ in 0..30 {
        assert_eq!(open("192.0.2.1").await, 200);
    }
    assert_eq!(open("192.0.2.1").await, 429);
    assert_eq!(open("192.0.2.2").await, 200);
}
