//! A hold in an answer.

use onsale_app::Error;
use onsale_app::holds::HoldView;
use onsale_domain::buyer::EntryState;
use onsale_domain::ids::{HoldId, ShowId};
use onsale_domain::money::Money;
use onsale_domain::time::Millis;
use onsale_http::Api;
use onsale_http::prices::PointView;
use onsale_http::quote::{Quote, QuotedSeat};
use onsale_http::schemas::{HoldIdText, MoneyValue, ShowIdText, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HeldSeat {
    #[schema(examples("A-12-7"))]
    seat: String,
    #[schema(value_type = MoneyValue)]
    price: Money,
    /// Where somebody put this place back: what was paid for it. It costs that, whatever
    /// the price of its section is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<MoneyValue>)]
    face_value: Option<Money>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldAnswer {
    #[schema(value_type = HoldIdText)]
    hold_id: HoldId,
    #[schema(value_type = ShowIdText)]
    show_id: ShowId,
    seats: Vec<HeldSeat>,
    /// Whether all are side by side in one row, or in one general section.
    together: bool,
    #[schema(value_type = MoneyValue)]
    total: Money,
    #[schema(value_type = Timestamp)]
    expires_at: Millis,
    /// Where prices follow demand: what these prices follow from, but for face values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pricing: Option<PointView>,
    /// The same with the seats and their prices, under our signature: a JWT (EdDSA) by a
    /// key of `/.well-known/jwks.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    quote: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Held,
    Paying,
    Sold,
    Released,
    Expired,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldStatus {
    #[serde(flatten)]
    hold: HoldAnswer,
    status: Status,
}

impl HeldSeat {
    pub(crate) fn all(seats: Vec<(String, Money)>, face_values: &[(String, Money)]) -> Vec<Self> {
        let held = |(seat, price): (String, Money)| Self {
            face_value: face_value(&seat, face_values),
            seat,
            price,
        };
        seats.into_iter().map(held).collect()
    }
}

fn face_value(seat: &str, face_values: &[(String, Money)]) -> Option<Money> {
    let found = face_values.iter().find(|(known, _)| known == seat);
    found.map(|(_, paid)| *paid)
}

impl From<HoldView> for HoldAnswer {
    fn from(hold: HoldView) -> Self {
        Self {
            hold_id: hold.hold_id,
            show_id: hold.show_id,
            seats: HeldSeat::all(hold.seats, &hold.face_values),
            together: hold.together,
            total: hold.total,
            expires_at: hold.expires_at,
            pricing: None,
            quote: None,
        }
    }
}

impl HoldAnswer {
    /// With the prices explained, where they follow demand. Everything is made of what is
    /// stored, so the hold is explained in the same words for ever.
    pub(crate) async fn explained(api: &Api, hold: HoldView) -> Result<Self, Error> {
        let Some(sequence) = hold.point else {
            return Ok(hold.into());
        };
        let (show, layout) = api.app.show_layout(hold.show_id, None).await?;
        let point = api.app.price_point(hold.show_id, sequence).await?;
        let section = |seat: &str| -> Result<String, Error> {
            let place = layout.find(seat).ok_or(Error::Corrupt)?;
            let section = layout.sections().get(layout.section_at(place));
            Ok(section.ok_or(Error::Corrupt)?.name.clone())
        };
        let seats = hold.seats.iter().map(|(seat, price)| {
            Ok(QuotedSeat {
                section: section(seat)?,
                seat: seat.clone(),
                price: *price,
                face_value: face_value(seat, &hold.face_values),
            })
        });
        let seats: Vec<_> = seats.collect::<Result<_, Error>>()?;
        let named = |name: &str| seats.iter().any(|seat| seat.section == name);
        let point = PointView::of(&point, &show, named);
        let quote = match &api.quotes {
            Some(signer) => {
                let (show, hold, total) = (hold.show_id, hold.hold_id, hold.total);
                let quote = Quote::new(show, hold, seats, total, point.clone());
                Some(signer.sign(&quote)?)
            }
            None => None,
        };
        Ok(Self {
            pricing: Some(point),
            quote,
            ..hold.into()
        })
    }
}

impl HoldStatus {
    pub(crate) async fn explained(api: &Api, hold: HoldView) -> Result<Self, Error> {
        let status = Status::of(hold.state);
        let hold = HoldAnswer::explained(api, hold).await?;
        Ok(Self { hold, status })
    }
}

impl Status {
    fn of(state: EntryState) -> Self {
        match state {
            EntryState::Held => Self::Held,
            EntryState::Paying => Self::Paying,
            EntryState::Sold => Self::Sold,
            EntryState::Released | EntryState::Undone => Self::Released,
            EntryState::Expired => Self::Expired,
        }
    }
}
