//! From a letter to what it says, in each language.
//!
//! Which facts a letter shows and where it leads is the same in all languages and stands
//! here; the words are in `english` and `german`, one method each for every letter, so a
//! translation that is missing does not compile.

mod english;
mod german;

use onsale_domain::ids::ResetId;
use onsale_domain::language::Language;
use onsale_domain::letter::{Letter, OrderLine, ShowLine};
use onsale_domain::money::Money;
use onsale_domain::order::Why;
use onsale_domain::time::Millis;

use crate::amount::amount;
use crate::clean::{MAX_CHARS, line};
use crate::html::html;
use crate::links::Link;
use crate::page::{Button, Fact, Page};
use crate::plain::plain;
use crate::when::when;
use english::English;
use german::German;

/// Titles in subjects are cut earlier: more does not show.
const SUBJECT_CHARS: usize = 80;

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
    fn general_place(section: &str) -> String;

    fn confirmation(title: &str, tickets: usize) -> Words;
    fn decline(title: &str) -> Words;
    fn cancellation(title: &str, why: Why, refund: Option<&str>) -> Words;
    fn offer(title: &str, places: usize) -> Words;
    fn offer_lapsed(title: &str) -> Words;
    fn resold(title: &str, refund: &str) -> Words;
    fn show_changed(title: &str) -> Words;
    fn show_cancelled(title: &str) -> Words;
    fn transfer(title: &str, from: &str) -> Words;
    fn password_reset(minutes: u64) -> Words;
    fn invitation() -> Words;
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
    };
    Rendered {
        subject: page.subject.clone(),
        text: plain(&page),
        html: html(&page),
    }
}

fn page<T: Texts>(letter: &Letter, base: &str, token: impl Fn(ResetId) -> String) -> Page {
    let labels = T::LABELS;
    let titled = |show: &ShowLine| line(&show.title, SUBJECT_CHARS);
    let (name, words, facts, link) = match letter {
        Letter::Confirmation {
            name,
            show,
            order,
            tickets,
        } => {
            let mut facts = show_facts::<T>(show);
            facts.extend(order_facts::<T>(order));
            let words = T::confirmation(&titled(show), tickets.len());
            (Some(name), words, facts, Some(Link::Order(order.order_id)))
        }
        Letter::Decline {
            name,
            show,
            order,
            reason,
            pay_until,
        } => {
            let mut facts = show_facts::<T>(show);
            facts.extend(order_facts::<T>(order));
            if let Some(reason) = reason {
                facts.push((labels.reason.to_owned(), line(reason, MAX_CHARS)));
            }
            facts.push((labels.until.to_owned(), local::<T>(*pay_until, show)));
            let link = Link::Order(order.order_id);
            (Some(name), T::decline(&titled(show)), facts, Some(link))
        }
        Letter::Cancellation {
            name,
            show,
            order,
            why,
            refund,
        } => {
            let refund = refund.map(money::<T>);
            let mut facts = show_facts::<T>(show);
            facts.extend(order_facts::<T>(order));
            if let Some(refund) = &refund {
                facts.push((labels.refund.to_owned(), refund.clone()));
            }
            let words = T::cancellation(&titled(show), *why, refund.as_deref());
            (Some(name), words, facts, Some(Link::Order(order.order_id)))
        }
        Letter::Offer {
            name,
            show,
            hold_id,
            seats,
            expires_at,
        } => {
            let mut facts = show_facts::<T>(show);
            facts.push((labels.places.to_owned(), places::<T>(seats)));
            facts.push((labels.until.to_owned(), local::<T>(*expires_at, show)));
            let words = T::offer(&titled(show), seats.len());
            (
                Some(name),
                words,
                facts,
                Some(Link::Hold(show.show_id, *hold_id)),
            )
        }
        Letter::OfferLapsed {
            name,
            show,
            waitlist_id,
        } => {
            let link = Link::Waitlist(show.show_id, *waitlist_id);
            let words = T::offer_lapsed(&titled(show));
            (Some(name), words, show_facts::<T>(show), Some(link))
        }
        Letter::Resold {
            name,
            show,
            seat,
            refund,
        } => {
            let refund = money::<T>(*refund);
            let mut facts = show_facts::<T>(show);
            let seat = places::<T>(std::slice::from_ref(seat));
            facts.push((labels.places.to_owned(), seat));
            facts.push((labels.refund.to_owned(), refund.clone()));
            let words = T::resold(&titled(show), &refund);
            (Some(name), words, facts, Some(Link::Orders))
        }
        Letter::ShowChanged { name, show, was } => {
            let facts = changed_facts::<T>(show, was);
            let words = T::show_changed(&titled(was));
            (Some(name), words, facts, Some(Link::Show(show.show_id)))
        }
        Letter::ShowCancelled { name, show } => {
            let words = T::show_cancelled(&titled(show));
            (Some(name), words, show_facts::<T>(show), Some(Link::Orders))
        }
        Letter::Transfer {
            from,
            show,
            transfer_id,
            seat,
        } => {
            let mut facts = show_facts::<T>(show);
            facts.push((
                labels.places.to_owned(),
                places::<T>(std::slice::from_ref(seat)),
            ));
            let words = T::transfer(&titled(show), &line(from, SUBJECT_CHARS));
            (None, words, facts, Some(Link::Transfer(*transfer_id)))
        }
        Letter::PasswordReset {
            name,
            reset_id,
            minutes,
        } => {
            let link = Link::Reset(token(*reset_id));
            (Some(name), T::password_reset(*minutes), vec![], Some(link))
        }
        Letter::Invitation { name, reset_id } => {
            let link = Link::Invitation(token(*reset_id));
            (Some(name), T::invitation(), vec![], Some(link))
        }
        Letter::YourTurn { show, enter_by } => {
            let mut facts = show_facts::<T>(show);
            facts.push((labels.until.to_owned(), local::<T>(*enter_by, show)));
            let link = Link::Room(show.show_id);
            (None, T::your_turn(&titled(show)), facts, Some(link))
        }
    };
    let button = words.button.zip(link).map(|(label, link)| Button {
        label,
        href: format!("{base}{}", link.path()),
    });
    Page {
        language: T::LANGUAGE.as_str(),
        preview: words.paragraphs.first().cloned().unwrap_or_default(),
        subject: words.subject,
        heading: words.heading,
        greeting: name.map(|name| T::greeting(&line(name, MAX_CHARS))),
        paragraphs: words.paragraphs,
        facts,
        button,
        notes: words.notes,
        footer: T::footer().to_owned(),
    }
}

fn local<T: Texts>(at: Millis, show: &ShowLine) -> String {
    when(at, &show.timezone, T::LANGUAGE)
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
        (labels.order.to_owned(), order.order_id.to_string()),
    ]
}

fn places<T: Texts>(seats: &[String]) -> String {
    let place = |seat: &String| match onsale_tickets::place_of(seat) {
        (section, None, None) => T::general_place(section),
        _ => seat.clone(),
    };
    let places: Vec<_> = seats.iter().map(place).collect();
    line(&places.join(", "), 50 * 40)
}

/// `#` in `many` stands for the number.
pub(crate) fn plural(count: usize, one: &str, many: &str) -> String {
    match count {
        1 => one.to_owned(),
        n => many.replace("#", &n.to_string()),
    }
}
