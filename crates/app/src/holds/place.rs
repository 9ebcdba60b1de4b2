//! Placing a hold.
//!
//! One consistent read (session, buyer, pass, and the show where it is not known), one conditional write on the cells, one
//! conditional write on the buyer: two write units for places of one block, and a third
//! for the first hold under a pass. A loser in a crowd costs one and touches nothing else.

use std::collections::HashSet;
use std::sync::Arc;

use onsale_domain::best_available;
use onsale_domain::block::Cell;
use onsale_domain::buyer::{Buyer, Entry, EntryState, MAX_CHECKOUTS, Refusal};
use onsale_domain::ids::{AccountId, HoldId, ShowId};
use onsale_domain::layout::{Layout, PlaceIndex};
use onsale_domain::money::Cents;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::room::pass::PassClaims;
use onsale_domain::show::{NotOnSale, Show, StoredStatus};
use onsale_domain::ticket_return::Resale;
use onsale_domain::time::{CLOCK_SKEW_MS, Millis};

use super::record::Recorded;
use super::{HoldView, Wish, pass};
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::ports::{ExpireHold, MAX_DELAY_S};
use crate::pricing::CurrentPrices;

/// How often the whole path is gone again when the claimed cells had to be given back
/// by a twin of this request.
const ATTEMPTS: u64 = 4;

/// One request to hold, with all that its steps need.
pub(super) struct Attempt<'a> {
    pub account: AccountId,
    pub show: Arc<Show>,
    pub layout: Arc<Layout>,
    pub prices: CurrentPrices,
    pub hold: HoldId,
    pub request: RequestHash,
    /// The pass it comes with, if the show wants one.
    pub pass: Option<&'a PassClaims>,
    /// The clock by which lapsed places are free for it.
    pub clock: ClaimClock,
    /// Places that it buys from others, at what they paid.
    pub resales: &'a [Resale],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimClock {
    /// Of somebody who comes by, and lets a waitlist go first.
    WalkUp,
    /// Of an offer from the waitlist.
    Waitlist,
}

impl Attempt<'_> {
    /// What the time is for a claim.
    pub(super) fn claim_clock(&self, now: Millis) -> Millis {
        match self.clock {
            ClaimClock::WalkUp => self.show.claim_clock(now),
            ClaimClock::Waitlist => now,
        }
    }

    pub(super) fn cap(&self) -> usize {
        self.show.max_tickets_per_buyer as usize
    }

    pub(super) fn entry(&self, cell: Cell, places: &[PlaceIndex], now: Millis) -> Entry {
        let listed = |place: &PlaceIndex| -> Cents {
            let section = self.layout.section_at(*place);
            let listed = self.prices.sections.get(section);
            listed.copied().unwrap_or_default()
        };
        let each = places.iter().map(listed).collect();
        let point = self.prices.point.as_ref();
        Entry::held(
            self.hold,
            cell.expiry,
            self.request,
            places.to_vec(),
            each,
            now,
        )
        .at_point(point.map(|point| point.sequence))
        .buying(self.resales)
        .under_pass(self.pass.map(|claims| claims.pass))
    }
}

/// A wish that names only places and sections this show has.
pub(super) enum Wanted<'a> {
    Places(Vec<PlaceIndex>),
    Best(best_available::Wish<'a>),
    General(usize),
}

impl Wanted<'_> {
    /// How many are claimed of so many, where the cap leaves room for these. Whoever takes
    /// fewer takes what the cap allows.
    fn quantity(&self, asked: usize, room: usize) -> usize {
        match self {
            Self::Best(wish) if wish.allow_fewer => asked.min(room).max(1),
            _ => asked,
        }
    }
}

impl App {
    /// Holds places, or answers again what was answered to this key before. `offered` are
    /// the claims of a pass whose signature is good; whether it counts is decided here.
    pub async fn place_hold(
        &self,
        caller: &Caller,
        show_id: ShowId,
        key: &IdempotencyKey,
        wish: &Wish,
        offered: Option<&PassClaims>,
    ) -> Result<HoldView> {
        self.place_hold_if(caller, show_id, key, wish, offered, || Ok(()))
            .await
    }

    /// The same for a host that limits attempts. `admit` is asked once the session is
    /// known to be open, and not for an answer that is merely given again.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn place_hold_if(
        &self,
        caller: &Caller,
        show_id: ShowId,
        key: &IdempotencyKey,
        wish: &Wish,
        offered: Option<&PassClaims>,
        admit: impl FnOnce() -> Result<()> + Send,
    ) -> Result<HoldView> {
        let (asked, known) = (self.now(), self.known_show(show_id));
        let offered = match &known {
            Some(show) => pass::wanted(show, offered),
            None => offered,
        };
        let read = self
            .store
            .read_for_hold(
                caller.session,
                show_id,
                caller.account,
                offered.map(|claims| claims.pass),
                known.is_none(),
            )
            .await?;
        let show = match (known, read.show) {
            (Some(known), _) => known,
            (None, Some(show)) => self.keep_show(asked, show),
            (None, None) => return Err(Error::NotFound("show")),
        };
        if show.status == StoredStatus::Draft {
            // A draft does not exist for buyers, whatever they ask of it.
            return Err(Error::NotFound("show"));
        }
        self.require_open(caller, read.session)?;
        caller.check_may_buy()?;
        let layout = self.layout_of(&show).await?;
        let prices = self.current_prices(&show, &layout).await?;
        let body = serde_json::to_vec(wish).map_err(|_| Error::Corrupt)?;
        let attempt = Attempt {
            account: caller.account,
            hold: HoldId::for_key(caller.account, show_id, key.as_str()),
            request: RequestHash::of(&body),
            pass: pass::wanted(&show, offered),
            clock: ClaimClock::WalkUp,
            resales: &[],
            show,
            layout,
            prices,
        };
        let mut buyer = read.buyer;
        let mut used = read.pass.filter(|_| attempt.pass.is_some());
        let (wanted, asked_for) = check_wish(wish, &attempt.show, &attempt.layout)?;
        if buyer.entry(attempt.hold).is_none() {
            admit()?;
        }
        for round in 0..ATTEMPTS {
            let now = self.now();
            let room = attempt.cap().saturating_sub(buyer.live_places(now));
            let quantity = wanted.quantity(asked_for, room);
            match buyer.may_begin(attempt.hold, attempt.request, quantity, attempt.cap(), now) {
                Ok(()) => {}
                Err(Refusal::AlreadyRecorded(entry)) => return Ok(self.view(&attempt, &entry)),
                Err(refusal) => return Err(self.refused(&attempt, refusal)),
            }
            check_on_sale(&attempt.show, now)?;
            self.check_pass(&attempt, &mut used, buyer.last_pass, now)
                .await?;
            let cell = fresh_cell(&attempt, &buyer, now);
            let (cell, places) = self.claim(&attempt, &wanted, quantity, cell, round).await?;
            match self.record(&attempt, buyer, cell, &places).await? {
                Recorded::New(entry) => {
                    metrics::counter!("onsale_holds_total", "result" => "held").increment(1);
                    self.ask_for_expiry(caller.account, show_id, &entry).await;
                    return Ok(self.view(&attempt, &entry));
                }
                Recorded::Before(entry) => return Ok(self.view(&attempt, &entry)),
                Recorded::GivenBack(current) => buyer = current,
            }
        }
        Err(Error::Unavailable)
    }

    /// What is answered to a request: the same for ever, whatever became of the hold.
    fn view(&self, attempt: &Attempt<'_>, entry: &Entry) -> HoldView {
        HoldView {
            expires_at: entry.first_expiry(),
            ..HoldView::of(entry, &attempt.show, &attempt.layout, self.now())
        }
    }

    pub(super) fn refused(&self, attempt: &Attempt<'_>, refusal: Refusal) -> Error {
        match refusal {
            Refusal::OtherRequest => Error::IdempotencyMismatch,
            Refusal::OverCap => Error::LimitExceeded {
                limit: u64::from(attempt.show.max_tickets_per_buyer),
                of: "tickets per buyer for this show",
            },
            Refusal::TooManyEnded(until) => Error::RateLimited {
                retry_after_s: self.now().until(until).div_ceil(1_000).max(1),
            },
            Refusal::TooManyCheckouts => Error::LimitExceeded {
                limit: MAX_CHECKOUTS as u64,
                of: "checkouts per buyer for this show",
            },
            // Both are answers and never reach a caller as a refusal.
            Refusal::AlreadyRecorded(_) | Refusal::GivenBack => Error::Unavailable,
        }
    }

    /// Asks the queue to tidy up when the time is over. A message that is lost costs
    /// nothing but freshness: lapsed places are free by comparison.
    pub(super) async fn ask_for_expiry(
        &self,
        account_id: AccountId,
        show_id: ShowId,
        entry: &Entry,
    ) {
        if entry.state != EntryState::Held {
            return;
        }
        let message = ExpireHold {
            show_id,
            account_id,
            hold_id: entry.hold,
        };
        let delay_s = expiry_delay_s(self.now(), entry.expiry);
        if let Err(error) = self.expiry_queue.send(&message, delay_s).await {
            tracing::warn!(hold = %entry.hold, %error, "the expiry message could not be sent");
        }
    }
}

/// How long a message about this expiry should wait: until the hold has lapsed for
/// everyone, or as long as a queue can.
pub(crate) fn expiry_delay_s(now: Millis, expiry: Millis) -> u32 {
    let wait_ms = now.until(expiry + CLOCK_SKEW_MS) + 1;
    u32::try_from(wait_ms.div_ceil(1_000))
        .unwrap_or(MAX_DELAY_S)
        .min(MAX_DELAY_S)
}

/// A cell for this claim. An expiry that was given back can never be recorded, so a
/// new claim in the same millisecond takes the next one.
fn fresh_cell(attempt: &Attempt<'_>, buyer: &Buyer, now: Millis) -> Cell {
    let mut expiry = now + attempt.show.hold_ms();
    while buyer.is_given_back(attempt.hold, expiry) {
        expiry = expiry + 1;
    }
    Cell {
        expiry,
        hold: attempt.hold,
    }
}

fn check_on_sale(show: &Show, now: Millis) -> Result<()> {
    show.check_on_sale(now).map_err(|why| match why {
        NotOnSale::Draft => Error::NotFound("show"),
        NotOnSale::Cancelled => not_on_sale("the show is cancelled"),
        NotOnSale::Over => not_on_sale("the show has begun"),
        NotOnSale::NotYet(at) => Error::NotOnSale {
            reason: "the sale has not begun; try again at on_sale_at",
            on_sale_at: Some(at),
        },
    })
}

pub(crate) fn not_on_sale(reason: &'static str) -> Error {
    Error::NotOnSale {
        reason,
        on_sale_at: None,
    }
}

fn check_wish<'a>(wish: &'a Wish, show: &Show, layout: &Layout) -> Result<(Wanted<'a>, usize)> {
    let section_named = |name: &str| {
        layout
            .section_named(name)
            .ok_or_else(|| Error::Invalid(format!("section {name:?} is not in this show")))
    };
    let at_least_one = |quantity: usize| match quantity {
        0 => Err(Error::Invalid("quantity must be at least 1".into())),
        _ => Ok(()),
    };
    match wish {
        Wish::Seats(seats) => {
            let places = find_seats(seats, layout)?;
            let quantity = places.len();
            Ok((Wanted::Places(places), quantity))
        }
        Wish::Best {
            quantity,
            section,
            max_price,
            together,
            allow_fewer,
            accessible,
        } => {
            at_least_one(*quantity)?;
            if max_price.is_some_and(|money| money.currency != show.currency) {
                return Err(Error::Invalid(format!(
                    "max_price must be in {}",
                    show.currency
                )));
            }
            section.as_deref().map(section_named).transpose()?;
            let wish = best_available::Wish {
                quantity: *quantity,
                section: section.as_deref(),
                max_price: max_price.map(|money| money.amount),
                together: *together,
                allow_fewer: *allow_fewer,
                accessible: *accessible,
            };
            Ok((Wanted::Best(wish), *quantity))
        }
        Wish::General { section, quantity } => {
            at_least_one(*quantity)?;
            let (index, found) = section_named(section)?;
            if !found.is_general() {
                return Err(Error::Invalid(format!(
                    "section {section:?} has numbered seats; choose seats or best_available"
                )));
            }
            Ok((Wanted::General(index), *quantity))
        }
    }
}

fn find_seats(seats: &[String], layout: &Layout) -> Result<Vec<PlaceIndex>> {
    if seats.is_empty() {
        return Err(Error::Invalid("seats must name at least one seat".into()));
    }
    let mut seen = HashSet::new();
    seats
        .iter()
        .map(|seat| {
            let place = layout
                .find(seat)
                .ok_or_else(|| Error::Invalid(format!("{seat:?} is not a place of this show")))?;
            match seen.insert(place) {
                true => Ok(place),
                false => Err(Error::Invalid(format!("{seat:?} is named twice"))),
            }
        })
        .collect()
}
