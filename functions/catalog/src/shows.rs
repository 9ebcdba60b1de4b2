//! Shows: create, change, read.

use std::collections::BTreeMap;

use axum::Json as JsonAnswer;
use axum::extract::State;
use axum::http::StatusCode;
use onsale_app::shows::{EventCard, NewShow, RoomChange, ShowChange, ShowView};
use onsale_domain::ids::{AccountId, EventId, ShowId, VenueId};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::show::{RefundStep, ShowStatus};
use onsale_domain::time::Millis;
use onsale_domain::venue::Venue;
use onsale_http::optional::present;
use onsale_http::room_settings::{RoomAnswer, RoomBody};
use onsale_http::schemas::{
    EventIdText, MoneyValue, RefundStepValue, ShowIdText, StatusText, Timestamp, VenueIdText,
};
use onsale_http::{Api, Json, LoggedIn, MaybeLoggedIn, OptionalKey, Path, Problem, Query};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::pricing::PricingAnswer;
use crate::schemas::Amount;

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewShow)]
pub(crate) struct ShowBody {
    /// In the future, at most a hundred years ahead.
    #[schema(value_type = Timestamp)]
    starts_at: Millis,
    /// When holds begin; at once unless told.
    #[schema(value_type = Option<Timestamp>)]
    on_sale_at: Option<Millis>,
    /// ISO 4217.
    #[schema(value_type = String, pattern = "^[A-Z]{3}$", example = "EUR")]
    currency: Currency,
    /// The price of a place, for every section of the venue.
    #[schema(value_type = BTreeMap<String, Amount>)]
    prices: BTreeMap<String, Cents>,
    #[schema(minimum = 2, maximum = 900, default = 600)]
    hold_seconds: Option<u32>,
    #[schema(minimum = 1, maximum = 50, default = 6)]
    max_tickets_per_buyer: Option<u32>,
    /// In any order; each `hours_before` once, and never more percent the nearer the show
    /// is. Without a step nothing is given back.
    #[schema(max_items = 10)]
    refund_policy: Option<Vec<RefundStepValue>>,
    room: Option<RoomBody>,
    /// More general places than there are, in percent.
    #[schema(minimum = 0, maximum = 5, default = 0)]
    overbook_percent: Option<u8>,
    /// A draft is seen by its owner only.
    #[schema(default = false)]
    draft: Option<bool>,
}

/// Cancelling at least `hours_before` the show refunds `percent`. The hours fall from
/// step to step and the percentage never rises.
fn refund_steps(steps: Vec<RefundStepValue>) -> Vec<RefundStep> {
    steps.into_iter().map(RefundStep::from).collect()
}

impl From<ShowBody> for NewShow {
    fn from(body: ShowBody) -> Self {
        Self {
            starts_at: body.starts_at,
            on_sale_at: body.on_sale_at,
            currency: body.currency,
            prices: body.prices,
            hold_seconds: body.hold_seconds,
            max_tickets_per_buyer: body.max_tickets_per_buyer,
            refund_policy: body.refund_policy.map(refund_steps),
            room: body.room.map(RoomChange::from).unwrap_or_default(),
            overbook_percent: body.overbook_percent.unwrap_or_default(),
            draft: body.draft.unwrap_or_default(),
        }
    }
}

/// What is left out stays as it is. `overbook_percent` never changes: it decides the
/// layout. The currency is fixed once the show is published, and a new one needs new
/// prices.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ShowChange)]
pub(crate) struct ShowChangeBody {
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    starts_at: Option<Millis>,
    /// `null`: at once.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<Timestamp>)]
    on_sale_at: Option<Option<Millis>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, value_type = Option<String>, pattern = "^[A-Z]{3}$")]
    currency: Option<Currency>,
    /// For every section of the venue.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, Amount>>)]
    prices: Option<BTreeMap<String, Cents>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, minimum = 2, maximum = 900)]
    hold_seconds: Option<u32>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, minimum = 1, maximum = 50)]
    max_tickets_per_buyer: Option<u32>,
    /// In any order; each `hours_before` once, and never more percent the nearer the show
    /// is. Without a step nothing is given back.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, max_items = 10)]
    refund_policy: Option<Vec<RefundStepValue>>,
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false)]
    room: Option<RoomBody>,
    /// Publishes a draft.
    #[serde(default, deserialize_with = "present")]
    #[schema(nullable = false, inline)]
    status: Option<Publish>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Publish {
    OnSale,
}

impl From<ShowChangeBody> for ShowChange {
    fn from(body: ShowChangeBody) -> Self {
        Self {
            starts_at: body.starts_at,
            on_sale_at: body.on_sale_at,
            currency: body.currency,
            prices: body.prices,
            hold_seconds: body.hold_seconds,
            max_tickets_per_buyer: body.max_tickets_per_buyer,
            refund_policy: body.refund_policy.map(refund_steps),
            room: body.room.map(RoomChange::from).unwrap_or_default(),
            pricing: None,
            publish: body.status == Some(Publish::OnSale),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShowCreated {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Show)]
pub(crate) struct ShowAnswer {
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    #[schema(value_type = EventIdText)]
    event_id: EventId,
    #[schema(value_type = VenueIdText)]
    venue_id: VenueId,
    event: EventCardView,
    venue: VenueCardView,
    #[schema(value_type = Timestamp)]
    starts_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Timestamp>)]
    on_sale_at: Option<Millis>,
    #[schema(value_type = String, pattern = "^[A-Z]{3}$")]
    currency: Currency,
    /// What a place costs right now, by section.
    #[schema(value_type = BTreeMap<String, MoneyValue>)]
    prices: BTreeMap<String, Money>,
    pricing: PricingAnswer,
    hold_seconds: u32,
    max_tickets_per_buyer: u32,
    refund_policy: Vec<RefundStepValue>,
    room: RoomAnswer,
    overbook_percent: u8,
    #[schema(value_type = StatusText)]
    status: ShowStatus,
    /// Of its layout: `GET …/layout?version=` may be kept for ever.
    version: u32,
}

/// What the show is of.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ShowEvent)]
pub(crate) struct EventCardView {
    #[schema(value_type = EventIdText)]
    event_id: EventId,
    title: String,
    category: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    poster_url: Option<String>,
}

impl From<&EventCard> for EventCardView {
    fn from(event: &EventCard) -> Self {
        let event = event.clone();
        Self {
            event_id: event.id,
            title: event.title,
            category: event.category,
            description: event.description,
            poster_url: event.poster_url,
        }
    }
}

/// Where the show is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ShowVenue)]
pub(crate) struct VenueCardView {
    name: String,
    city: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    address: Option<String>,
    /// The clocks of the venue, by their IANA name.
    #[schema(examples("Europe/Berlin"))]
    timezone: String,
}

impl From<&Venue> for VenueCardView {
    fn from(venue: &Venue) -> Self {
        Self {
            name: venue.name.clone(),
            city: venue.city.clone(),
            address: venue.address.clone(),
            timezone: venue.timezone.clone(),
        }
    }
}

impl ShowAnswer {
    /// The show as this viewer sees it, with what it is of and where.
    async fn of(api: &Api, view: ShowView, viewer: Option<AccountId>) -> Result<Self, Problem> {
        let about = api.app.about_show(&view.show, viewer).await?;
        let show = view.show;
        Ok(Self {
            version: show.layout_version(),
            show_id: show.id,
            event_id: show.event_id,
            event: EventCardView::from(about.event.as_ref()),
            venue: VenueCardView::from(about.venue.as_ref()),
            venue_id: show.venue_id,
            starts_at: show.starts_at,
            on_sale_at: show.on_sale_at,
            currency: show.currency,
            prices: view.prices.into_iter().collect(),
            pricing: show.pricing.into(),
            hold_seconds: show.hold_seconds,
            max_tickets_per_buyer: show.max_tickets_per_buyer,
            refund_policy: show
                .refund_policy
                .iter()
                .map(|step| (*step).into())
                .collect(),
            room: RoomAnswer::from(&show.room),
            overbook_percent: show.overbook_percent,
            status: view.status,
        })
    }
}

/// Create a show of an event
#[utoipa::path(
    post,
    path = "/api/v1/events/{event}/shows",
    operation_id = "create_show",
    security(("session" = [])),
    params(("event" = EventIdText, Path), crate::schemas::IdempotencyKey),
    request_body = ShowBody,
    responses(
        (status = 201, description = "Created, or created before with this key", body = ShowCreated),
        (status = 409, description = "`conflict`: others keep changing the event"),
        (status = 422, description = "`idempotency_mismatch`, `limit_exceeded` (shows per event)"),
    )
)]
pub(crate) async fn create(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Path(event): Path<EventId>,
    OptionalKey(key): OptionalKey,
    Json(body, request): Json<ShowBody>,
) -> Result<(StatusCode, JsonAnswer<ShowCreated>), Problem> {
    let created = api
        .app
        .create_show(&caller, event, body.into(), key.as_ref(), request)
        .await;
    Ok((
        StatusCode::CREATED,
        JsonAnswer(ShowCreated { show_id: created? }),
    ))
}

/// Change or publish a show
#[utoipa::path(
    patch,
    path = "/api/v1/shows/{show}",
    operation_id = "change_show",
    security(("session" = [])),
    params(("show" = ShowIdText, Path)),
    request_body = ShowChangeBody,
    responses(
        (status = 200, description = "The show as it is now", body = ShowAnswer),
        (status = 409, description = "`conflict`: it is over or cancelled, its currency is fixed, or others keep changing it"),
    )
)]
pub(crate) async fn change(
    State(api): State<Api>,
    LoggedIn(caller): LoggedIn,
    Path(show): Path<ShowId>,
    Json(body, _): Json<ShowChangeBody>,
) -> Result<JsonAnswer<ShowAnswer>, Problem> {
    let view = api.app.change_show(&caller, show, &body.into()).await?;
    let answer = ShowAnswer::of(&api, view, Some(caller.account)).await?;
    Ok(JsonAnswer(answer))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowQuery {
    /// `no`: the answer is not counted as a view: for programs that read on behalf of a page.
    #[param(inline)]
    look: Option<Look>,
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Look {
    No,
}

/// Read a show
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}",
    operation_id = "read_show",
    security((), ("session" = [])),
    params(("show" = ShowIdText, Path), ShowQuery),
    responses((status = 200, description = "The show", body = ShowAnswer))
)]
pub(crate) async fn read(
    State(api): State<Api>,
    MaybeLoggedIn(caller): MaybeLoggedIn,
    Path(show): Path<ShowId>,
    Query(query): Query<ShowQuery>,
) -> Result<JsonAnswer<ShowAnswer>, Problem> {
    let viewer = caller.map(|caller| caller.account);
    let view = match query.look {
        None => api.app.show(show, viewer).await?,
        Some(Look::No) => api.app.show_uncounted(show, viewer).await?,
    };
    Ok(JsonAnswer(ShowAnswer::of(&api, view, viewer).await?))
}
