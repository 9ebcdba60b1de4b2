//! From a letter to what it says, in each language.
//!
//! Which facts a letter shows and where it leads is the same in all languages and stands
//! here; the words are in one module for each language, with one method for every letter,
//! so a translation that is missing does not compile.

mod english;
mod french;
mod german;
mod spanish;

use onsale_domain::ids::ResetId;
use onsale_domain::language::Language;
use onsale_domain::letter::{Letter, OrderLine, ShowLine};
use onsale_domain::money::Money;
use onsale_domain::order::{OrderNumber, Why};
use onsale_domain::time::Millis;
use onsale_domain::told_name::{line, told_name};
use onsale_tickets::{amount, local_time_and_zone};

use crate::html::html;
use crate::links::Link;
use crate::page::{Button, Fact, Page};
use crate::plain::plain;
use english::English;
use french::French;
use german::German;
use spanish::Spanish;

/// Longer names are cut: a mail is no place for a novel, and a subject less so.
const MAX_CHARS: usize = 200;

/// Titles in subjects are cut earlier: more does not show.
const SUBJECT_CHARS: usize = 80;

/// All places of the largest order, none of them beside another.
const PLACES_CHARS: usize = 50 * 60;

/// The parts of a mail that people read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// What a language says about a letter.
pub(crate) struct Words {
    pub subject: String,
    pub heading: String,
    pub paragraphs: Vec<String>,
    pub button: Option<String>,
    pub notes: Vec<String>,
}

/// The labels of facts.
pub(crate) struct Labels {
    pub event: &'static str,
    pub when: &'static str,
    pub venue: &'static str,
    pub places: &'static str,
    pub order: &'static str,
    pub total: &'static str,
    pub refund: &'static str,
    pub until: &'static str,
    pub reason: &'static str,
    pub before: &'static str,
}

/// One language. `title` is that of the event, cleaned.
pub(crate) trait Texts {
    const LANGUAGE: Language;
    const LABELS: Labels;

    fn greeting(name: &str) -> String;
    fn footer() -> &'static str;

    fn confirmation(title: &str, tickets: usize) -> Words;
    fn decline(title: &str) -> Words;
    fn cancellation(title: &str, why: Why, refund: Option<&str>) -> Words;
    fn offer(title: &str, places: usize) -> Words;
    fn offer_lapsed(title: &str) -> Words;
    fn resold(title: &str, refund: &str) -> Words;
    fn show_changed(title: &str) -> Words;
    fn show_cancelled(title: &str) -> Words;
    /// `from` is `None` where nothing of the name can be told to a stranger.
    fn transfer(title: &str, from: Option<&str>) -> Words;
    fn ticket_lost(title: &str, tickets: usize) -> Words;
    fn password_reset(minutes: u64) -> Words;
    fn invitation() -> Words;
    fn log_in_link(minutes: u64) -> Words;
    fn address_proof(minutes: u64) -> Words;
    fn your_turn(title: &str) -> Words;
}

/// Sets a letter in a language. `base` is the origin of all links, without a slash at its
/// end; `token` makes the secret part of a link that sets a password.
pub fn render(
    letter: &Letter,
    language: Language,
    base: &str,
    token: impl Fn(ResetId) -> String,
) -> Rendered {
    let page = match language {
        Language::En => page::<English>(letter, base, token),
        Language::De => page::<German>(letter, base, token),
        Language::Fr => page::<French>(letter, base, token),
        Language::Es => page::<Spanish>(letter, base, token),
    };
    Rendered {
        subject: page.subject.clone(),
        text: plain(&page),
        html: html(&page),
    }
}

fn page<T: Texts>(letter: &Letter, base: &str, token: impl Fn(ResetId) -> String) -> Page {
    let words = words::<T>(letter);
    let href = format!("{base}{}", link(letter, token).path());
    Page {
        language: T::LANGUAGE,
        preview: words.paragraphs.first().cloned().unwrap_or_default(),
        subject: words.subject,
        heading: words.heading,
        greeting: greeted(letter).map(|name| T::greeting(&line(name, MAX_CHARS))),
        paragraphs: words.paragraphs,
        facts: facts::<T>(letter),
        button: words.button.map(|label| Button { label, href }),
        notes: words.notes,
        footer: T::footer().to_owned(),
    }
}

/// Whom a letter greets. Who is offered a ticket and who waits in a room left no name.
fn greeted(letter: &Letter) -> Option<&str> {
    match letter {
        Letter::Confirmation { name, .. }
        | Letter::Decline { name, .. }
        | Letter::Cancellation { name, .. }
        | Letter::Offer { name, .. }
        | Letter::OfferLapsed { name, .. }
        | Letter::Resold { name, .. }
        | Letter::ShowChanged { name, .. }
        | Letter::ShowCancelled { name, .. }
        | Letter::TicketLost { name, .. }
        | Letter::PasswordReset { name, .. }
        | Letter::Invitation { name, .. }
        | Letter::LogInLink { name, .. }
        | Letter::ProveAddress { name, .. } => Some(name),
        Letter::Transfer { .. } | Letter::YourTurn { .. } => None,
    }
}

fn words<T: Texts>(letter: &Letter) -> Words {
    let titled = |show: &ShowLine| line(&show.title, SUBJECT_CHARS);
    match letter {
        Letter::Confirmation { show, tickets, .. } => T::confirmation(&titled(show), tickets.len()),
        Letter::Decline { show, .. } => T::decline(&titled(show)),
        Letter::Cancellation {
            show, why, refund, ..
        } => {
            let refund = refund.map(money::<T>);
            T::cancellation(&titled(show), *why, refund.as_deref())
        }
        Letter::Offer { show, seats, .. } => T::offer(&titled(show), seats.len()),
        Letter::OfferLapsed { show, .. } => T::offer_lapsed(&titled(show)),
        Letter::Resold { show, refund, .. } => T::resold(&titled(show), &money::<T>(*refund)),
        // By the title under which its reader knows it.
        Letter::ShowChanged { was, .. } => T::show_changed(&titled(was)),
        Letter::ShowCancelled { show, .. } => T::show_cancelled(&titled(show)),
        Letter::Transfer { from, show, .. } => {
            let from = told_name(from, SUBJECT_CHARS);
            T::transfer(&titled(show), from.as_deref())
        }
        Letter::TicketLost { show, seats, .. } => T::ticket_lost(&titled(show), seats.len()),
        Letter::PasswordReset { minutes, .. } => T::password_reset(*minutes),
        Letter::Invitation { .. } => T::invitation(),
        Letter::LogInLink { minutes, .. } => T::log_in_link(*minutes),
        Letter::ProveAddress { minutes, .. } => T::address_proof(*minutes),
        Letter::YourTurn { show, .. } => T::your_turn(&titled(show)),
    }
}

/// Where a letter leads.
fn link(letter: &Letter, token: impl Fn(ResetId) -> String) -> Link {
    match letter {
        Letter::Confirmation { order, .. } | Letter::Cancellation { order, .. } => {
            Link::Order(order.order_id)
        }
        // Its places are still held: there it can be paid in another way.
        Letter::Decline { show, order, .. } => Link::Hold(show.show_id, order.order_id.hold()),
        Letter::Offer { show, hold_id, .. } => Link::Hold(show.show_id, *hold_id),
        Letter::OfferLapsed {
            show, waitlist_id, ..
        } => Link::Waitlist(show.show_id, *waitlist_id),
        Letter::Resold { .. } | Letter::ShowCancelled { .. } => Link::Orders,
        Letter::ShowChanged { show, .. } | Letter::TicketLost { show, .. } => {
            Link::Show(show.show_id)
        }
        Letter::Transfer { transfer_id, .. } => Link::Transfer(*transfer_id),
        Letter::PasswordReset { reset_id, .. } => Link::Reset(token(*reset_id)),
        Letter::Invitation { reset_id, .. } => Link::Invitation(token(*reset_id)),
        Letter::LogInLink { reset_id, .. } => Link::LogIn(token(*reset_id)),
        Letter::ProveAddress { reset_id, .. } => Link::Prove(token(*reset_id)),
        Letter::YourTurn { show, .. } => Link::Room(show.show_id),
    }
}

/// Those of the show, and what the letter has to add.
fn facts<T: Texts>(letter: &Letter) -> Vec<Fact> {
    let labels = T::LABELS;
    let seated = |seats: &[String]| (labels.places.to_owned(), places::<T>(seats));
    let refunded = |refund: Money| (labels.refund.to_owned(), money::<T>(refund));
    let until = |at: Millis, show: &ShowLine| (labels.until.to_owned(), local::<T>(at, show));
    let (show, more) = match letter {
        Letter::Confirmation { show, order, .. } => (show, order_facts::<T>(order)),
        Letter::Decline {
            show,
            order,
            reason,
            pay_until,
            ..
        } => {
            let mut more = order_facts::<T>(order);
            if let Some(reason) = reason {
                more.push((labels.reason.to_owned(), line(reason, MAX_CHARS)));
            }
            more.push(until(*pay_until, show));
            (show, more)
        }
        Letter::Cancellation {
            show,
            order,
            refund,
            ..
        } => {
            let mut more = order_facts::<T>(order);
            more.extend(refund.map(refunded));
            (show, more)
        }
        Letter::Offer {
            show,
            seats,
            expires_at,
            ..
        } => (show, vec![seated(seats), until(*expires_at, show)]),
        Letter::Resold {
            show, seat, refund, ..
        } => (
            show,
            vec![seated(std::slice::from_ref(seat)), refunded(*refund)],
        ),
        Letter::Transfer { show, seat, .. } => (show, vec![seated(std::slice::from_ref(seat))]),
        Letter::TicketLost { show, seats, .. } => (show, vec![seated(seats)]),
        Letter::YourTurn { show, enter_by } => (show, vec![until(*enter_by, show)]),
        Letter::OfferLapsed { show, .. } | Letter::ShowCancelled { show, .. } => (show, vec![]),
        Letter::ShowChanged { show, was, .. } => return changed_facts::<T>(show, was),
        Letter::PasswordReset { .. }
        | Letter::Invitation { .. }
        | Letter::LogInLink { .. }
        | Letter::ProveAddress { .. } => return vec![],
    };
    let mut facts = show_facts::<T>(show);
    facts.extend(more);
    facts
}

fn local<T: Texts>(at: Millis, show: &ShowLine) -> String {
    local_time_and_zone(at, &show.timezone, T::LANGUAGE)
}

fn money<T: Texts>(money: Money) -> String {
    amount(money, T::LANGUAGE)
}

fn venue(show: &ShowLine) -> String {
    line(&format!("{}, {}", show.venue, show.city), MAX_CHARS)
}

fn show_facts<T: Texts>(show: &ShowLine) -> Vec<Fact> {
    let labels = T::LABELS;
    vec![
        (labels.event.to_owned(), line(&show.title, MAX_CHARS)),
        (labels.when.to_owned(), local::<T>(show.starts_at, show)),
        (labels.venue.to_owned(), venue(show)),
    ]
}

/// What is now, and below what moved also what was.
fn changed_facts<T: Texts>(is: &ShowLine, was: &ShowLine) -> Vec<Fact> {
    let before = T::LABELS.before;
    let mut facts = Vec::new();
    for ((label, now), (_, then)) in show_facts::<T>(is).into_iter().zip(show_facts::<T>(was)) {
        let moved = now != then;
        let old = format!("{label} ({before})");
        facts.push((label, now));
        if moved {
            facts.push((old, then));
        }
    }
    facts
}

fn order_facts<T: Texts>(order: &OrderLine) -> Vec<Fact> {
    let labels = T::LABELS;
    vec![
        (labels.places.to_owned(), places::<T>(&order.seats)),
        (labels.total.to_owned(), money::<T>(order.total)),
        (
            labels.order.to_owned(),
            OrderNumber::of(order.order_id).to_string(),
        ),
    ]
}

fn places<T: Texts>(seats: &[String]) -> String {
    line(&onsale_tickets::places(seats, T::LANGUAGE), PLACES_CHARS)
}

/// `#` in `many` stands for the number.
pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => one.to_owned(),
        n => many.replace("#", &n.to_string()),
    }
}
