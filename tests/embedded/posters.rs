//! Posters through the edge, on a data folder.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::orders::text;
use crate::sale::Sale;
use crate::server::Server;
use crate::visitor::{Answer, Visitor};

const MAX_BYTES: usize = 4 << 20;
/// Black, one pixel: the smallest PNG there is.
const PIXEL: &[u8] = &[
    0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0,
    0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 12, b'I', b'D', b'A', b'T', 0x78, 0x9c,
    0x63, 0x60, 0x60, 0x60, 0, 0, 0, 4, 0, 1, 0xf6, 0x17, 0x38, 0x55, 0, 0, 0, 0, b'I', b'E', b'N',
    b'D', 0xae, 0x42, 0x60, 0x82,
];

async fn upload(organiser: &Visitor, event: &str, file: Vec<u8>) -> Answer {
    let path = format!("/api/v1/events/{event}/poster");
    let request = organiser.request(Method::PUT, &path);
    let request = request.header("content-type", "image/png").body(file);
    organiser.send(request).await
}

/// The smallest picture, with as many bytes behind its end as make it this long.
fn of_length(bytes: usize) -> Vec<u8> {
    let mut file = PIXEL.to_vec();
    file.resize(bytes, 0);
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poster_is_uploaded_through_the_edge_shown_on_pages_and_outlives_a_restart() {
    let Sale {
        server,
        data,
        organiser,
        event,
        ..
    } = Sale::small(json!({})).await;
    let poster = upload(&organiser, &event, of_length(MAX_BYTES)).await;
    let url = text(&poster.expect(200), "poster_url").to_owned();
    let too_large = upload(&organiser, &event, of_length(MAX_BYTES + 1)).await;
    too_large.problem(413, "payload_too_large");

    let stranger = Visitor::anonymous(&server.url);
    upload(&stranger, &event, PIXEL.to_vec())
        .await
        .problem(401, "unauthenticated");
    let page = stranger.request(Method::GET, &format!("/events/{event}"));
    let page = page.header("accept", "text/html").send().await.unwrap();
    let page = page.text().await.unwrap();
    for part in [
        format!("<img class=\"poster\" src=\"{url}\" alt=\"Poster of "),
        format!(
            "<meta property=\"og:image\" content=\"{}{url}\">",
            server.url
        ),
        format!("\"image\":[\"{}{url}\"]", server.url),
    ] {
        assert!(page.contains(&part), "no {part} in {page}");
    }

    server.kill().await;
    let server = Server::start(data.path()).await;
    let stranger = stranger.at(&server.url);
    let picture = stranger.request(Method::GET, &url).send().await.unwrap();
    assert_eq!(picture.status(), StatusCode::OK);
    let headers = picture.headers().clone();
    assert_eq!(headers["content-type"], "image/jpeg");
    assert_eq!(
        headers["cache-control"],
        "public, max-age=31536000, immutable"
    );
    assert_eq!(headers["x-content-type-options"], "nosniff");
    let picture = picture.bytes().await.unwrap();
    assert_eq!(picture[..3], [0xff, 0xd8, 0xff]);

    let organiser = organiser.at(&server.url);
    let path = format!("/api/v1/events/{event}/poster");
    organiser.delete(&path).await.expect(204);
    stranger.get(&url).await.problem(404, "not_found");
    let event = stranger.get(&format!("/api/v1/events/{event}")).await;
    assert_eq!(event.expect(200).get("poster_url"), None);
}

/// The front page has two dozen posters, and all readers of a house share an address.
#[tokio::test(flavor = "multi_thread")]
async fn fetching_posters_does_not_use_up_what_an_address_may_ask() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with(folder.path(), &[]).await;
    let stranger = Visitor::anonymous(&server.url);
    let list = stranger.get("/api/v1/events?limit=50").await.expect(200);
    let items = list["items"].as_array().unwrap();
    assert_eq!(items.len(), 8);
    for round in 0..20 {
        for item in items {
            let request = stranger.request(Method::GET, text(item, "poster_url"));
            let status = request.send().await.unwrap().status();
            assert_eq!(status, StatusCode::OK, "round {round}");
        }
    }
    let next = stranger.request(Method::GET, "/api/v1/events");
    assert_eq!(stranger.send_once(next).await.status, StatusCode::OK);
}
