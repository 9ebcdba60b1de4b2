//! A server that gives the answers it was told to, one per request, and remembers what
//! it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onsale_payments::{Stripe, StripeConfig};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::wire::read_message;

pub const KEY: &str = "sk_test_never_shown";

pub enum Reply {
    Json(u16, String),
    /// The answer that this key was given before.
    Again(u16, String),
    /// Whatever else may come over the wire.
    Raw(Vec<u8>),
    /// The connection stays open, and nothing comes.
    Never,
}

pub struct Server {
    pub stripe: Stripe,
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers in this order; afterwards it closes every connection.
    pub async fn with(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut config = StripeConfig::new(KEY);
        config.api_url = format!("http://{}/", listener.local_addr().unwrap());
        // A short limit only where nothing will come: a busy machine is slow to answer.
        if replies.iter().any(|reply| matches!(reply, Reply::Never)) {
            config.timeout = Duration::from_millis(300);
        }
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut replies = VecDeque::from(replies);
            let mut silent = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let request = read_message(&mut stream).await;
                seen.lock().unwrap().push(request);
                match replies.pop_front() {
                    Some(Reply::Json(status, body)) => {
                        send(&mut stream, &json(status, "", &body)).await
                    }
                    Some(Reply::Again(status, body)) => {
                        let replayed = "\r\nidempotent-replayed: true";
                        send(&mut stream, &json(status, replayed, &body)).await
                    }
                    Some(Reply::Raw(bytes)) => send(&mut stream, &bytes).await,
                    Some(Reply::Never) => silent.push(stream),
                    None => {}
                }
            }
        });
        let stripe = Stripe::new(&config).unwrap();
        let url = config.api_url;
        Self { stripe, url, asked }
    }

    /// Every request: its line, its headers and its body.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub fn lines(&self) -> Vec<String> {
        let line = |request: &String| request.lines().next().unwrap().to_owned();
        self.asked().iter().map(line).collect()
    }
}

async fn send(stream: &mut TcpStream, bytes: &[u8]) {
    // The client may hang up in the middle, as it does with a reply that is too large.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
}

fn json(status: u16, more: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = "content-type: application/json\r\nconnection: close";
    format!("HTTP/1.1 {status} X\r\n{head}{more}\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}
