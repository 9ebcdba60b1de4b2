//! Somebody joins the waitlist of a show. Everybody has one entry in it at a time.

use onsale_domain::block::PlaceState;
use onsale_domain::claim::by_block;
use onsale_domain::ids::{ShowId, WaitlistId};
use onsale_domain::layout::{Layout, PlaceIndex};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::show::{NotOnSale, Show, StoredStatus, Waitlist};
use onsale_domain::time::Millis;
use onsale_domain::waitlist::{MAX_WAITING, State, WaitlistEntry, Wish, could_ever_fit, free_for};
use serde::Serialize;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::{ROUNDS, needs_pass, not_on_sale};
use crate::ports::{Versioned, Written};

/// An index shows a new entry a moment later.
const LISTED_AFTER_MS: u64 = 500;
/// A pass for those who joined comes after this time. A crowd that joins within the first
/// half of it shares one.
const LOOK_AFTER_S: u32 = 1;

/// What a buyer asks for. Its serialised form is what an Idempotency-Key stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitFor {
    pub quantity: u32,
    /// None: any section will do.
    pub sections: Vec<String>,
    pub together: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    pub id: WaitlistId,
    /// The place in the line: 1 is the next.
    pub position: u64,
}

impl App {
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn join_waitlist(
        &self,
        caller: &Caller,
        show_id: ShowId,
        key: Option<&IdempotencyKey>,
        wanted: &WaitFor,
    ) -> Result<Joined> {
        let show = self.recent_show(show_id).await?;
        if show.status == StoredStatus::Draft {
            return Err(Error::NotFound("show"));
        }
        self.check_session(caller).await?;
        caller.check_may_buy()?;
        let body = serde_json::to_vec(wanted).map_err(|_| Error::Corrupt)?;
        let request = RequestHash::of(&body);
        let account = caller.account;
        let id = match key {
            Some(key) => WaitlistId::derived(&[
                account.as_bytes(),
                show_id.as_bytes(),
                key.as_str().as_bytes(),
            ]),
            None => WaitlistId::new(self.now(), self.id_entropy()),
        };
        let mut stored = self.store.read::<WaitlistEntry>((show_id, account)).await?;
        for _ in 0..ROUNDS {
            if let Some(before) = &stored
                && let Some(answer) = answered_before(&before.value, id, request)
            {
                return answer;
            }
            let now = self.now();
            check_joinable(&show, now)?;
            let layout = self.layout_of(&show).await?;
            let wish = check_wish(wanted, &show, &layout)?;
            if self.is_in_the_room(&show, &layout, &wish).await? {
                return Err(Error::FreeInTheRoom);
            }
            let position = self.next_position(show_id, id, now).await?;
            let new = WaitlistEntry {
                id,
                show_id,
                account,
                wish,
                joined: now,
                position,
                request,
                attempt: 0,
                state: State::Waiting,
                changed: now,
                earlier: Vec::new(),
            };
            // The mark comes first: an entry that nobody looks for would wait for ever.
            if show.waitlist != Waitlist::Open {
                self.open_waitlist(show_id).await?;
            }
            let written = self.put_in_line(stored.as_ref(), new).await?;
            match written {
                Written::Done(_) => {
                    metrics::counter!("onsale_waitlist_joins_total").increment(1);
                    // It may have closed while this was written, for want of entries.
                    self.open_waitlist(show_id).await?;
                    self.look_for_joined(show_id).await;
                    return Ok(Joined { id, position });
                }
                Written::Lost(current) => stored = Some(current),
            }
        }
        Err(Error::Unavailable)
    }

    /// The place in the line of somebody who joins now.
    async fn next_position(&self, show: ShowId, id: WaitlistId, now: Millis) -> Result<u64> {
        let line = self.recent_line(show).await?;
        if line.len() >= MAX_WAITING {
            return Err(Error::LimitExceeded {
                limit: MAX_WAITING as u64,
                of: "people on the waitlist of a show",
            });
        }
        let ahead = line.partition_point(|turn| *turn < (now, id));
        Ok(ahead as u64 + 1)
    }

    /// Stores an entry in the place of the one before, if the account had one.
    async fn put_in_line(
        &self,
        before: Option<&Versioned<WaitlistEntry>>,
        new: WaitlistEntry,
    ) -> Result<Written<WaitlistEntry>> {
        let Some(before) = before else {
            return Ok(self.store.create(&new).await?);
        };
        let next = Versioned {
            version: before.version,
            value: before.value.followed_by(new),
        };
        Ok(self.store.replace(&next).await?)
    }

    /// Whether what is wished is sold through the show's waiting room now: nobody goes
    /// past those who wait there. The map may be a second old, so that whoever comes when
    /// the last place has just been taken is not sent away by it.
    async fn is_in_the_room(&self, show: &Show, layout: &Layout, wish: &Wish) -> Result<bool> {
        if !needs_pass(show) {
            return Ok(false);
        }
        let map = self.seat_map(show, layout).await?;
        let Some(places) = free_for(layout, &map, wish) else {
            return Ok(false);
        };
        let blocks: Vec<_> = by_block(layout, &places).iter().map(|b| b.block).collect();
        let found = self.exact_blocks(show, &blocks).await?;
        let mut exact = map.as_ref().clone();
        for (block, state) in found.iter() {
            exact.learn(layout, *block, state, show.claim_clock(self.now()));
        }
        let is_free = |place: &PlaceIndex| exact.state(*place) == PlaceState::Free;
        Ok(places.iter().all(is_free))
    }

    /// Places may be free that the new one fits. A lost message is made up for as always.
    async fn look_for_joined(&self, show: ShowId) {
        let now = self.now();
        let due = self.joined.get(&show);
        if due.is_none_or(|due| due < now + LISTED_AFTER_MS) {
            self.joined.put(show, now + u64::from(LOOK_AFTER_S) * 1_000);
            self.look_at_waitlist(show, LOOK_AFTER_S).await;
        }
    }
}

/// The answer that this request has had, or why it gets none beside the entry there is.
/// `None`: it is a new one.
fn answered_before(
    entry: &WaitlistEntry,
    id: WaitlistId,
    request: RequestHash,
) -> Option<Result<Joined>> {
    let earlier = entry.earlier.iter().map(|e| (e.id, e.request, e.position));
    let mut known = earlier.chain([(entry.id, entry.request, entry.position)]);
    if let Some((id, before, position)) = known.find(|(known, _, _)| *known == id) {
        return Some(match before == request {
            true => Ok(Joined { id, position }),
            false => Err(Error::IdempotencyMismatch),
        });
    }
    match entry.outcome() {
        Some(_) => None,
        None if entry.request == request => Some(Ok(Joined {
            id: entry.id,
            position: entry.position,
        })),
        None => Some(Err(Error::Conflict(
            "you are on the waitlist of this show; leave it to wait for something else",
        ))),
    }
}

fn check_joinable(show: &Show, now: Millis) -> Result<()> {
    show.check_on_sale(now).map_err(|why| match why {
        NotOnSale::Draft => Error::NotFound("show"),
        NotOnSale::Cancelled => not_on_sale("the show is cancelled"),
        NotOnSale::Over => Error::Conflict("the show is over"),
        NotOnSale::NotYet(at) => Error::NotOnSale {
            reason: "the sale has not begun; try again at on_sale_at",
            on_sale_at: Some(at),
        },
    })
}

fn check_wish(wanted: &WaitFor, show: &Show, layout: &Layout) -> Result<Wish> {
    if wanted.quantity == 0 {
        return Err(Error::Invalid("quantity must be at least 1".into()));
    }
    if wanted.quantity > show.max_tickets_per_buyer {
        return Err(Error::LimitExceeded {
            limit: u64::from(show.max_tickets_per_buyer),
            of: "tickets per buyer for this show",
        });
    }
    let number_of = |name: &String| {
        let found = layout.section_named(name);
        let number = found.and_then(|(number, _)| u8::try_from(number).ok());
        number.ok_or_else(|| Error::Invalid(format!("section {name:?} is not in this show")))
    };
    let mut sections: Vec<u8> = wanted
        .sections
        .iter()
        .map(number_of)
        .collect::<Result<_>>()?;
    sections.sort_unstable();
    sections.dedup();
    let wish = Wish {
        quantity: wanted.quantity,
        together: wanted.together,
        sections,
    };
    match could_ever_fit(layout, &wish) {
        true => Ok(wish),
        false => Err(Error::Invalid(
            "so many places together are in none of these sections, sold or not".into(),
        )),
    }
}
