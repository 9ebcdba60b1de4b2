//! Posters over HTTP: who may upload, what is taken, and what everybody gets.

use std::convert::Infallible;

use axum::body::Bytes;
use axum::http::HeaderMap;
use http_body_util::Empty;
use image::codecs::png::PngEncoder;
use image::{ImageFormat, Rgb, RgbImage};
use onsale_domain::event::Event;
use onsale_domain::ids::EventId;
use onsale_domain::poster::MAX_UPLOAD_BYTES;
use tokio::sync::mpsc;

use super::*;

fn png(width: u32, height: u32) -> Vec<u8> {
    let picture = RgbImage::from_pixel(width, height, Rgb([74, 58, 167]));
    let mut file = Vec::new();
    picture
        .write_with_encoder(PngEncoder::new(&mut file))
        .unwrap();
    file
}

struct Sent {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Sent {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn poster_url(&self) -> String {
        assert_eq!(self.status, StatusCode::OK, "{}", self.json());
        self.json()["poster_url"].as_str().unwrap().to_owned()
    }

    fn is_refused(&self, status: StatusCode, code: &str) {
        assert_eq!(self.status, status, "{}", self.json());
        assert_eq!(self.json()["type"], format!("urn:onsale:{code}"));
    }
}

impl Service {
    fn event(&self) -> EventId {
        self.stage.show.event_id
    }

    async fn raw(&self, request: Request<Body>) -> Sent {
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Sent {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    async fn ask(&self, method: &str, path: &str, token: &str, body: Vec<u8>) -> Sent {
        let mut request = Request::builder().method(method).uri(path);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        // What a sender calls a file does not count.
        let request = request.header("content-type", "text/plain");
        self.raw(request.body(Body::from(body)).unwrap()).await
    }

    async fn upload(&self, token: &str, file: Vec<u8>) -> Sent {
        let path = format!("/api/v1/events/{}/poster", self.event());
        self.ask("PUT", &path, token, file).await
    }
}

#[tokio::test]
async fn an_uploaded_poster_is_shown_to_everybody_and_kept_for_ever() {
    let service = Service::new(RoomMode::Off).await;
    let token = service.organiser().await;
    let url = service.upload(&token, png(1_500, 1_000)).await.poster_url();
    let again = service.upload(&token, png(1_500, 1_000)).await.poster_url();
    assert_eq!(url, again);
    let event = service.world.app.store.read::<Event>(service.event()).await;
    let event = event.unwrap().unwrap().value;
    assert_eq!(event.poster_url, Some(url.clone()));

    let sent = service.ask("GET", &url, "", vec![]).await;
    assert_eq!(sent.status, StatusCode::OK);
    for (name, value) in [
        ("content-type", "image/jpeg"),
        ("cache-control", "public, max-age=31536000, immutable"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; sandbox"),
    ] {
        assert_eq!(sent.headers[name], value);
    }
    assert_eq!(image::guess_format(&sent.body).unwrap(), ImageFormat::Jpeg);
    let picture = image::load_from_memory(&sent.body).unwrap();
    assert_eq!((picture.width(), picture.height()), (1_200, 800));
}

#[tokio::test]
async fn nobody_but_the_organiser_of_the_event_uploads_or_removes() {
    let service = Service::new(RoomMode::Off).await;
    let owner = service.organiser().await;
    let other = Stage::set(&service.world.app, &Plan::default()).await;
    let foreign = other.unwrap().organiser().await.unwrap();
    let buyer = service.stage.buyer(1).await.unwrap();
    let url = service.upload(&owner, png(8, 8)).await.poster_url();
    let path = format!("/api/v1/events/{}/poster", service.event());
    for (token, status, code) in [
        (String::new(), StatusCode::UNAUTHORIZED, "unauthenticated"),
        (
            service.token(buyer).await,
            StatusCode::FORBIDDEN,
            "forbidden",
        ),
        (
            service.token(foreign).await,
            StatusCode::FORBIDDEN,
            "forbidden",
        ),
    ] {
        let sent = service.upload(&token, png(9, 9)).await;
        sent.is_refused(status, code);
        let sent = service.ask("DELETE", &path, &token, vec![]).await;
        sent.is_refused(status, code);
    }
    assert_eq!(service.world.objects.keys().len(), 1);
    let sent = service.ask("GET", &url, "", vec![]).await;
    assert_eq!(sent.status, StatusCode::OK);
}

#[tokio::test]
async fn what_is_no_picture_or_too_large_is_refused_and_changes_nothing() {
    let service = Service::new(RoomMode::Off).await;
    let token = service.organiser().await;
    let page = b"<script>alert(1)</script>".to_vec();
    let mut cut_off = png(64, 64);
    cut_off.truncate(60);
    // 30,000 × 30,000: the size stands behind 16 bytes, its checksum behind 29.
    let mut bomb = png(8, 8);
    bomb[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    bomb[29..33].copy_from_slice(&[0xe9, 0x45, 0x6f, 0xed]);
    for (file, reason) in [
        (vec![], "no JPEG, PNG or WebP"),
        (page, "no JPEG, PNG or WebP"),
        (cut_off, "damaged"),
        (bomb, "40 megapixels"),
    ] {
        let sent = service.upload(&token, file).await;
        sent.is_refused(StatusCode::BAD_REQUEST, "invalid_request");
        let detail = sent.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(reason), "{detail}");
    }
    let mut large = png(8, 8);
    large.resize(MAX_UPLOAD_BYTES + 1, 0);
    let sent = service.upload(&token, large.clone()).await;
    sent.is_refused(StatusCode::PAYLOAD_TOO_LARGE, "payload_too_large");
    assert!(service.world.objects.keys().is_empty());

    large.truncate(MAX_UPLOAD_BYTES);
    service.upload(&token, large).await.poster_url();
}

/// A body that says when it is read, and never ends.
fn endless(is_read: mpsc::UnboundedSender<()>) -> Body {
    let end = async move {
        is_read.send(()).unwrap();
        std::future::pending::<Option<Result<HeaderMap, Infallible>>>().await
    };
    Body::new(Empty::<Bytes>::new().with_trailers(end))
}

#[tokio::test]
async fn an_upload_is_refused_before_its_body_is_read_while_eight_others_are_under_way() {
    let service = Service::new(RoomMode::Off).await;
    let token = service.organiser().await;
    let path = format!("/api/v1/events/{}/poster", service.event());
    let (is_read, mut bodies_read) = mpsc::unbounded_channel();
    let endless_upload = || {
        let request = Request::put(&path).header("authorization", format!("Bearer {token}"));
        let request = request.body(endless(is_read.clone())).unwrap();
        service.router.clone().oneshot(request)
    };
    let mut under_way = Vec::new();
    for _ in 0..8 {
        under_way.push(tokio::spawn(endless_upload()));
        bodies_read.recv().await.unwrap();
    }
    let sent = service.upload(&token, png(8, 8)).await;
    sent.is_refused(StatusCode::SERVICE_UNAVAILABLE, "unavailable");
    assert_eq!(sent.headers["retry-after"], "5");
    let refused = endless_upload().await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(bodies_read.is_empty(), "nothing of it was read");

    let gone = under_way.pop().unwrap();
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    service.upload(&token, png(8, 8)).await.poster_url();
}

#[tokio::test]
async fn a_removed_poster_is_gone_and_a_wrong_name_is_not_found() {
    let service = Service::new(RoomMode::Off).await;
    let token = service.organiser().await;
    let url = service.upload(&token, png(8, 8)).await.poster_url();
    let path = format!("/api/v1/events/{}/poster", service.event());
    for _ in 0..2 {
        let sent = service.ask("DELETE", &path, &token, vec![]).await;
        assert_eq!((sent.status, sent.body.len()), (StatusCode::NO_CONTENT, 0));
    }
    let upper = url
        .to_uppercase()
        .replace("/API/V1/EVENTS/", "/api/v1/events/");
    for gone in [
        url.as_str(),
        &upper.replace("/POSTER/", "/poster/"),
        &format!("{path}/x.jpg"),
        &format!("{path}/..%2F..%2Fexports"),
    ] {
        let sent = service.ask("GET", gone, "", vec![]).await;
        sent.is_refused(StatusCode::NOT_FOUND, "not_found");
        assert_eq!(sent.headers["cache-control"], "no-store", "{gone}");
    }
}
