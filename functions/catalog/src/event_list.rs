//! The list of events: what may be asked of it, and its items.

use axum::Json as JsonAnswer;
use axum::extract::State;
use onsale_app::events::{EventItem, EventQuery, EventSort, MAX_RADIUS_KM, Near};
use onsale_app::ports::{FacetCount, Facets};
use onsale_domain::ids::EventId;
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::show::ShowStatus;
use onsale_domain::time::Millis;
use onsale_domain::venue;
use onsale_http::schemas::{EventIdText, MoneyValue, StatusText, Timestamp};
use onsale_http::{Api, Cursor, Limit, MaybeLoggedIn, Problem, Query};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::schemas::Amount;

const MAX_WORDS_CHARS: usize = 200;
const DEFAULT_RADIUS_KM: f64 = 50.0;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Words of the title, the venue, the city, the category or the description. Each must be
    /// met, but a letter or two may be wrong, and the last word may be its beginning.
    #[param(max_length = 200)]
    query: Option<String>,
    #[param(max_length = 200)]
    city: Option<String>,
    #[param(max_length = 200)]
    category: Option<String>,
    /// Events with a show at or after this moment. Without it only shows still to come
    /// count. `from`, `to`, `max_price` and `currency` must hold for one show.
    #[param(inline, value_type = Option<Timestamp>)]
    from: Option<Millis>,
    /// Events with a show at or before this moment.
    #[param(inline, value_type = Option<Timestamp>)]
    to: Option<Millis>,
    /// Events with a place for at most this much, in the minor unit of its currency.
    #[param(inline, value_type = Option<Amount>)]
    max_price: Option<String>,
    /// Events with a show in this currency.
    #[param(value_type = Option<String>, pattern = "^[A-Z]{3}$")]
    currency: Option<Currency>,
    /// `lat,lon`: events around this point.
    #[param(
        pattern = r"^-?\d{1,3}(\.\d{1,12})?,-?\d{1,3}(\.\d{1,12})?$",
        example = "52.52,13.4"
    )]
    near: Option<String>,
    /// How far around `near`; 50 unless told.
    #[param(exclusive_minimum = 0, maximum = 20_100)]
    radius_km: Option<f64>,
    /// `relevance` (the best match first, then the newest) unless told; `date` is by the next
    /// show, `distance` from `near`.
    #[param(inline)]
    sort: Option<Sort>,
    /// Your own events, drafts included.
    mine: Option<bool>,
    #[serde(default)]
    #[param(inline, value_type = Option<Limit>)]
    limit: Limit,
    #[param(inline, value_type = Option<Cursor>)]
    cursor: Option<Cursor>,
}

#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    Relevance,
    Date,
    Distance,
}

impl TryFrom<ListQuery> for EventQuery {
    type Error = Problem;

    fn try_from(query: ListQuery) -> Result<Self, Problem> {
        let words = |field: &str, text: Option<String>| match text {
            Some(text) if text.chars().count() > MAX_WORDS_CHARS => Err(Problem::invalid(format!(
                "{field}: at most {MAX_WORDS_CHARS} characters"
            ))),
            // A form that is sent with an empty field asks for nothing.
            text => Ok(text.filter(|text| !text.trim().is_empty())),
        };
        Ok(Self {
            query: words("query", query.query)?,
            city: words("city", query.city)?,
            category: words("category", query.category)?,
            from: query.from,
            to: query.to,
            max_price: query.max_price.as_deref().map(read_price).transpose()?,
            currency: query.currency,
            near: read_near(query.near.as_deref(), query.radius_km)?,
            sort: match query.sort {
                Some(Sort::Date) => EventSort::Date,
                Some(Sort::Distance) => EventSort::Distance,
                Some(Sort::Relevance) | None => EventSort::Relevance,
            },
            mine: query.mine.unwrap_or(false),
            limit: query.limit.0,
            cursor: query.cursor.map(|Cursor(text)| text.parse()).transpose()?,
        })
    }
}

fn read_price(text: &str) -> Result<Cents, Problem> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let amount = text
        .parse()
        .ok()
        .filter(|amount| digits && *amount <= Amount::MAX);
    let wrong = || format!("max_price: a whole number from 0 to {}", Amount::MAX);
    amount.map(Cents).ok_or_else(|| Problem::invalid(wrong()))
}

fn read_near(near: Option<&str>, radius_km: Option<f64>) -> Result<Option<Near>, Problem> {
    let radius_km = match (near, radius_km) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            return Err(Problem::invalid(
                "radius_km: around what? Give near=lat,lon",
            ));
        }
        (Some(_), radius_km) => radius_km.unwrap_or(DEFAULT_RADIUS_KM),
    };
    if !(radius_km > 0.0 && radius_km <= MAX_RADIUS_KM) {
        return Err(Problem::invalid(format!(
            "radius_km: above 0, at most {MAX_RADIUS_KM}"
        )));
    }
    let center = near.and_then(|near| {
        let (lat, lon) = near.split_once(',')?;
        Some(venue::Location {
            lat: read_degrees(lat)?,
            lon: read_degrees(lon)?,
        })
    });
    match center.filter(venue::Location::is_on_earth) {
        Some(center) => Ok(Some(Near { center, radius_km })),
        None => Err(Problem::invalid(
            "near: lat,lon in degrees, such as 52.52,13.4",
        )),
    }
}

/// Plain decimals only: `parse` would take `inf`, `NaN` and exponents as well.
fn read_degrees(text: &str) -> Option<f64> {
    let digits = |part: &str, most: usize| {
        (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
    };
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let plain = match unsigned.split_once('.') {
        Some((whole, fraction)) => digits(whole, 3) && digits(fraction, 12),
        None => digits(unsigned, 3),
    };
    text.parse().ok().filter(|_| plain)
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventItem)]
pub(crate) struct EventItemView {
    #[schema(value_type = EventIdText)]
    event_id: EventId,
    title: String,
    category: String,
    city: String,
    /// The name of the venue.
    venue: String,
    /// The clocks of the venue, by their IANA name; left out for events from before it was
    /// kept with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, examples("Europe/Berlin"))]
    timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    poster_url: Option<String>,
    /// `null` when no show is to come.
    #[schema(required, value_type = Option<Timestamp>)]
    next_show_at: Option<Millis>,
    /// How many shows you can see.
    shows: usize,
    /// The lowest price among the shows that can still be bought, or, without any, among
    /// those that are over or sold out; `null` when there is none.
    #[schema(required, value_type = Option<MoneyValue>)]
    from_price: Option<Money>,
    /// That of its liveliest show. `sold_out` follows the places as soon as anybody looks at
    /// the show, and within an hour if nobody does.
    #[schema(value_type = StatusText)]
    status: ShowStatus,
}

impl From<EventItem> for EventItemView {
    fn from(item: EventItem) -> Self {
        Self {
            event_id: item.event.id,
            title: item.event.title,
            category: item.event.category,
            city: item.event.city,
            venue: item.event.venue,
            timezone: item.event.timezone,
            poster_url: item.event.poster_url,
            next_show_at: item.next_show_at,
            shows: item.shows,
            from_price: item.from_price,
            status: item.status,
        }
    }
}

/// A page of events.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventList {
    items: Vec<EventItemView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
    /// How everything that was found is spread; left out while the search index is away.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    facets: Option<FacetsView>,
}

/// The most frequent values first, at most 20 of each.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Facets)]
pub(crate) struct FacetsView {
    city: Vec<FacetCountView>,
    category: Vec<FacetCountView>,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FacetCount)]
pub(crate) struct FacetCountView {
    value: String,
    count: u64,
}

impl From<Facets> for FacetsView {
    fn from(facets: Facets) -> Self {
        let counts = |counts: Vec<FacetCount>| {
            let view = |FacetCount { value, count }| FacetCountView { value, count };
            counts.into_iter().map(view).collect()
        };
        Self {
            city: counts(facets.cities),
            category: counts(facets.categories),
        }
    }
}

/// List events
///
/// Found by a search index that follows a change within seconds; `mine` reads the
/// catalogue itself. While the index is away, the catalogue is read instead: words must
/// then be spelt as they are, and a page may have fewer items than
/// asked for, even none, and still a `next_cursor`: one request looks at a bounded number
/// of events.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    operation_id = "list_events",
    security((), ("session" = [])),
    params(ListQuery),
    responses((status = 200, description = "A page of events", body = EventList))
)]
pub(crate) async fn list(
    State(api): State<Api>,
    MaybeLoggedIn(caller): MaybeLoggedIn,
    Query(query): Query<ListQuery>,
) -> Result<JsonAnswer<EventList>, Problem> {
    let viewer = caller.map(|caller| caller.account);
    let page = api.app.list_events(&query.try_into()?, viewer).await?;
    Ok(JsonAnswer(EventList {
        items: page.items.into_iter().map(EventItemView::from).collect(),
        next_cursor: page.next.map(|next| Cursor::encoded(next.to_string())),
        facets: page.facets.map(FacetsView::from),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_two_plain_decimals_on_earth() {
        let near = read_near(Some("52.52,-13.4"), None).unwrap().unwrap();
        assert_eq!(
            (near.center.lat, near.center.lon, near.radius_km),
            (52.52, -13.4, 50.0)
        );
        for wrong in [
            "", "1", "1,", "1,2,3", "91,0", "NaN,0", "1e1,0", "+1,0", "1.,0", " 1,0",
        ] {
            assert!(read_near(Some(wrong), None).is_err(), "{wrong:?}");
        }
        for wrong in [0.0, -1.0, 20_101.0, f64::NAN, f64::INFINITY] {
            assert!(read_near(Some("1,1"), Some(wrong)).is_err(), "{wrong}");
        }
        assert!(read_near(None, Some(5.0)).is_err());
    }

    #[test]
    fn a_price_is_digits_up_to_the_highest_price() {
        assert_eq!(read_price("1000000000").unwrap(), Cents(1_000_000_000));
        for wrong in ["", "+1", "-1", "1.0", "1000000001", "99999999999999999999"] {
            assert!(read_price(wrong).is_err(), "{wrong}");
        }
    }
}
