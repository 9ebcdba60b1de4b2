//! Verified fans: codes to give away, and registering before the sale.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use onsale_app::Caller;
use onsale_app::ports::Page;
use onsale_domain::account::Email;
use onsale_domain::ids::ShowId;
use onsale_domain::room::fan_code::{FanCode, FanKeys};
use onsale_http::schemas::ShowIdText;
use onsale_http::{
    Api, Code, EmailText, Json, OptionalKey, Organiser, Path, Problem, csv, to_the_end,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Fans in one file: some 6 MB, the most that a function answers.
const MOST_FANS: usize = 100_000;
/// Setting keys up takes a person.
const NO_KEYS_RETRY_S: u64 = 60;

/// Without keys the routes are there and say that nothing is set up.
pub(crate) fn router(keys: Option<FanKeys>) -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(make_codes))
        .routes(routes!(register, list))
        .layer(Extension(Keys(keys.map(Arc::new))))
}

#[derive(Debug, Clone)]
pub(crate) struct Keys(Option<Arc<FanKeys>>);

impl Keys {
    fn configured(self) -> Result<Arc<FanKeys>, Problem> {
        self.0.ok_or_else(|| {
            Problem::new(
                Code::Unavailable,
                "Fan codes are not set up on this server: its operator has to set FAN_KEYS. \
                 Nothing was changed.",
            )
            .retry_after(NO_KEYS_RETRY_S)
        })
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FanCodesRequest {
    #[schema(minimum = 1, maximum = 10_000)]
    count: u32,
}

/// Make fan codes
///
/// Each code lets one person into the room's draw before everybody else. Repeating the
/// request with the same Idempotency-Key gives the same codes again.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/fan-codes",
    operation_id = "make_fan_codes",
    params(("show" = ShowIdText, Path), OptionalKey),
    request_body = FanCodesRequest,
    responses(
        (status = 200, description = "One code a line, below the heading `code`.", content_type = "text/csv", body = String),
        (status = 403, description = "The show belongs to another organiser."),
        (status = 409, description = "The key that signed the codes of this request is gone."),
        (status = 422, description = "A show has at most 1,000,000 codes, or the key came with another request."),
    ),
    security(("session" = [])),
)]
async fn make_codes(
    State(api): State<Api>,
    Extension(keys): Extension<Keys>,
    Organiser(caller): Organiser,
    Path(show): Path<ShowId>,
    OptionalKey(key): OptionalKey,
    Json(request, _): Json<FanCodesRequest>,
) -> Result<Response, Problem> {
    let keys = keys.configured()?;
    let made = to_the_end(async move {
        let (app, key) = (&api.app, key.as_ref());
        app.make_fan_codes(&caller, show, request.count, key, &keys)
            .await
    });
    let codes = made.await?;
    let mut file = csv::row(&["code"]);
    for code in codes {
        file.push_str(&csv::row(&[&code.to_string()]));
    }
    let headers = csv::headers(&format!("fan-codes-{show}.csv"));
    Ok((headers, file).into_response())
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FanRequest {
    email: EmailText,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct FanAnswer {}

/// Register as a fan
///
/// Open to everybody until the room opens. The answer is the same whether or not the
/// address was registered before; the organiser mails the code.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/fans",
    operation_id = "register_fan",
    params(("show" = ShowIdText, Path)),
    request_body = FanRequest,
    responses(
        (status = 202, description = "The address is registered.", body = FanAnswer),
        (status = 409, description = "The room has opened, the show has no opening, or it is cancelled."),
        (status = 422, description = "Half of the 1,000,000 codes of a show are gone; the others are for the organiser."),
    ),
)]
async fn register(
    State(api): State<Api>,
    Extension(keys): Extension<Keys>,
    Path(show): Path<ShowId>,
    Json(request, _): Json<FanRequest>,
) -> Result<(StatusCode, axum::Json<FanAnswer>), Problem> {
    let EmailText(email) = request.email;
    api.limits.fan_registration(&email, api.app.now())?;
    let keys = keys.configured()?;
    to_the_end(async move { api.app.register_fan(show, email, &keys).await }).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(FanAnswer {})))
}

/// List the fans
///
/// Everybody who registered, with their code, in the order of their coming: at most
/// 100,000. For the organiser of the show.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/fans",
    operation_id = "list_fans",
    params(("show" = ShowIdText, Path)),
    responses(
        (status = 200, description = "One fan a line, below the heading `email,code`.", content_type = "text/csv", body = String),
        (status = 403, description = "The show belongs to another organiser."),
        (status = 409, description = "The key that signed some of the codes is gone."),
    ),
    security(("session" = [])),
)]
async fn list(
    State(api): State<Api>,
    Extension(keys): Extension<Keys>,
    Organiser(caller): Organiser,
    Path(show): Path<ShowId>,
) -> Result<Response, Problem> {
    let reader = Reader {
        api,
        caller,
        show,
        keys: keys.configured()?,
    };
    // The first page before the answer begins: until then a refusal can be told.
    let first = reader.page(None).await?;
    let head = csv::row(&["email", "code"]) + &rows(&first.items, MOST_FANS);
    let walk = Walk::after(&first, MOST_FANS);
    let rest = stream::try_unfold((reader, walk), |(reader, walk)| async move {
        let Some(Walk { after, left }) = walk else {
            return Ok::<_, onsale_app::Error>(None);
        };
        let page = reader.page(Some(&after)).await?;
        let next = Walk::after(&page, left);
        Ok(Some((rows(&page.items, left), (reader, next))))
    });
    let head = stream::once(async { Ok(head) });
    let file = Body::from_stream(futures_util::StreamExt::chain(head, rest));
    let headers = csv::headers(&format!("fans-{show}.csv"));
    Ok((headers, file).into_response())
}

struct Reader {
    api: Api,
    caller: Caller,
    show: ShowId,
    keys: Arc<FanKeys>,
}

impl Reader {
    async fn page(&self, after: Option<&str>) -> onsale_app::Result<Page<(Email, FanCode)>> {
        let app = &self.api.app;
        app.fans_with_codes(&self.caller, self.show, after, &self.keys)
            .await
    }
}

/// Where the file goes on, and for how many lines.
struct Walk {
    after: String,
    left: usize,
}

impl Walk {
    fn after<T>(page: &Page<T>, left: usize) -> Option<Self> {
        let left = left.saturating_sub(page.items.len());
        let after = page.next.clone().filter(|_| left > 0)?;
        Some(Self { after, left })
    }
}

fn rows(fans: &[(Email, FanCode)], most: usize) -> String {
    let lines = fans.iter().take(most);
    lines
        .map(|(email, code)| csv::row(&[email.as_str(), &code.to_string()]))
        .collect()
}
