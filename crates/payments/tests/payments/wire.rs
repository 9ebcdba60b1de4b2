//! HTTP/1.1 at its plainest, for servers and clients of tests.

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Reads one message: a request, or a reply, with the body its head announces.
pub async fn read_message(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0u8; 4096];
    loop {
        let read = stream.read(&mut buffer).await.unwrap();
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = header(head, "content-length").unwrap_or("0");
            body.len() >= length.parse().unwrap()
        });
        if whole || read == 0 {
            return text;
        }
    }
}

/// The value of a header, given its name in small letters.
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(": "));
    let mut found = fields.filter(|(known, _)| known.to_ascii_lowercase() == name);
    found.next().map(|(_, value)| value)
}
