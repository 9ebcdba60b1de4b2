//! Verified fans: codes to give away, and registering before the sale.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use onsale_domain::ids::ShowId;
use onsale_domain::room::fan_code::FanKeys;
use onsale_http::schemas::ShowIdText;
use onsale_http::{
    Api, Code, Cursor, EmailText, Json, OptionalKey, Organiser, Path, Problem, Query, csv,
    to_the_end,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// A file ends with the read that fills it. A function answers 6 MB at most, of which the
/// last read takes 0.3 (1,000 lines of 300 bytes) and the line ends, counted twice, 0.1.
const FULL_BYTES: usize = 5_000_000;
const NEXT_CURSOR: HeaderName = HeaderName::from_static("onsale-next-cursor");
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
/// address was registered before; the organiser mails the code. A key is accepted and not
/// remembered: nothing but the address is kept for strangers, and it is registered once.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/fans",
    operation_id = "register_fan",
    params(("show" = ShowIdText, Path), OptionalKey),
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
    OptionalKey(_): OptionalKey,
    Json(request, _): Json<FanRequest>,
) -> Result<(StatusCode, axum::Json<FanAnswer>), Problem> {
    let EmailText(email) = request.email;
    api.limits.fan_registration(&email, api.app.now())?;
    let keys = keys.configured()?;
    to_the_end(async move { api.app.register_fan(show, email, &keys).await }).await?;
    Ok((StatusCode::ACCEPTED, axum::Json(FanAnswer {})))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FansQuery {
    /// The `Onsale-Next-Cursor` of the file before.
    #[param(inline)]
    cursor: Option<Cursor>,
}

/// List the fans
///
/// Everybody who registered, with their code, in the order of their coming. A file has some
/// 5 MB; what does not fit is in the next one. For the organiser of the show.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/fans",
    operation_id = "list_fans",
    params(("show" = ShowIdText, Path), FansQuery),
    responses(
        (status = 200, description = "One fan a line, below the heading `email,code`.", content_type = "text/csv", body = String, headers(
            ("Onsale-Next-Cursor" = String, description = "Pass it as `cursor` to get the next file. Absent on the last one.")
        )),
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
    Query(query): Query<FansQuery>,
) -> Result<Response, Problem> {
    let keys = keys.configured()?;
    let fans = api.app.begin_fan_list(&caller, show).await?;
    let mut file = csv::row(&["email", "code"]);
    let mut after = query.cursor.map(|Cursor(place)| place);
    loop {
        let reading = api.app.fans_with_codes(&fans, after.as_deref(), &keys);
        let page = reading.await?;
        for (email, code) in &page.items {
            file.push_str(&csv::row(&[email.as_str(), &code.to_string()]));
        }
        after = page.next;
        if after.is_none() || file.len() >= FULL_BYTES {
            break;
        }
    }
    let headers = csv::headers(&format!("fans-{show}.csv"));
    let next = after.map(|place| [(NEXT_CURSOR, Cursor::encoded(place))]);
    Ok((headers, next, file).into_response())
}
