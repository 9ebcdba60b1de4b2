//! What a caller is told about each error of the use cases.

use onsale_app::Error;

use crate::code::Code;
use crate::problem::Problem;

/// How long a caller waits after `unavailable`: long enough for a throttled table or a
/// restarting part to recover, short enough for a buyer.
const UNAVAILABLE_RETRY_S: u64 = 1;

/// The reason may quote what was sent; a page of it helps nobody.
fn cut(mut reason: String) -> String {
    const MOST_CHARS: usize = 300;
    if let Some((end, _)) = reason.char_indices().nth(MOST_CHARS) {
        reason.truncate(end);
        reason.push('…');
    }
    reason
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(reason) => Self::invalid(sentence(&cut(reason))),
            Error::Unauthenticated => Self::new(
                Code::Unauthenticated,
                "The session is missing, has ended or cannot be trusted. \
                 Log in with POST /api/v1/sessions and repeat the request.",
            ),
            // One text for both, or a stranger could learn who has an account.
            Error::WrongCredentials => {
                Self::new(Code::Unauthenticated, "The email or the password is wrong.")
            }
            Error::Forbidden(reason) => Self::new(Code::Forbidden, sentence(reason)),
            Error::PassRequired(None) => Self::new(
                Code::PassRequired,
                "This show has a waiting room. Join it, and repeat the request with the pass.",
            ),
            Error::PassRequired(Some(why)) => Self::new(
                Code::PassRequired,
                format!(
                    "{} Nothing was held. Join the waiting room of this show, and repeat the \
                     request with the pass you get there.",
                    sentence(&why.to_string())
                ),
            ),
            Error::FreeInTheRoom => Self::new(
                Code::PassRequired,
                "What you would wait for is not sold out, and this show has a waiting room. \
                 Join that, and hold the places with the pass you get there.",
            ),
            Error::NotFound(what) => Self::no_such(what),
            Error::EmailTaken => Self::new(
                Code::EmailTaken,
                "An account with this email exists and was not changed. Log in, or use another email.",
            ),
            Error::SeatsTaken(taken) if taken.is_empty() => Self::new(
                Code::SeatsTaken,
                "No places that fit could be had: none is free, or others were quicker each time. \
                 Nothing was held. Try again, ask for fewer, or for another section.",
            )
            .with("taken", taken),
            Error::SeatsTaken(taken) => Self::new(
                Code::SeatsTaken,
                "The places named in `taken` cannot be had: others have them, or they are not \
                 for sale. Nothing was held. Choose other places, or ask for the best available.",
            )
            .with("taken", taken),
            Error::OthersWereFaster => Self::new(
                Code::Unavailable,
                "Places that fit were free, and others had them first each time. Nothing was \
                 held. Try again.",
            )
            .retry_after(UNAVAILABLE_RETRY_S),
            Error::NotOnSale { reason, on_sale_at } => {
                let problem = Self::new(Code::NotOnSale, sentence(reason));
                match on_sale_at {
                    Some(moment) => problem.with("on_sale_at", moment.to_string()),
                    None => problem,
                }
            }
            Error::Conflict(reason) => Self::new(Code::Conflict, sentence(reason)),
            Error::RequestInFlight => Self::new(
                Code::RequestInFlight,
                "An attempt to pay for this hold is under way. Read the order until it is \
                 decided; if the card is declined, try another one then.",
            ),
            Error::HoldExpired => Self::new(
                Code::HoldExpired,
                "The hold has expired and its places are free for others. Place a new hold.",
            ),
            Error::LimitExceeded { limit, of } => Self::new(
                Code::LimitExceeded,
                format!("At most {limit} {of}. What you had before is unchanged."),
            )
            .with("limit", limit),
            Error::IdempotencyMismatch => Self::new(
                Code::IdempotencyMismatch,
                "This Idempotency-Key came with a different request before, and that one stands. \
                 Send the first request again, or use a new key.",
            ),
            // The function that asked knows the challenge and puts it in.
            Error::WorkRequired => Self::new(
                Code::WorkRequired,
                "This account is asked for some work first. Nothing was changed.",
            ),
            Error::RateLimited { retry_after_s } => Self::new(
                Code::RateLimited,
                format!("Too many requests. Nothing was changed. Try again in {retry_after_s} s."),
            )
            .retry_after(retry_after_s),
            Error::Unavailable => Self::unanswered_write(UNAVAILABLE_RETRY_S),
            Error::Corrupt => Self::internal(),
        }
    }
}

/// A use case gives its reason in a few words; a person reads a sentence.
fn sentence(reason: &str) -> String {
    let mut rest = reason.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    let text: String = first.chain(rest).collect();
    let ended = text.ends_with(['.', '!', '?']);
    if ended { text } else { text + "." }
}
