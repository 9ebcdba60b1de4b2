//! The live map: a thousand open maps see a hold, and whoever was away catches up.

use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::promise::{PATIENCE, promised};
use crate::sale::Sale;
use crate::server::LOAD;
use crate::visitor::Visitor;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

const WATCHERS: usize = 1_000;

async fn watch(sale: &Sale, since: Option<u64>) -> Socket {
    let host = sale.server.url.strip_prefix("http://").unwrap();
    let since = since.map_or(String::new(), |version| format!("?since={version}"));
    let url = format!("ws://{host}/feed/{}{since}", sale.show);
    connect_async(url).await.unwrap().0
}

async fn next(socket: &mut Socket) -> Value {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            _ => continue,
        }
    }
}

/// The version of the map as it is now.
async fn version(sale: &Sale) -> u64 {
    let path = format!("/api/v1/shows/{}/availability.bin", sale.show);
    let (headers, _) = sale.organiser.bytes(&path).await;
    headers["onsale-version"].to_str().unwrap().parse().unwrap()
}

/// Waits for the message that says that this place has this state.
async fn hears(socket: &mut Socket, place: u64, state: u64) -> u64 {
    loop {
        let message = next(socket).await;
        let changes = message["changes"].as_array().cloned().unwrap_or_default();
        if changes.contains(&json!([place, state])) {
            return message["version"].as_u64().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_open_maps_all_see_a_hold() {
    let _turn = LOAD.lock().await;
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let mut sockets = Vec::new();
    for _ in 0..WATCHERS {
        sockets.push(watch(&sale, None).await);
    }
    for socket in &mut sockets {
        assert_eq!(
            next(socket).await["reset"],
            true,
            "who knows nothing reads the map"
        );
    }
    let held = Instant::now();
    ana.holds(&sale.show, &["A-1-3"]).await;
    let hearing = sockets.iter_mut().map(|socket| hears(socket, 2, 1));
    let heard = futures_util::future::join_all(hearing);
    let heard = tokio::time::timeout(PATIENCE, heard).await.unwrap();
    assert_eq!(heard.len(), WATCHERS);
    let most = Duration::from_secs(2);
    promised("a thousand maps show a hold", held.elapsed(), most);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_was_away_gets_what_they_missed_and_no_more() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let mut first = watch(&sale, Some(version(&sale).await)).await;
    assert!(next(&mut first).await["reset"].is_null());
    ana.holds(&sale.show, &["A-1-1"]).await;
    let known = hears(&mut first, 0, 1).await;
    let mut second = watch(&sale, None).await;
    first.close(None).await.unwrap();
    let hold = ana.holds(&sale.show, &["A-2-1"]).await;
    hears(&mut second, 10, 1).await;
    let mut back = watch(&sale, Some(known)).await;
    let missed = next(&mut back).await;
    assert_eq!(missed["changes"], json!([[10, 1]]), "{missed}");
    ana.delete(&format!("/api/v1/shows/{}/holds/{hold}", sale.show))
        .await
        .expect(204);
    hears(&mut back, 10, 0).await;
    let mut old = watch(&sale, Some(1)).await;
    assert_eq!(next(&mut old).await["reset"], true);
    old.send(Message::Ping("are you there".into()))
        .await
        .unwrap();
}

/// Nobody else watches meanwhile, so that nobody reads the map either.
#[tokio::test(flavor = "multi_thread")]
async fn the_only_watcher_comes_back_and_hears_what_they_missed() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let mut first = watch(&sale, None).await;
    let known = next(&mut first).await["version"].as_u64().unwrap();
    first.close(None).await.unwrap();
    drop(first);
    // Long enough for the feed to notice that nobody is left.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    ana.holds(&sale.show, &["A-1-4"]).await;
    let mut back = watch(&sale, Some(known)).await;
    let welcome = next(&mut back).await;
    assert!(welcome["reset"].is_null(), "{welcome}");
    let heard = welcome["changes"].as_array().unwrap().clone();
    let known = match heard.contains(&json!([3, 1])) {
        true => welcome["version"].as_u64().unwrap(),
        false => hears(&mut back, 3, 1).await,
    };
    back.close(None).await.unwrap();
    drop(back);
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    ana.holds(&sale.show, &["A-1-5"]).await;
    let url = format!("{}/feed/{}", sale.server.url, sale.show);
    let request = reqwest::Client::new()
        .get(url)
        .header("accept", "text/event-stream")
        .header("last-event-id", known.to_string());
    let mut stream = request.send().await.unwrap().bytes_stream();
    let mut text = String::new();
    while !text.contains("[[4,1]]") {
        text += std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap();
        assert!(!text.contains("reset"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_the_map_watches_from_there_though_nobody_watched_before() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let known = version(&sale).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    ana.holds(&sale.show, &["A-1-6"]).await;
    let mut socket = watch(&sale, Some(known)).await;
    let welcome = next(&mut socket).await;
    assert!(welcome["reset"].is_null(), "{welcome}");
    let heard = welcome["changes"].as_array().unwrap().clone();
    if !heard.contains(&json!([5, 1])) {
        hears(&mut socket, 5, 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_with_too_much_to_say_is_let_go() {
    let sale = Sale::small(json!({})).await;
    let mut socket = watch(&sale, None).await;
    next(&mut socket).await;
    socket
        .send(Message::Text("x".repeat(4_096).into()))
        .await
        .unwrap();
    let gone = async {
        loop {
            match socket.next().await {
                None | Some(Err(_) | Ok(Message::Close(_))) => return,
                Some(Ok(_)) => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(5), gone)
        .await
        .expect("nobody listens to that");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_websockets_a_stream_of_events_does() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let url = format!(
        "{}/feed/{}?since={}",
        sale.server.url,
        sale.show,
        version(&sale).await
    );
    let request = reqwest::Client::new()
        .get(url)
        .header("accept", "text/event-stream");
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut stream = response.bytes_stream();
    ana.holds(&sale.show, &["A-1-2"]).await;
    let mut text = String::new();
    while !text.contains("[[1,1]]") {
        text += std::str::from_utf8(&stream.next().await.unwrap().unwrap()).unwrap();
    }
    assert!(
        text.contains("\nid: ") || text.starts_with("id: "),
        "{text}"
    );
    let anybody = Visitor::anonymous(&sale.server.url);
    let feed = format!("/feed/{}", sale.show);
    anybody.get(&feed).await.problem(400, "invalid_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buyer_watches_an_order_until_it_is_confirmed() {
    let sale = Sale::small(json!({})).await;
    let (ana, ben) = (sale.buyer("ana").await, sale.buyer("ben").await);
    let hold = ana.holds(&sale.show, &["A-1-1"]).await;
    let begun = ana
        .check_out(&sale.show, &hold, "pay", "pm_card_visa")
        .await
        .expect(202);
    let path = format!("/feed/orders/{}", begun["order_id"].as_str().unwrap());
    let stream = |who: &Visitor| {
        let request = who.request(reqwest::Method::GET, &path);
        request.header("accept", "text/event-stream").send()
    };
    let told = stream(&ana).await.unwrap().text().await.unwrap();
    assert!(
        told.trim_end().ends_with("\"status\":\"confirmed\"}"),
        "{told}"
    );
    assert_eq!(stream(&ben).await.unwrap().status(), 404);
    let nobody = Visitor::anonymous(&sale.server.url);
    assert_eq!(stream(&nobody).await.unwrap().status(), 401);
}
