//! English.

use onsale_domain::language::Language;
use onsale_domain::order::Why;

use super::{Labels, Texts, Words, plural};

pub(crate) struct English;

impl Texts for English {
    const LANGUAGE: Language = Language::En;
    const LABELS: Labels = Labels {
        event: "Event",
        when: "When",
        venue: "Where",
        places: "Places",
        order: "Order",
        total: "Total",
        refund: "Refund",
        until: "Kept for you until",
        reason: "Reason given",
        before: "before",
    };

    fn greeting(name: &str) -> String {
        format!("Hello {name},")
    }

    fn footer() -> &'static str {
        "You get this message because of something you did or bought at Onsale. \
         It contains no pictures and does not track whether you read it."
    }

    fn confirmation(title: &str, tickets: usize) -> Words {
        let them = plural(tickets, "your ticket", "your # tickets");
        Words {
            subject: format!("Your tickets: {title}"),
            heading: "You are going!".to_owned(),
            paragraphs: vec![
                "Thank you for your order. It is paid and confirmed.".to_owned(),
                format!(
                    "The attached PDF has {them}, one on each page. \
                     Show the code at the entrance, printed or on your phone."
                ),
            ],
            button: Some("See your tickets".to_owned()),
            notes: vec!["Each code admits one person, once. Keep it to yourself.".to_owned()],
        }
    }

    fn decline(title: &str) -> Words {
        Words {
            subject: format!("Payment declined: {title}"),
            heading: "Your payment was declined".to_owned(),
            paragraphs: vec![
                "Nothing was charged. Your places are still held for you for a short while: \
                 pay with another method before they go to somebody else."
                    .to_owned(),
            ],
            button: Some("Try again".to_owned()),
            notes: vec![],
        }
    }

    fn cancellation(title: &str, why: Why, refund: Option<&str>) -> Words {
        let (subject, heading, happened) = match why {
            Why::Buyer => (
                "Order cancelled",
                "Your order is cancelled",
                "You cancelled your order. Its tickets are no longer valid.",
            ),
            Why::ShowCancelled => (
                "Refund for a cancelled show",
                "Your refund is on its way",
                "The show was cancelled by its organiser. Your tickets are no longer valid.",
            ),
            Why::ChargedBack => (
                "Tickets no longer valid",
                "Your tickets are no longer valid",
                "Your bank took the payment back, so the order is cancelled.",
            ),
            Why::HoldExpired => (
                "Order not completed",
                "Your order was not completed",
                "The time to pay was over before the payment was confirmed.",
            ),
            Why::SeatsLost => (
                "Order not completed",
                "Your order was not completed",
                "Your places could no longer be sold to you when the payment arrived. We are sorry.",
            ),
            Why::CaptureRefused => (
                "Order not completed",
                "Your order was not completed",
                "Your bank did not let us take the money after all.",
            ),
        };
        let money = match (refund, why) {
            (Some(refund), _) => format!(
                "We returned {refund} to your payment method. \
                 Your bank may need a few days to show it."
            ),
            (None, Why::Buyer) => {
                "By the refund policy of this show nothing is paid back.".to_owned()
            }
            (None, Why::ChargedBack) => "There is nothing left for you to do.".to_owned(),
            (None, _) => "Nothing was charged.".to_owned(),
        };
        Words {
            subject: format!("{subject}: {title}"),
            heading: heading.to_owned(),
            paragraphs: vec![happened.to_owned(), money],
            button: Some("See your order".to_owned()),
            notes: vec![],
        }
    }

    fn offer(title: &str, places: usize) -> Words {
        let them = plural(places, "a place", "# places");
        Words {
            subject: format!("Your turn on the waitlist: {title}"),
            heading: format!("We hold {them} for you"),
            paragraphs: vec![
                "Tickets came back, and you are next on the waitlist. \
                 Buy them before the time below, or they go on to the next in line."
                    .to_owned(),
            ],
            button: Some("Buy now".to_owned()),
            notes: vec![],
        }
    }

    fn offer_lapsed(title: &str) -> Words {
        Words {
            subject: format!("Offer expired: {title}"),
            heading: "Your offer has expired".to_owned(),
            paragraphs: vec![
                "The places we held for you were not bought in time \
                 and went on to the next in line."
                    .to_owned(),
            ],
            button: Some("See the waitlist".to_owned()),
            notes: vec![],
        }
    }

    fn resold(title: &str, refund: &str) -> Words {
        Words {
            subject: format!("Your ticket was resold: {title}"),
            heading: "Your ticket has a new owner".to_owned(),
            paragraphs: vec![
                "Somebody from the waitlist bought the ticket that you put back. \
                 Its code is no longer valid."
                    .to_owned(),
                format!(
                    "We returned {refund} to the payment method with which it was bought. \
                     The bank may need a few days to show it."
                ),
            ],
            button: Some("See your orders".to_owned()),
            notes: vec![],
        }
    }

    fn show_changed(title: &str) -> Words {
        Words {
            subject: format!("Changed: {title}"),
            heading: "Your show has changed".to_owned(),
            paragraphs: vec![
                "The organiser changed a show that you have tickets for. \
                 Your tickets stay valid."
                    .to_owned(),
            ],
            button: Some("See the show".to_owned()),
            notes: vec![
                "If you cannot come any more, you can cancel in your orders, \
                 by the refund policy of the show."
                    .to_owned(),
            ],
        }
    }

    fn show_cancelled(title: &str) -> Words {
        Words {
            subject: format!("Cancelled: {title}"),
            heading: "This show is cancelled".to_owned(),
            paragraphs: vec![
                "We are sorry: the organiser cancelled a show that you have tickets for. \
                 Please do not come to the venue."
                    .to_owned(),
                "Whoever bought the tickets gets the money back in full. If that is you, there \
                 is nothing you have to do; we write to you as soon as the refund is made. If \
                 somebody gave you your ticket, the refund goes to whoever paid for it."
                    .to_owned(),
            ],
            button: Some("See your orders".to_owned()),
            notes: vec![],
        }
    }

    fn transfer(title: &str, from: Option<&str>) -> Words {
        let from = from.unwrap_or("Somebody");
        Words {
            subject: format!("A ticket for you: {title}"),
            heading: "Somebody gives you a ticket".to_owned(),
            paragraphs: vec![format!(
                "{from} wants to give you a ticket. Accept it, and it is yours."
            )],
            button: Some("Accept the ticket".to_owned()),
            notes: vec![
                "If you do not know the sender, ignore this message: nothing happens then."
                    .to_owned(),
            ],
        }
    }

    fn ticket_lost(title: &str, tickets: usize) -> Words {
        Words {
            subject: format!("No longer valid: {title}"),
            heading: plural(
                tickets,
                "Your ticket is no longer valid",
                "Your # tickets are no longer valid",
            ),
            paragraphs: vec![
                "What somebody gave you was bought with an order that is cancelled now. \
                 The codes of the places below let nobody in any more."
                    .to_owned(),
                "Whoever gave them to you can tell you why. You paid nothing here, \
                 so nothing is paid back to you."
                    .to_owned(),
            ],
            button: Some("See the show".to_owned()),
            notes: vec![],
        }
    }

    fn password_reset(minutes: u64) -> Words {
        Words {
            subject: "Choose a new password".to_owned(),
            heading: "Choose a new password".to_owned(),
            paragraphs: vec![format!(
                "Somebody asked for a new password for your account. \
                 The link works once, for {minutes} minutes."
            )],
            button: Some("Choose a password".to_owned()),
            notes: vec![
                "If that was not you, ignore this message: your password stays as it is. \
                 Never give the link to anybody."
                    .to_owned(),
            ],
        }
    }

    fn invitation() -> Words {
        Words {
            subject: "Your staff account at Onsale".to_owned(),
            heading: "Welcome to the team".to_owned(),
            paragraphs: vec![
                "An organiser made an account for you, to let people in at the gates of their \
                 shows. Choose a password to use it. The link works once."
                    .to_owned(),
            ],
            button: Some("Choose a password".to_owned()),
            notes: vec![
                "If you expected no invitation, ignore this message. \
                 Never give the link to anybody."
                    .to_owned(),
            ],
        }
    }

    fn log_in_link(minutes: u64) -> Words {
        Words {
            subject: "Log in to Onsale".to_owned(),
            heading: "Log in to Onsale".to_owned(),
            paragraphs: vec![format!(
                "Use this link to log in. It works once, for {minutes} minutes."
            )],
            button: Some("Log in".to_owned()),
            notes: vec![
                "If you did not ask for it, ignore this message: nobody is logged in \
                 without the link. Never give the link to anybody."
                    .to_owned(),
            ],
        }
    }

    fn address_proof(minutes: u64) -> Words {
        Words {
            subject: "Confirm your address".to_owned(),
            heading: "Confirm your address".to_owned(),
            paragraphs: vec![format!(
                "Confirm that this address is yours. The link works for {minutes} \
                 minutes."
            )],
            button: Some("Confirm the address".to_owned()),
            notes: vec![
                "If you have no account at Onsale, ignore this message: nothing happens \
                 then."
                    .to_owned(),
            ],
        }
    }

    fn your_turn(title: &str) -> Words {
        Words {
            subject: format!("You are next: {title}"),
            heading: "You are next".to_owned(),
            paragraphs: vec![
                "The line has come to you. Open the waiting room before the time below: \
                 it lets you in as soon as there is room."
                    .to_owned(),
            ],
            button: Some("Enter".to_owned()),
            notes: vec!["Use the browser in which you joined the waiting room.".to_owned()],
        }
    }
}
