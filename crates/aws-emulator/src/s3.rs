//! The part of S3 that Onsale uses: put with conditions, get, delete and list, in S3's own protocol,
//! with the bucket as the first part of the path.

use std::io::{self, Read, Write};
use std::sync::Arc;

use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use http_body_util::BodyExt;
use onsale_local_cloud::{ObjectStore, Precondition, Put, percent_decoded};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Objects of one answer to a list.
const LIST_PAGE: usize = 1_000;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ObjectName {
    pub(crate) bucket: String,
    pub(crate) key: String,
}

/// What a path names; the key is empty for the bucket itself.
pub(crate) fn object_name(path: &str) -> Option<ObjectName> {
    let path = path.trim_start_matches('/');
    let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
    Some(ObjectName {
        bucket: percent_decoded(bucket).filter(|bucket| !bucket.is_empty())?,
        key: percent_decoded(key)?,
    })
}

/// An answer that is not 2xx, with S3's code.
struct Refusal(u16, &'static str, String);

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        tracing::error!(%error, "the object storage failed");
        Self(500, "InternalError", error.to_string())
    }
}

impl Refusal {
    fn no_such_key() -> Self {
        Self(404, "NoSuchKey", "The specified key does not exist.".into())
    }

    fn into_response(self) -> Result<HttpResponse, ConnectorError> {
        let Self(status, code, message) = self;
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{code}</Code><Message>{}</Message></Error>",
            escaped(&message)
        );
        response(status, SdkBody::from(body), &[])
    }
}

fn response(
    status: u16,
    body: SdkBody,
    headers: &[(&'static str, String)],
) -> Result<HttpResponse, ConnectorError> {
    let status = StatusCode::try_from(status).map_err(|e| ConnectorError::other(e.into(), None))?;
    let mut response = HttpResponse::new(status, body);
    for (name, value) in headers {
        response.headers_mut().insert(*name, value.clone());
    }
    Ok(response)
}

pub(crate) async fn answer(
    objects: &Arc<ObjectStore>,
    request: HttpRequest,
) -> Result<HttpResponse, ConnectorError> {
    match dispatch(objects, request).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    }
}

type Answer = Result<Result<HttpResponse, ConnectorError>, Refusal>;

async fn dispatch(objects: &Arc<ObjectStore>, request: HttpRequest) -> Answer {
    let target = request.uri().to_owned();
    let path_and_query = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => target.as_str(),
    };
    let (path, query) = path_and_query
        .split_once('?')
        .unwrap_or((path_and_query, ""));
    let refused = || {
        Refusal(
            400,
            "InvalidURI",
            "Couldn't parse the specified URI.".into(),
        )
    };
    let name = object_name(path).ok_or_else(refused)?;
    if !objects.has_bucket(&name.bucket) {
        let message = "The specified bucket does not exist".into();
        return Err(Refusal(404, "NoSuchBucket", message));
    }
    match (request.method(), name.key.is_empty()) {
        ("PUT", false) => put(objects, &name, request).await,
        ("GET", false) => get(objects, &name, &request).await,
        ("DELETE", false) => {
            objects.delete(&name.bucket, &name.key).await?;
            Ok(response(204, SdkBody::empty(), &[]))
        }
        ("GET", true) => list(objects, &name.bucket, query).await,
        (method, _) => Err(Refusal(
            501,
            "NotImplemented",
            format!("the emulated objects do not offer {method} {path_and_query}"),
        )),
    }
}

async fn put(objects: &Arc<ObjectStore>, name: &ObjectName, request: HttpRequest) -> Answer {
    let header = |name: &str| request.headers().get(name).map(str::to_owned);
    let precondition = match (header("if-none-match"), header("if-match")) {
        (Some(any), None) if any == "*" => Precondition::Absent,
        (None, Some(tag)) => Precondition::Tag(tag),
        (None, None) => Precondition::None,
        _ => {
            let message = "these preconditions are not offered".into();
            return Err(Refusal(501, "NotImplemented", message));
        }
    };
    if header("content-encoding").is_some_and(|encoding| encoding.contains("aws-chunked")) {
        let message = "the emulated objects take no chunked bodies".into();
        return Err(Refusal(501, "NotImplemented", message));
    }
    let mut incoming = objects.begin(header("content-type"))?;
    let mut body = request.into_body();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|e| Refusal(400, "IncompleteBody", e.to_string()))?;
        if let Some(bytes) = frame.data_ref() {
            incoming.write_all(bytes)?;
        }
    }
    let put = objects.finish(incoming, &name.bucket, &name.key, precondition);
    match put.await? {
        Put::Done(etag) => Ok(response(200, SdkBody::empty(), &[("etag", etag)])),
        Put::Missing => Err(Refusal::no_such_key()),
        Put::PreconditionFailed => Err(Refusal(
            412,
            "PreconditionFailed",
            "At least one of the pre-conditions you specified did not hold".into(),
        )),
    }
}

async fn get(objects: &Arc<ObjectStore>, name: &ObjectName, request: &HttpRequest) -> Answer {
    let found = objects.find(&name.bucket, &name.key).await?;
    let mut object = found.ok_or_else(Refusal::no_such_key)?;
    let mut headers = vec![("etag", object.tag.clone())];
    if request.headers().get("if-none-match") == Some(object.tag.as_str()) {
        return Ok(response(304, SdkBody::empty(), &headers));
    }
    headers.push(("content-length", object.bytes.to_string()));
    headers.extend(object.content_type.map(|kind| ("content-type", kind)));
    let mut body = Vec::new();
    object.file.read_to_end(&mut body)?;
    Ok(response(200, SdkBody::from(body), &headers))
}

async fn list(objects: &Arc<ObjectStore>, bucket: &str, query: &str) -> Answer {
    let value = |wanted: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.find(|(name, _)| *name == wanted)?;
        percent_decoded(value)
    };
    if value("list-type").as_deref() != Some("2") {
        let message = "only the second version of a list is offered".into();
        return Err(Refusal(501, "NotImplemented", message));
    }
    let prefix = value("prefix").unwrap_or_default();
    let found = objects
        .list(bucket, prefix, value("start-after"), LIST_PAGE + 1)
        .await?;
    let more = found.len() > LIST_PAGE;
    let mut body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult><IsTruncated>{more}</IsTruncated>"
    );
    for (key, modified_ms) in found.iter().take(LIST_PAGE) {
        let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(*modified_ms) * 1_000_000);
        let at = at.ok().and_then(|at| at.format(&Rfc3339).ok());
        body += &format!(
            "<Contents><Key>{}</Key><LastModified>{}</LastModified></Contents>",
            escaped(key),
            at.unwrap_or_default(),
        );
    }
    body += "</ListBucketResult>";
    Ok(response(
        200,
        SdkBody::from(body),
        &[("content-type", "application/xml".to_owned())],
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
