//! The receipt of an order as PDF.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use onsale_app::checkout::Receipted;
use onsale_domain::ids::OrderId;
use onsale_domain::language::Language;
use onsale_domain::money::{Cents, Money};
use onsale_http::schemas::OrderIdText;
use onsale_http::{Api, Authenticated, Path, Problem};
use onsale_tickets::{Receipt, amount, local_time, places};

use crate::paper::{PRIVATE, preferred};

/// Who sells the tickets, by the settings of the operator. `None`: the organiser of the show.
#[derive(Debug, Clone, Default)]
pub struct Seller(pub Option<String>);

impl Seller {
    /// What `ONSALE_SELLER` says: a name, and perhaps an address.
    pub fn from_env() -> Self {
        let name = std::env::var("ONSALE_SELLER").ok();
        Self(name.filter(|name| !name.trim().is_empty()))
    }
}

/// The receipt of an order as PDF
///
/// What was paid and what was paid back, in the language of its buyer.
#[utoipa::path(
    get,
    path = "/api/v1/orders/{order}/receipt",
    operation_id = "read_receipt",
    params(("order" = OrderIdText, Path)),
    responses(
        (status = 200, description = "Sheets of A4, tagged (PDF/UA-1).", content_type = "application/pdf", body = [u8]),
        (status = 409, description = "Nothing was paid for the order."),
    ),
    security(("session" = [])),
)]
pub(crate) async fn read(
    State(api): State<Api>,
    Extension(seller): Extension<Seller>,
    Authenticated(caller): Authenticated,
    Path(order): Path<OrderId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let receipted = api.app.receipt(&caller, order).await?;
    let language = receipted.language.unwrap_or_else(|| preferred(&headers));
    let receipt = receipt(&receipted, seller, language);
    let name = format!("inline; filename=\"{}.pdf\"", receipted.order.number());
    // Laying out a page is work for the processor, and others are waiting.
    let made = tokio::task::spawn_blocking(move || onsale_tickets::receipt(&receipt, language));
    let bytes = made
        .await
        .map_err(|_| Problem::internal())?
        .map_err(|_| Problem::internal())?;
    let headers = [
        (header::CONTENT_TYPE, "application/pdf"),
        PRIVATE,
        (header::CONTENT_DISPOSITION, name.as_str()),
    ];
    Ok((headers, bytes).into_response())
}

fn receipt(receipted: &Receipted, seller: Seller, language: Language) -> Receipt {
    let (order, venue) = (&receipted.order, &receipted.about.venue);
    let said = |amount_of: Cents| {
        let currency = order.currency;
        amount(
            Money {
                amount: amount_of,
                currency,
            },
            language,
        )
    };
    let place = |seat: &str| places(&[seat], language);
    let at = |moment| local_time(moment, &venue.timezone, language);
    let venue_parts = [Some(&venue.name), venue.address.as_ref(), Some(&venue.city)];
    let venue_parts: Vec<_> = venue_parts
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let priced = order.seats.iter();
    let refunds = receipted.paid_back.iter();
    Receipt {
        number: order.number().to_string(),
        paid_at_text: at(receipted.paid_at),
        buyer: receipted.buyer.clone(),
        seller: seller.0.unwrap_or_else(|| receipted.organiser.clone()),
        event: receipted.about.event.title.clone(),
        starts_at_text: at(receipted.show.starts_at),
        venue: venue_parts.join(", "),
        places: priced
            .map(|seat| (place(&seat.seat), said(seat.price)))
            .collect(),
        total: said(order.total().amount),
        refunds: refunds
            .map(|back| (back.seat.as_deref().map(place), said(back.amount)))
            .collect(),
    }
}
