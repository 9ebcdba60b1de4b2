//! `/dev/mail`: every mail that was sent, as it would arrive. In the cloud there is no such
//! thing; here nobody has a mailbox, so this is everybody's.
//!
//! Who can reach this port may read all of it, links that set passwords included. So it
//! answers this machine only: both the caller's address and the host that they asked for
//! must be its own, or a page elsewhere could have its name point here and read along.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use mail_parser::{MessageParser, MimeHeaders};
use onsale_domain::time::Millis;
use onsale_local_cloud::{Mailbox, SentMail};
use serde::Deserialize;
use serde_json::{Value, json};

mod page;

const LISTED: usize = 200;

pub fn router(mailbox: Mailbox) -> Router {
    Router::new()
        .route("/dev/mail", get(list))
        .route("/dev/mail/{id}", get(show))
        .route("/dev/mail/{id}/html", get(html_part))
        .route("/dev/mail/{id}/raw", get(raw))
        .route("/dev/mail/{id}/attachments/{nth}", get(attachment))
        .layer(middleware::from_fn(this_machine_only))
        .with_state(mailbox)
}

async fn this_machine_only(request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let is_here = caller.is_some_and(|info| info.0.ip().is_loopback());
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or("");
    if !is_here || !is_this_machine(host) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let set = [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in set {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; \
             base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        ));
    response
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    };
    matches!(name, "127.0.0.1" | "localhost" | "::1")
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(default)]
    to: String,
}

fn wants_json(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok());
    accept.is_some_and(|accept| accept.contains("application/json"))
}

async fn list(
    State(mailbox): State<Mailbox>,
    Query(Wanted { to }): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let wanted = Some(to.trim().to_lowercase()).filter(|to| !to.is_empty());
    let mails = mailbox.newest(wanted, LISTED).await.map_err(failed)?;
    if wants_json(&headers) {
        let items: Vec<_> = mails.iter().map(summary).collect();
        return Ok(Json(json!({ "items": items })).into_response());
    }
    let rows: Vec<_> = mails.iter().map(summary).collect();
    Ok(Html(page::list(&rows, &to)).into_response())
}

async fn show(
    State(mailbox): State<Mailbox>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Response> {
    let mail = details(&find(&mailbox, id).await?);
    Ok(match wants_json(&headers) {
        true => Json(mail).into_response(),
        false => Html(page::mail(&mail)).into_response(),
    })
}

/// The HTML of a mail, which may be anybody's: it runs nothing and loads nothing.
async fn html_part(
    State(mailbox): State<Mailbox>,
    Path(id): Path<String>,
) -> Result<Response, Response> {
    let mail = details(&find(&mailbox, id).await?);
    let policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                  frame-ancestors 'self'";
    let html = mail["html"].as_str().unwrap_or_default().to_owned();
    Ok(([(header::CONTENT_SECURITY_POLICY, policy)], Html(html)).into_response())
}

async fn raw(State(mailbox): State<Mailbox>, Path(id): Path<String>) -> Result<Response, Response> {
    let mail = find(&mailbox, id).await?;
    let kind = [(header::CONTENT_TYPE, "text/plain; charset=us-ascii")];
    Ok((kind, mail.raw).into_response())
}

async fn attachment(
    State(mailbox): State<Mailbox>,
    Path((id, nth)): Path<(String, u32)>,
) -> Result<Response, Response> {
    let mail = find(&mailbox, id).await?;
    let read = MessageParser::default().parse(&mail.raw);
    let part = read.as_ref().and_then(|read| read.attachment(nth));
    let part = part.ok_or_else(|| StatusCode::NOT_FOUND.into_response())?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = part.attachment_name().unwrap_or("attachment");
    let name: String = name.chars().filter(|c| plain(*c)).collect();
    // A page that calls itself an attachment must not run here.
    let kind = match content_type(part).as_str() {
        "application/pdf" => "application/pdf",
        _ => "application/octet-stream",
    };
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((headers, part.contents().to_vec()).into_response())
}

async fn find(mailbox: &Mailbox, id: String) -> Result<SentMail, Response> {
    let mail = mailbox.mail(id).await.map_err(failed)?;
    mail.ok_or_else(|| StatusCode::NOT_FOUND.into_response())
}

fn failed(error: onsale_local_cloud::MailboxError) -> Response {
    tracing::error!(%error, "the inbox cannot be read");
    StatusCode::SERVICE_UNAVAILABLE.into_response()
}

fn content_type(part: &mail_parser::MessagePart<'_>) -> String {
    let kind = part.content_type();
    let text = |kind: &mail_parser::ContentType<'_>| match kind.subtype() {
        Some(subtype) => format!("{}/{subtype}", kind.ctype()),
        None => kind.ctype().to_owned(),
    };
    kind.map_or_else(|| "application/octet-stream".to_owned(), text)
}

fn summary(mail: &SentMail) -> Value {
    let read = MessageParser::default().parse_headers(&mail.raw);
    let subject = read.as_ref().and_then(|read| read.subject());
    json!({
        "id": mail.id,
        "to": mail.recipient,
        "from": mail.sender,
        "subject": subject.unwrap_or_default(),
        "at": Millis(mail.at_ms).to_string(),
    })
}

fn details(mail: &SentMail) -> Value {
    let mut shown = summary(mail);
    let Some(read) = MessageParser::default().parse(&mail.raw) else {
        return shown;
    };
    let headers = read.headers_raw();
    let headers: Vec<_> = headers
        .map(|(name, value)| json!([name, value.trim()]))
        .collect();
    let attachments = read.attachments().enumerate().map(|(nth, part)| {
        json!({
            "name": part.attachment_name().unwrap_or("attachment"),
            "content_type": content_type(part),
            "bytes": part.contents().len(),
            "href": format!("/dev/mail/{}/attachments/{nth}", mail.id),
        })
    });
    let attachments: Vec<_> = attachments.collect();
    let text = read.body_text(0).unwrap_or_default().replace("\r\n", "\n");
    shown["headers"] = json!(headers);
    shown["links"] = json!(links(&text));
    shown["text"] = json!(text);
    shown["html"] = json!(read.body_html(0).unwrap_or_default());
    shown["attachments"] = json!(attachments);
    shown
}

/// The addresses in a text, each on a line of its own.
fn links(text: &str) -> Vec<&str> {
    let is_link = |line: &&str| line.starts_with("http://") || line.starts_with("https://");
    text.lines().filter(is_link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_answered() {
        for good in ["127.0.0.1:8787", "localhost", "[::1]:8787", "localhost:1"] {
            assert!(is_this_machine(good), "{good}");
        }
        for wrong in [
            "",
            "onsale.example",
            "127.0.0.1.evil.example:8787",
            "10.0.0.1",
        ] {
            assert!(!is_this_machine(wrong), "{wrong}");
        }
    }
}
