//! An organiser steers the room while people wait in it.

use axum::extract::State;
use onsale_app::shows::{RoomChange, ShowChange};
use onsale_domain::ids::ShowId;
use onsale_domain::room::beacon::BeaconSetting;
use onsale_domain::show::{RoomMode, RoomOrder};
use onsale_domain::time::Millis;
use onsale_http::optional::present;
use onsale_http::room_settings::{BeaconBody, RoomAnswer};
use onsale_http::schemas::{RoomModeText, RoomOrderText, ShowIdText, Timestamp};
use onsale_http::{Api, Json, LoggedIn, Path, Problem, to_the_end};
use serde::Deserialize;
use utoipa::ToSchema;

/// How the room lets people in. What is left out stays as it is, and so does what is
/// `null`, except `opens_at` and `beacon`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RoomControl)]
pub(crate) struct ControlBody {
    #[schema(value_type = RoomModeText)]
    mode: RoomMode,
    #[schema(minimum = 1, maximum = 1_000_000)]
    capacity: u32,
    #[schema(minimum = 1, maximum = 100_000)]
    rate_per_second: u32,
    #[schema(value_type = Option<RoomOrderText>)]
    order: Option<RoomOrder>,
    /// When the lottery opens. `null`: with the sale.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Timestamp>)]
    opens_at: Option<Option<Millis>>,
    #[schema(minimum = 10, maximum = 900)]
    pass_seconds: Option<u32>,
    /// `null`: none.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<BeaconBody>)]
    beacon: Option<Option<BeaconBody>>,
    /// What those who wait read on their page; `null`: nothing.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 200)]
    message: Option<Option<String>>,
}

impl From<ControlBody> for ShowChange {
    fn from(body: ControlBody) -> Self {
        let room = RoomChange {
            mode: Some(body.mode),
            capacity: Some(body.capacity),
            rate_per_second: Some(body.rate_per_second),
            order: body.order,
            opens_at: body.opens_at,
            pass_seconds: body.pass_seconds,
            beacon: body.beacon.map(|beacon| beacon.map(BeaconSetting::from)),
            message: body.message,
        };
        Self {
            room,
            ..Self::default()
        }
    }
}

/// Steer the waiting room of a show
///
/// The room follows within seconds. Once anybody was let in, the opening stays as it was;
/// the value of a beacon stays once it is known.
#[utoipa::path(
    put,
    path = "/api/v1/shows/{show}/room",
    operation_id = "change_room",
    security(("session" = [])),
    params(("show" = ShowIdText, Path)),
    request_body = ControlBody,
    responses(
        (status = 200, description = "The room as it is now", body = RoomAnswer),
        (status = 409, description = "`conflict`: the show is over or cancelled, the beacon is known, or others keep changing the show"),
    )
)]
pub(crate) async fn change(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Path(show): Path<ShowId>,
    Json(body, _): Json<ControlBody>,
) -> Result<axum::Json<RoomAnswer>, Problem> {
    let change = body.into();
    let view = to_the_end(async move { api.app.change_show(&caller, show, &change).await });
    Ok(axum::Json(RoomAnswer::from(&view.await?.show.room)))
}
