//! The CAPTCHA hook against a server that speaks Turnstile's protocol, and one that
//! does not.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use onsale_http::WorkGate;
use onsale_http::captcha::{Captcha, Siteverify, Unavailable};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const SECRET: &str = "0x4AAA_secret";

struct Server {
    captcha: Siteverify,
    asked: Arc<Mutex<Vec<String>>>,
}

/// Gives this answer to everybody; an empty one never comes.
async fn server(answer: &'static str, hostname: Option<&str>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/siteverify", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = asked.clone();
    tokio::spawn(async move {
        let mut silent = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let request = read_request(&mut stream).await;
            seen.lock().unwrap().push(request);
            if answer.is_empty() {
                silent.push(stream);
                continue;
            }
            // The client may hang up in the middle of an answer that is too long.
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    let hostname = hostname.map(str::to_owned);
    let mut captcha = Siteverify::new(SECRET, &url, hostname).unwrap();
    // A short limit only where nothing will come: a busy machine is slow to answer.
    if answer.is_empty() {
        captcha = captcha.with_timeout(Duration::from_millis(300));
    }
    Server { captcha, asked }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0u8; 4096];
    loop {
        let read = stream.read(&mut buffer).await.unwrap();
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let mut lengths = head.lines().filter_map(|line| {
                let (name, value) = line.split_once(": ")?;
                let is_it = name.eq_ignore_ascii_case("content-length");
                is_it.then(|| value.parse::<usize>().unwrap())
            });
            body.len() >= lengths.next().unwrap_or(0)
        });
        if whole || read == 0 {
            return text;
        }
    }
}

impl Server {
    async fn verify(&self, token: &str) -> Result<bool, Unavailable> {
        let ip = Some("203.0.113.7".parse().unwrap());
        self.captcha.verify(token, ip, [0; 16]).await
    }
}

const GOOD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
    {\"success\":true,\"hostname\":\"tickets.example\",\"error-codes\":[]}";
const USED: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\
    {\"success\":false,\"error-codes\":[\"timeout-or-duplicate\"]}";
const REFUSED_AS_400: &str = "HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n\
    {\"success\":false,\"error-codes\":[\"invalid-input-response\"]}";
const WRONG_SECRET: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\
    {\"success\":false,\"error-codes\":[\"invalid-input-secret\"]}";
const DOWN: &str = "HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n<html>";
const CUT_OFF: &str = "HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{\"success\":true";

#[tokio::test]
async fn a_good_token_passes_and_the_question_is_asked_as_documented() {
    let server = server(GOOD, Some("tickets.example")).await;
    assert_eq!(server.verify("tok en").await, Ok(true));
    let asked = server.asked.lock().unwrap();
    let (head, body) = asked[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /siteverify HTTP/1.1"), "{head}");
    assert!(head.contains("application/x-www-form-urlencoded"), "{head}");
    assert_eq!(
        body,
        "secret=0x4AAA_secret&response=tok+en\
         &idempotency_key=00000000-0000-4000-8000-000000000000&remoteip=203.0.113.7"
    );
    assert!(!format!("{:?}", server.captcha).contains(SECRET));
}

#[tokio::test]
async fn a_token_that_is_wrong_used_or_of_another_site_is_refused() {
    for answer in [USED, REFUSED_AS_400] {
        assert_eq!(server(answer, None).await.verify("t").await, Ok(false));
    }
    let elsewhere = server(GOOD, Some("other.example")).await;
    assert_eq!(elsewhere.verify("t").await, Ok(false));
    // Nobody is asked about what cannot be a token.
    let server = server(GOOD, None).await;
    for token in [String::new(), "t".repeat(2_049)] {
        assert_eq!(server.verify(&token).await, Ok(false));
    }
    assert!(server.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn trouble_of_the_service_or_ours_is_not_the_visitors_fault() {
    let long = format!("HTTP/1.1 200 OK\r\n\r\n{}", " ".repeat(64 * 1024));
    let long: &'static str = long.leak();
    for answer in [WRONG_SECRET, DOWN, CUT_OFF, "nonsense", long, ""] {
        let answered = server(answer, None).await.verify("t").await;
        assert_eq!(answered, Err(Unavailable), "{:.60}", answer);
    }
    let nobody = Siteverify::new(SECRET, "http://127.0.0.1:1/", None).unwrap();
    assert_eq!(nobody.verify("t", None, [0; 16]).await, Err(Unavailable));
}

#[test]
fn it_is_off_unless_configured_and_the_secret_needs_tls() {
    let configured = |settings: &'static [(&str, &str)]| {
        Siteverify::configured(move |name| {
            let known = settings.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| (*value).to_owned())
        })
    };
    assert!(configured(&[]).unwrap().is_none());
    assert!(configured(&[("CAPTCHA_SECRET", "")]).unwrap().is_none());
    let usual = configured(&[("CAPTCHA_SECRET", "s")]).unwrap().unwrap();
    assert!(format!("{usual:?}").contains("https://challenges.cloudflare.com/"));
    for url in ["http://captcha.example/", "nonsense", "ftp://127.0.0.1/"] {
        assert!(Siteverify::new(SECRET, url, None).is_err(), "{url}");
    }
    let wrong_keys = WorkGate::configured(|name| (name == "WORK_KEYS").then(|| "short".into()));
    let why = wrong_keys.unwrap_err();
    assert!(
        why.starts_with("WORK_KEYS") && !why.contains("short"),
        "{why}"
    );
}
