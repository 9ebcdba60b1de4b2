//! A visit for the calendar of whoever has bought it.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use onsale_app::checkout::OrderDetails;
use onsale_domain::ids::OrderId;
use onsale_domain::language::Language;
use onsale_domain::time::Millis;
use onsale_http::schemas::OrderIdText;
use onsale_http::{Api, Authenticated, Path, Problem};
use onsale_tickets::{CalendarEntry, places};

use crate::paper::PRIVATE;

/// An order as an entry for calendars
///
/// iCalendar (RFC 5545), at the time of the venue. Fetched again after the show has moved, it
/// replaces the entry from before.
#[utoipa::path(
    get,
    path = "/api/v1/orders/{order}/calendar",
    operation_id = "read_order_calendar",
    params(("order" = OrderIdText, Path)),
    responses(
        (status = 200, description = "One entry.", content_type = "text/calendar", body = String),
        (status = 409, description = "The order has no tickets, or none any more."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn read(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(order): Path<OrderId>,
) -> Result<Response, Problem> {
    let details = api.app.order_details(&caller, order).await?;
    let number = details.order.number();
    let name = format!("attachment; filename=\"{number}.ics\"");
    let headers = [
        (header::CONTENT_TYPE, "text/calendar; charset=utf-8"),
        PRIVATE,
        (header::CONTENT_DISPOSITION, name.as_str()),
    ];
    let entry = entry(&details, api.app.now());
    Ok((headers, onsale_tickets::calendar(&entry)).into_response())
}

fn entry(details: &OrderDetails, now: Millis) -> CalendarEntry {
    let (order, venue) = (&details.order, &details.about.venue);
    let language = details.language.unwrap_or_default();
    let seats: Vec<_> = order.kept().map(|seat| seat.seat.as_str()).collect();
    let number = format!("{} {}", order_word(language), order.number());
    let description = vec![places(&seats, language), number];
    let place = [Some(&venue.name), venue.address.as_ref(), Some(&venue.city)];
    let place: Vec<_> = place.into_iter().flatten().map(String::as_str).collect();
    CalendarEntry {
        uid: format!("{}@onsale", order.id),
        title: details.about.event.title.clone(),
        location: place.join(", "),
        description,
        starts_at_ms: details.show.starts_at.0,
        timezone: venue.timezone.clone(),
        written_at_ms: now.0,
    }
}

/// The word for an order, by the tag of the language.
fn order_word(language: Language) -> &'static str {
    match language.as_str() {
        "de" => "Bestellung",
        "fr" => "Commande",
        "es" => "Pedido",
        _ => "Order",
    }
}
