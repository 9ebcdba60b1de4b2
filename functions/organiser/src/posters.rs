//! Posters: uploaded by the organiser, encoded again, and shown to everybody.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::IntoResponse;
use onsale_domain::ids::EventId;
use onsale_domain::poster::{MAX_UPLOAD_BYTES, PosterName};
use onsale_http::schemas::EventIdText;
use onsale_http::{Api, Code, Organiser, Path, Problem, json, to_the_end};
use onsale_posters::Refused;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use utoipa::ToSchema;

/// A large picture takes half a gigabyte while it is decoded, so a process has one at a time.
const AT_ONCE: usize = 1;
/// Seven uploads that wait have 28 MiB of files at most.
const AT_ONCE_AND_WAITING: usize = 7 + AT_ONCE;

static DECODING: Semaphore = Semaphore::const_new(AT_ONCE);
const BUSY: &str = "Other posters are being uploaded. Nothing was changed. Try again.";
const RETRY_S: u64 = 5;
/// The name follows from the content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// A browser that opens the picture by itself runs nothing and loads nothing.
const NOTHING_ELSE: &str = "default-src 'none'; sandbox";

/// Uploads whose bodies are read: one of them is decoded, the others wait for it.
#[derive(Debug, Clone)]
pub(crate) struct Uploads(Arc<Semaphore>);

impl Default for Uploads {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE_AND_WAITING)))
    }
}

impl Uploads {
    /// Admits an upload, which ends when the permit is dropped.
    fn admit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let admitted = self.0.clone().try_acquire_owned();
        admitted.map_err(|_| Problem::unavailable_detail(BUSY).retry_after(RETRY_S))
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PosterAnswer {
    /// Its address on the origin of this API.
    #[schema(examples(
        "/api/v1/events/evt_0192f3a04b5c7d8e9f00112233445566/poster/0f1e2d3c4b5a69788796a5b4c3d2e1f0.jpg"
    ))]
    poster_url: String,
}

/// Upload the poster of an event
///
/// A JPEG, PNG or WebP picture of at most 4 MiB and 40 megapixels, recognised by its bytes.
/// It is turned upright, made smaller where a side is longer than 1,200 pixels, and encoded
/// again as JPEG: nothing but the picture is kept. The same file has the same address. For
/// the organiser of the event.
#[utoipa::path(
    put,
    path = "/api/v1/events/{event}/poster",
    operation_id = "upload_poster",
    security(("session" = [])),
    params(("event" = EventIdText, Path)),
    request_body(
        content(
            ("image/jpeg"),
            ("image/png"),
            ("image/webp"),
        )
    ),
    responses(
        (status = 200, description = "This is the poster now.", body = PosterAnswer),
        (status = 400, description = "`invalid_request`: no such picture, a damaged one, or one with too many pixels."),
        (status = 403, description = "`forbidden`: the event belongs to another organiser."),
        (status = 409, description = "`conflict`: others change the event at the same time."),
    )
)]
pub(crate) async fn upload(
    State(api): State<Api>,
    Extension(uploads): Extension<Uploads>,
    Organiser(caller): Organiser,
    Path(event): Path<EventId>,
    request: Request,
) -> Result<axum::Json<PosterAnswer>, Problem> {
    api.app.check_may_change_poster(&caller, event).await?;
    let _admitted = uploads.admit()?;
    let (parts, body) = request.into_parts();
    let file = json::bytes(&parts.headers, body, MAX_UPLOAD_BYTES).await?;
    let jpeg = encoded_again(file).await?;
    let app = api.app.clone();
    let set = to_the_end(async move { app.set_poster(&caller, event, jpeg).await });
    let poster_url = set.await?;
    Ok(axum::Json(PosterAnswer { poster_url }))
}

async fn encoded_again(file: Vec<u8>) -> Result<Vec<u8>, Problem> {
    let turn = DECODING.acquire().await.map_err(|_| Problem::internal())?;
    let encoding = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        onsale_posters::encoded_again(&file)
    });
    match encoding.await {
        Ok(encoded) => encoded.map_err(problem),
        Err(_) => {
            tracing::error!("a picture made its decoder panic");
            Err(problem(Refused::Broken))
        }
    }
}

fn problem(refused: Refused) -> Problem {
    let code = match refused {
        Refused::TooManyBytes => Code::PayloadTooLarge,
        Refused::UnknownFormat | Refused::TooManyPixels | Refused::Broken => Code::InvalidRequest,
    };
    Problem::new(code, format!("This cannot be a poster: {refused}."))
}

/// Take the poster of an event away
///
/// Every picture that was uploaded for this event is deleted; copies that browsers keep
/// live on there. Pages show a poster made of the title. For the organiser of the event.
#[utoipa::path(
    delete,
    path = "/api/v1/events/{event}/poster",
    operation_id = "remove_poster",
    security(("session" = [])),
    params(("event" = EventIdText, Path)),
    responses(
        (status = 204, description = "The event has no poster."),
        (status = 403, description = "`forbidden`: the event belongs to another organiser."),
        (status = 409, description = "`conflict`: others change the event at the same time."),
    )
)]
pub(crate) async fn remove(
    State(api): State<Api>,
    Organiser(caller): Organiser,
    Path(event): Path<EventId>,
) -> Result<StatusCode, Problem> {
    to_the_end(async move { api.app.remove_poster(&caller, event).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Fetch a poster
///
/// Its address is the `poster_url` of an event, and always shows the same picture.
#[utoipa::path(
    get,
    path = "/api/v1/events/{event}/poster/{poster}",
    operation_id = "read_poster",
    params(
        ("event" = EventIdText, Path),
        ("poster" = String, Path, pattern = "^[0-9a-f]{32}[.]jpg$", description = "The name of the picture."),
    ),
    responses(
        (status = 200, description = "The picture", content_type = "image/jpeg"),
    )
)]
pub(crate) async fn read(
    State(api): State<Api>,
    Path((event, poster)): Path<(EventId, PosterName)>,
) -> Result<impl IntoResponse, Problem> {
    let jpeg = api.app.poster(event, poster).await?;
    let headers = [
        (CONTENT_TYPE, "image/jpeg"),
        (CACHE_CONTROL, FOR_EVER),
        (CONTENT_SECURITY_POLICY, NOTHING_ELSE),
    ];
    Ok((headers, jpeg))
}
