//! Events: create, change, read.

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use onsale_app::events::{EventChange, EventShow, EventView, NewEvent};
use onsale_domain::ids::{EventId, ShowId, VenueId};
use onsale_domain::money::Money;
use onsale_domain::show::ShowStatus;
use onsale_domain::time::Millis;
use onsale_http::optional::present;
use onsale_http::schemas::{
    EventIdText, MoneyValue, ShowIdText, StatusText, Timestamp, VenueIdText,
};
use onsale_http::{Api, Json, LoggedIn, MaybeLoggedIn, OptionalKey, Path, Problem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::venues::Location;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewEvent)]
pub(crate) struct EventBody {
    #[schema(min_length = 1, max_length = 200)]
    title: String,
    #[schema(max_length = 10_000)]
    description: Option<String>,
    #[schema(min_length = 1, max_length = 50)]
    category: String,
    #[schema(value_type = VenueIdText)]
    venue_id: VenueId,
    #[schema(pattern = "^https?://", max_length = 2_000)]
    poster_url: Option<String>,
}

impl From<EventBody> for NewEvent {
    fn from(body: EventBody) -> Self {
        Self {
            title: body.title,
            description: body.description,
            category: body.category,
            venue_id: body.venue_id,
            poster_url: body.poster_url,
        }
    }
}

/// What is left out stays as it is; `null` takes the text away.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = EventChange)]
pub(crate) struct EventChangeBody {
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    title: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 10_000)]
    description: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, min_length = 1, max_length = 50)]
    category: Option<String>,
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>, pattern = "^https?://", max_length = 2_000)]
    poster_url: Option<Option<String>>,
}

impl From<EventChangeBody> for EventChange {
    fn from(body: EventChangeBody) -> Self {
        Self {
            title: body.title,
            description: body.description,
            category: body.category,
            poster_url: body.poster_url,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventCreated {
    #[schema(value_type = EventIdText)]
    event_id: EventId,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventShow)]
pub(crate) struct EventShowView {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    #[schema(value_type = Timestamp)]
    starts_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    on_sale_at: Option<Millis>,
    #[schema(value_type = MoneyValue)]
    from_price: Money,
    #[schema(value_type = StatusText)]
    status: ShowStatus,
}

impl From<EventShow> for EventShowView {
    fn from(show: EventShow) -> Self {
        Self {
            show_id: show.summary.id,
            starts_at: show.summary.starts_at,
            on_sale_at: show.summary.on_sale_at,
            from_price: show.summary.from_price,
            status: show.status,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Event)]
pub(crate) struct EventAnswer {
    #[schema(value_type = EventIdText)]
    event_id: EventId,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    description: Option<String>,
    category: String,
    #[schema(value_type = VenueIdText)]
    venue_id: VenueId,
    /// The name of the venue.
    venue: String,
    city: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    address: Option<String>,
    /// The clocks of the venue, by their IANA name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    location: Option<Location>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    poster_url: Option<String>,
    /// `null` when no show is to come.
    #[schema(required, value_type = Option<Timestamp>)]
    next_show_at: Option<Millis>,
    /// The lowest price among the shows that can still be bought, or, without any, among
    /// those that are over or sold out; `null` when there is none.
    #[schema(required, value_type = Option<MoneyValue>)]
    from_price: Option<Money>,
    #[schema(value_type = StatusText)]
    status: ShowStatus,
    /// In the order in which they start.
    shows: Vec<EventShowView>,
}

impl From<EventView> for EventAnswer {
    fn from(view: EventView) -> Self {
        let (event, now) = (view.event, view.now);
        let (address, timezone) = match view.venue {
            Some(venue) => (venue.address, Some(venue.timezone)),
            None => (None, None),
        };
        Self {
            event_id: event.id,
            next_show_at: event.next_show(now).map(|show| show.starts_at),
            from_price: event.from_price(now),
            title: event.title,
            description: event.description,
            category: event.category,
            venue_id: event.venue_id,
            venue: event.venue,
            city: event.city,
            address,
            timezone,
            location: event.location.map(Location::from),
            poster_url: event.poster_url,
            status: view.status,
            shows: view.shows.into_iter().map(EventShowView::from).collect(),
        }
    }
}

/// Create an event
///
/// Nobody else sees it before one of its shows is published.
#[utoipa::path(
    post,
    path = "/api/v1/events",
    operation_id = "create_event",
    security(("session" = [])),
    params(crate::schemas::IdempotencyKey),
    request_body = EventBody,
    responses(
        (status = 201, description = "Created, or created before with this key", body = EventCreated),
        (status = 404, description = "`not_found`: there is no such venue"),
        (status = 422, description = "`idempotency_mismatch`"),
    )
)]
pub(crate) async fn create(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    OptionalKey(key): OptionalKey,
    Json(body, request): Json<EventBody>,
) -> Result<(StatusCode, JsonAnswer<EventCreated>), Problem> {
    let event_id = api
        .app
        .create_event(&caller, body.into(), key.as_ref(), request)
        .await?;
    Ok((StatusCode::CREATED, JsonAnswer(EventCreated { event_id })))
}

/// Change an event
#[utoipa::path(
    patch,
    path = "/api/v1/events/{event}",
    operation_id = "change_event",
    security(("session" = [])),
    params(("event" = EventIdText, Path)),
    request_body = EventChangeBody,
    responses(
        (status = 200, description = "The event as it is now", body = EventAnswer),
        (status = 409, description = "`conflict`: others keep changing it"),
    )
)]
pub(crate) async fn change(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Path(event): Path<EventId>,
    Json(body, _): Json<EventChangeBody>,
) -> Result<JsonAnswer<EventAnswer>, Problem> {
    let view = api.app.change_event(&caller, event, &body.into()).await?;
    Ok(JsonAnswer(view.into()))
}

/// Read an event with its shows
#[utoipa::path(
    get,
    path = "/api/v1/events/{event}",
    operation_id = "read_event",
    security((), ("session" = [])),
    params(("event" = EventIdText, Path)),
    responses((status = 200, description = "The event", body = EventAnswer))
)]
pub(crate) async fn read(
    State(api): State<Api>,
    MaybeLoggedIn(caller): MaybeLoggedIn,
    Path(event): Path<EventId>,
) -> Result<JsonAnswer<EventAnswer>, Problem> {
    let view = api
        .app
        .event(event, caller.map(|caller| caller.account))
        .await?;
    Ok(JsonAnswer(view.into()))
}
