//! Links to objects: embedded, they point here, and are signed and checked as S3 does it.

use std::io::SeekFrom;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use onsale_local_cloud::{LinkError, LocalCloud, StoredObject};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

/// Stands before bucket and key in the path of a link.
pub const PREFIX: &str = "/objects";
/// Read and sent at once.
const PART_BYTES: usize = 1 << 16;

/// Where links point, and what they are signed with.
#[derive(Clone)]
pub struct Links {
    pub origin: String,
    pub secret: String,
}

impl std::fmt::Debug for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Links")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl Links {
    /// The secret lives as long as the process, and so do its links.
    pub fn new(origin: String) -> Result<Self, String> {
        let mut secret = [0u8; 32];
        getrandom::fill(&mut secret).map_err(|e| e.to_string())?;
        Ok(Self {
            origin,
            secret: hex::encode(secret),
        })
    }
}

pub fn router(cloud: LocalCloud, secret: String) -> Router {
    Router::new()
        .route(&format!("{PREFIX}/{{*object}}"), get(download))
        .with_state((cloud, secret))
}

async fn download(
    State((cloud, secret)): State<(LocalCloud, String)>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let refused = |error: LinkError| {
        let status = match error {
            LinkError::Refused | LinkError::Expired => StatusCode::FORBIDDEN,
            LinkError::NoSuchObject => StatusCode::NOT_FOUND,
        };
        (status, error.to_string()).into_response()
    };
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    let Some(target) = target.strip_prefix(PREFIX) else {
        return refused(LinkError::Refused);
    };
    let host = host.unwrap_or_default();
    match cloud.linked_object(PREFIX, target, host, &secret).await {
        Ok(object) => send(&object, &uri).await.unwrap_or_else(|error| {
            tracing::error!(%error, "an object cannot be read");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }),
        Err(error) => refused(error),
    }
}

async fn send(object: &StoredObject, uri: &Uri) -> std::io::Result<Response> {
    let mut file = tokio::fs::File::open(&object.file).await?;
    file.seek(SeekFrom::Start(object.offset)).await?;
    let parts = stream::try_unfold(file.take(object.bytes), |mut file| async move {
        let mut part = vec![0; PART_BYTES];
        let read = file.read(&mut part).await?;
        part.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then_some((part, file)))
    });
    let body = Body::from_stream(parts);
    let kind = object.content_type.as_deref();
    let mut response = Response::builder()
        .header(header::CONTENT_LENGTH, object.bytes)
        .header(
            header::CONTENT_TYPE,
            kind.unwrap_or("application/octet-stream"),
        );
    // Signed with the rest of the link.
    let query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    for (name, value) in query {
        if name == "response-content-disposition" {
            response = response.header(header::CONTENT_DISPOSITION, value.as_ref());
        }
    }
    response.body(body).map_err(std::io::Error::other)
}
