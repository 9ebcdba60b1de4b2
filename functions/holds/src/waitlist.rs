//! The waitlist of a show: what comes back is offered to those who wait, in order.

use axum::extract::State;
use axum::http::StatusCode;
use onsale_app::waitlist::{Joined, LineCounts, OfferView, WaitFor, WaitlistStatus, WaitlistView};
use onsale_domain::account::Role;
use onsale_domain::ids::{HoldId, ShowId, WaitlistId};
use onsale_domain::time::Millis;
use onsale_http::schemas::{HoldIdText, ShowIdText, Timestamp, WaitlistIdText};
use onsale_http::{Api, Authenticated, Json, OptionalKey, Path, Problem, to_the_end};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::request::Neighbours;
use crate::view::HeldSeat;

/// A show has no more sections.
const MAX_SECTIONS: usize = onsale_domain::layout::MAX_SECTIONS;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(join, list))
        .routes(routes!(read, leave))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitlistRequest {
    /// At most as many as a buyer may have of this show.
    #[schema(minimum = 1, maximum = 50)]
    quantity: u32,
    /// Sections that will do; without any, all will.
    #[schema(max_items = 200)]
    sections: Option<Vec<String>>,
    /// Whether they have to be side by side in one row, or in one general section.
    together: Option<Together>,
}

/// As a hold says it, or in short.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged, expecting = "must be true, false, required or preferred")]
#[schema(default = true)]
enum Together {
    Short(bool),
    Word(Neighbours),
}

impl Default for Together {
    fn default() -> Self {
        Self::Short(true)
    }
}

impl Together {
    fn is_required(&self) -> bool {
        matches!(self, Self::Short(true) | Self::Word(Neighbours::Required))
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JoinedAnswer {
    #[schema(value_type = WaitlistIdText)]
    waitlist_id: WaitlistId,
    /// The place in the line: 1 is the next.
    #[schema(minimum = 1)]
    position: u64,
}

impl From<Joined> for JoinedAnswer {
    fn from(joined: Joined) -> Self {
        Self {
            waitlist_id: joined.id,
            position: joined.position,
        }
    }
}

/// Join the waitlist
///
/// All or nothing: so many places, in any of these sections. When they come back they are
/// held for you for 30 minutes, and you are told. Everybody has one entry in a show;
/// asking for the same again gives the same answer. While the show has a waiting room,
/// what is free is had through that: the waitlist is for what is not. While anybody waits,
/// places that come back are kept for those who wait for up to 2 minutes.
#[utoipa::path(
    post,
    path = "/api/v1/shows/{show}/waitlist",
    operation_id = "join_waitlist",
    params(("show" = ShowIdText, Path), OptionalKey),
    request_body = WaitlistRequest,
    responses(
        (status = 201, description = "In line.", body = JoinedAnswer),
        (status = 403, description = "`pass_required`: so many places are free, and the show has a waiting room; `forbidden`: a staff account."),
        (status = 409, description = "`not_on_sale`; `conflict`: the show is over, or you wait for something else in it."),
        (status = 422, description = "More than a buyer may have, a line that is full, or the key came with another request."),
    ),
    security(("session" = [])),
)]
async fn join(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(show): Path<ShowId>,
    OptionalKey(key): OptionalKey,
    Json(request, _): Json<WaitlistRequest>,
) -> Result<(StatusCode, axum::Json<JoinedAnswer>), Problem> {
    let sections = request.sections.unwrap_or_default();
    if sections.len() > MAX_SECTIONS {
        return Err(Problem::invalid("sections: at most 200."));
    }
    let wanted = WaitFor {
        quantity: request.quantity,
        sections,
        together: request.together.unwrap_or_default().is_required(),
    };
    let joined = to_the_end(async move {
        let (app, key) = (&api.app, key.as_ref());
        app.join_waitlist(&caller, show, key, &wanted).await
    });
    Ok((StatusCode::CREATED, axum::Json(joined.await?.into())))
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntryStatus {
    Waiting,
    Offered,
    Taken,
    Lapsed,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WaitlistOffer {
    /// Check it out like any hold; no pass is needed.
    #[schema(value_type = HoldIdText)]
    hold_id: HoldId,
    seats: Vec<HeldSeat>,
    #[schema(value_type = Timestamp)]
    expires_at: Millis,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WaitlistAnswer {
    #[schema(value_type = WaitlistIdText)]
    waitlist_id: WaitlistId,
    status: EntryStatus,
    /// While waiting: 1 is the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 1)]
    position: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    offer: Option<WaitlistOffer>,
}

impl From<OfferView> for WaitlistOffer {
    fn from(offer: OfferView) -> Self {
        Self {
            hold_id: offer.hold_id,
            seats: HeldSeat::all(offer.seats, &offer.face_values),
            expires_at: offer.expires_at,
        }
    }
}

impl From<WaitlistView> for WaitlistAnswer {
    fn from(view: WaitlistView) -> Self {
        Self {
            waitlist_id: view.id,
            status: match view.status {
                WaitlistStatus::Waiting => EntryStatus::Waiting,
                WaitlistStatus::Offered => EntryStatus::Offered,
                WaitlistStatus::Taken => EntryStatus::Taken,
                WaitlistStatus::Lapsed => EntryStatus::Lapsed,
            },
            position: view.position,
            offer: view.offer.map(WaitlistOffer::from),
        }
    }
}

/// Read an entry
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/waitlist/{waitlist}",
    operation_id = "read_waitlist_entry",
    params(("show" = ShowIdText, Path), ("waitlist" = WaitlistIdText, Path)),
    responses((status = 200, description = "The entry.", body = WaitlistAnswer)),
    security(("session" = [])),
)]
async fn read(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path((show, id)): Path<(ShowId, WaitlistId)>,
) -> Result<axum::Json<WaitlistAnswer>, Problem> {
    let entry = api.app.waitlist_entry(&caller, show, id).await?;
    Ok(axum::Json(entry.into()))
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WaitlistCounts {
    waiting: u64,
    /// The places that all of them wait for.
    places: u64,
    offered: u64,
}

impl From<LineCounts> for WaitlistCounts {
    fn from(counts: LineCounts) -> Self {
        Self {
            waiting: counts.waiting,
            places: counts.places,
            offered: counts.offered,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct OwnWaitlist {
    /// The caller's own entries, the current one first.
    items: Vec<WaitlistAnswer>,
    /// For the organiser of the show: how long the line is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    counts: Option<WaitlistCounts>,
}

/// My entries in a waitlist
///
/// Whoever organises the show is told how many wait.
#[utoipa::path(
    get,
    path = "/api/v1/shows/{show}/waitlist",
    operation_id = "list_waitlist",
    params(("show" = ShowIdText, Path)),
    responses((status = 200, description = "The caller's entries.", body = OwnWaitlist)),
    security(("session" = [])),
)]
async fn list(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(show): Path<ShowId>,
) -> Result<axum::Json<OwnWaitlist>, Problem> {
    let own = api.app.own_waitlist(&caller, show).await?;
    let counts = match caller.role {
        Role::Organiser => match api.app.waitlist_counts(&caller, show).await {
            Ok(counts) => Some(counts.into()),
            // Somebody else's show: an organiser is a buyer there like everybody.
            Err(onsale_app::Error::Forbidden(_)) => None,
            Err(error) => return Err(error.into()),
        },
        _ => None,
    };
    Ok(axum::Json(OwnWaitlist {
        items: own.into_iter().map(WaitlistAnswer::from).collect(),
        counts,
    }))
}

/// Leave the waitlist
///
/// What is on offer goes to the next.
#[utoipa::path(
    delete,
    path = "/api/v1/shows/{show}/waitlist/{waitlist}",
    operation_id = "leave_waitlist",
    params(("show" = ShowIdText, Path), ("waitlist" = WaitlistIdText, Path)),
    responses(
        (status = 204, description = "You wait no longer, or did not."),
        (status = 409, description = "The offer is being paid, or is paid."),
    ),
    security(("session" = [])),
)]
async fn leave(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path((show, id)): Path<(ShowId, WaitlistId)>,
) -> Result<StatusCode, Problem> {
    to_the_end(async move { api.app.leave_waitlist(&caller, show, id).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
