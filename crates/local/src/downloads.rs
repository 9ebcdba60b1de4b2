//! Links to objects: embedded, they point here.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use onsale_local_cloud::{Download, LinkError, LocalObjects};
use tokio::io::AsyncReadExt;

/// Stands before the key in the path of a link.
const PREFIX: &str = "/objects";
/// Read and sent at once.
const PART_BYTES: usize = 1 << 16;

/// Where links point, and what they are signed with.
#[derive(Clone)]
pub struct Links {
    pub origin: String,
    secret: [u8; 32],
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
        Ok(Self { origin, secret })
    }

    /// Those that lead to objects.
    pub fn of_objects(&self) -> onsale_local_cloud::Links {
        onsale_local_cloud::Links::new(format!("{}{PREFIX}", self.origin), self.secret)
    }
}

pub fn router(objects: LocalObjects) -> Router {
    Router::new()
        .route(&format!("{PREFIX}/{{*object}}"), get(download))
        .with_state(objects)
}

async fn download(State(objects): State<LocalObjects>, uri: Uri) -> Response {
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    let target = target.strip_prefix(PREFIX).unwrap_or_default();
    let download = match objects.linked(target).await {
        Ok(download) => download,
        Err(error) => return refused(error),
    };
    send(download).unwrap_or_else(|error| {
        tracing::error!(%error, "an object cannot be sent");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    })
}

fn refused(error: LinkError) -> Response {
    let status = match error {
        LinkError::Refused | LinkError::Expired => StatusCode::FORBIDDEN,
        LinkError::NoSuchObject => StatusCode::NOT_FOUND,
    };
    (status, error.to_string()).into_response()
}

fn send(Download { object, file_name }: Download) -> Result<Response, axum::http::Error> {
    let file = tokio::fs::File::from_std(object.file);
    let parts = stream::try_unfold(file.take(object.bytes), |mut file| async move {
        let mut part = vec![0; PART_BYTES];
        let read = file.read(&mut part).await?;
        part.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then_some((part, file)))
    });
    let kind = object.content_type.as_deref();
    let disposition = format!("attachment; filename=\"{file_name}\"");
    Response::builder()
        .header(header::CONTENT_LENGTH, object.bytes)
        .header(
            header::CONTENT_TYPE,
            kind.unwrap_or("application/octet-stream"),
        )
        .header(header::CONTENT_DISPOSITION, disposition)
        .body(Body::from_stream(parts))
}
