//! A ticket to print or to show: PDF and SVG.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use onsale_app::tickets::TicketDetails;
use onsale_domain::ids::TicketId;
use onsale_domain::language::Language;
use onsale_domain::money::{Cents, Money};
use onsale_domain::ticket::TicketState;
use onsale_http::schemas::TicketIdText;
use onsale_http::{Api, Authenticated, Code, Path, Problem};
use onsale_tickets::{TicketPage, amount, local_time, place_of};

/// A ticket is its owner's: no cache in between keeps it.
pub(crate) const PRIVATE: (header::HeaderName, &str) = (header::CACHE_CONTROL, "private, no-store");

/// The ticket as PDF
#[utoipa::path(
    get,
    path = "/api/v1/tickets/{ticket}/pdf",
    operation_id = "read_ticket_pdf",
    params(("ticket" = TicketIdText, Path)),
    responses(
        (status = 200, description = "One page, tagged (PDF/UA-1), in the language of its owner.", content_type = "application/pdf", body = [u8]),
        (status = 409, description = "The ticket was revoked."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn pdf(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(ticket): Path<TicketId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let details = api.app.ticket_details(&caller, ticket).await?;
    not_revoked(&details.ticket.state)?;
    // The one that its owner chose, or else the one that their browser asks for.
    let chosen = details.holder.language;
    let language = chosen.unwrap_or_else(|| preferred(&headers));
    let pages = vec![page(&details, language)];
    let name = format!("inline; filename=\"{ticket}.pdf\"");
    // Laying out a page is work for the processor, and others are waiting.
    let made = tokio::task::spawn_blocking(move || onsale_tickets::pdf(&pages, language)).await;
    let bytes = made
        .map_err(|_| Problem::internal())?
        .map_err(|_| Problem::internal())?;
    let headers = [
        (header::CONTENT_TYPE, "application/pdf"),
        PRIVATE,
        (header::CONTENT_DISPOSITION, name.as_str()),
    ];
    Ok((headers, bytes).into_response())
}

/// The QR of the ticket as SVG
#[utoipa::path(
    get,
    path = "/api/v1/tickets/{ticket}/svg",
    operation_id = "read_ticket_svg",
    params(("ticket" = TicketIdText, Path)),
    responses(
        (status = 200, description = "The QR.", content_type = "image/svg+xml", body = String),
        (status = 409, description = "The ticket was revoked."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn svg(
    State(api): State<Api>,
    Authenticated(caller): Authenticated,
    Path(ticket): Path<TicketId>,
) -> Result<Response, Problem> {
    let ticket = api.app.ticket(&caller, ticket).await?;
    not_revoked(&ticket.state)?;
    let svg = onsale_tickets::svg(&ticket.code).map_err(|_| Problem::internal())?;
    let headers = [(header::CONTENT_TYPE, "image/svg+xml"), PRIVATE];
    Ok((headers, svg).into_response())
}

/// Nobody should stand at a gate with a dead ticket in hand.
fn not_revoked(state: &TicketState) -> Result<(), Problem> {
    match state {
        TicketState::Revoked { .. } => Err(Problem::new(
            Code::Conflict,
            "The ticket was revoked, because its order was cancelled or charged back, or it was \
             passed on. It admits nobody.",
        )),
        TicketState::Valid | TicketState::Used { .. } => Ok(()),
    }
}

/// The language that the reader's browser asks for.
pub(crate) fn preferred(headers: &HeaderMap) -> Language {
    let accepted = headers.get(header::ACCEPT_LANGUAGE);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    accepted.and_then(Language::preferred).unwrap_or_default()
}

fn page(details: &TicketDetails, language: Language) -> TicketPage {
    let ticket = &details.ticket;
    let (section, row, seat) = place_of(&ticket.seat);
    let prices = &details.show.prices;
    let price = prices.iter().find(|(name, _)| name == section);
    let paid = details.price.or(price.map(|(_, price)| *price));
    let price = Money {
        amount: paid.unwrap_or(Cents(0)),
        currency: details.show.currency,
    };
    TicketPage {
        event: details.event.title.clone(),
        venue: details.venue.name.clone(),
        city: details.venue.city.clone(),
        starts_at_text: local_time(details.show.starts_at, &details.venue.timezone, language),
        section: section.to_owned(),
        row: row.map(str::to_owned),
        seat: seat.map(str::to_owned),
        price_text: amount(price, language),
        holder: details.holder.name.clone(),
        ticket_id: ticket.id.to_string(),
        code: ticket.code.clone(),
    }
}
