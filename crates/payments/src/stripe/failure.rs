//! What it means when Stripe does not do what it was asked: the one place that tells
//! a refusal from "try again" and from a mistake of ours.

use http::StatusCode;
use onsale_app::ports::PaymentFailure;
use serde::Deserialize;

/// Longer texts of the provider are cut: they go into errors and to buyers.
const MAX_TEXT: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    /// The card or its bank said no, for a reason that a buyer may read.
    Card(String),
    /// Stripe understood the request and does not do it, as things stand.
    Rejected(Rejection),
    /// Stripe failed. It keeps such an answer under the idempotency key, so asking again
    /// gives it again: only a look at the payment tells what is true.
    Broken(String),
    /// No answer, or none that can be read, or "not now".
    NoAnswer(String),
    /// Stripe does not trust us.
    NotTrusted(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rejection {
    pub(super) status: StatusCode,
    pub(super) code: String,
    pub(super) param: String,
    pub(super) message: String,
}

impl Rejection {
    pub(super) fn is_missing(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    /// The buyer's method cannot be used: it is unknown, was used up, or is of a kind
    /// that we do not take.
    pub(super) fn blames_method(&self) -> bool {
        self.param == "payment_method"
            || self.code.starts_with("payment_method_")
            || self.code == "payment_intent_incompatible_payment_method"
            || self.message.contains("PaymentMethod")
    }

    /// No card is charged so little, or so much.
    pub(super) fn is_no_amount(&self) -> bool {
        matches!(self.code.as_str(), "amount_too_small" | "amount_too_large")
    }

    /// The reservation has lapsed at the bank.
    pub(super) fn is_too_late_to_capture(&self) -> bool {
        matches!(
            self.code.as_str(),
            "charge_expired_for_capture"
                | "capture_charge_authorization_expired"
                | "capture_unauthorized_payment"
        )
    }

    /// The charge cannot give this much back, whoever asks.
    pub(super) fn rules_out_refund(&self) -> bool {
        self.param == "amount"
            || matches!(
                self.code.as_str(),
                "charge_already_refunded"
                    | "charge_disputed"
                    | "refund_disputed_payment"
                    | "balance_insufficient"
                    | "insufficient_funds"
            )
    }

    /// For operators: it names the codes, and the message if there is no secret in it.
    fn describe(&self) -> String {
        let parts = [&self.code, &self.param, &self.message];
        let known: Vec<&str> = parts
            .iter()
            .map(|p| p.as_str())
            .filter(|p| !p.is_empty())
            .collect();
        format!("{} {}", self.status.as_u16(), known.join(", "))
    }
}

impl From<CallError> for PaymentFailure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Card(reason) => Self::Ours(format!("an unexpected refusal: {reason}")),
            CallError::Rejected(rejection) => Self::Ours(rejection.describe()),
            CallError::NotTrusted(why) => Self::Ours(why),
            CallError::Broken(why) | CallError::NoAnswer(why) => Self::Unavailable(why),
        }
    }
}

#[derive(Deserialize)]
struct ErrorReply {
    error: ErrorBody,
}

/// The error object of Stripe, which a payment also carries for its last attempt.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ErrorBody {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<String>,
    decline_code: Option<String>,
    param: Option<String>,
    message: Option<String>,
}

/// What a reply other than 2xx means.
pub(super) fn classify(status: StatusCode, body: &[u8]) -> CallError {
    let number = status.as_u16();
    let error = serde_json::from_slice::<ErrorReply>(body)
        .ok()
        .map(|reply| reply.error);
    match number {
        // Stripe's own text quotes the key; it stays out.
        401 | 403 => CallError::NotTrusted(format!("{number}: the key is not accepted")),
        409 => CallError::NoAnswer("409: the same call is still under way".into()),
        429 => CallError::NoAnswer("429: too many calls".into()),
        500.. => {
            let message = error.and_then(|e| e.message).map(|m| presentable(&m));
            CallError::Broken(format!("{number}: {}", message.unwrap_or_default()))
        }
        400..500 => match error {
            Some(error) if number == 402 || error.kind.as_deref() == Some("card_error") => {
                CallError::Card(error.reason())
            }
            Some(error) => CallError::Rejected(Rejection {
                status,
                code: error.code.unwrap_or_default(),
                param: error.param.unwrap_or_default(),
                message: presentable(&error.message.unwrap_or_default()),
            }),
            // Something between us and Stripe answered.
            None => CallError::NoAnswer(format!("{number} without an explanation")),
        },
        _ => CallError::NotTrusted(format!("{number}: this is not the address of Stripe")),
    }
}

impl ErrorBody {
    /// Why a card was refused, in words for its holder. A reason such as a stolen card
    /// is between the bank and the holder, so it reads like any other.
    pub(super) fn reason(&self) -> String {
        let code = self.decline_code.as_deref().or(self.code.as_deref());
        let known = match code.unwrap_or_default() {
            "insufficient_funds" => "The card has insufficient funds.",
            "expired_card" => "The card has expired.",
            "incorrect_cvc" | "invalid_cvc" => "The card's security code is wrong.",
            "incorrect_number" | "invalid_number" => "The card number is wrong.",
            "card_velocity_exceeded" => "The card's limit is reached.",
            "authentication_required" | "payment_intent_authentication_failure" => {
                "The card was not confirmed with the bank."
            }
            "processing_error" => "The card could not be charged just now.",
            "generic_decline" | "fraudulent" | "lost_card" | "stolen_card" | "pickup_card"
            | "merchant_blacklist" => "The card was declined.",
            _ => "",
        };
        match self.message.as_deref().map(presentable) {
            _ if !known.is_empty() => known.to_owned(),
            Some(message) if !message.is_empty() => message,
            _ => "The card was declined.".to_owned(),
        }
    }
}

/// A text of the provider as it may be shown: short, on one line, and without anything
/// that looks like a key or a secret.
pub(super) fn presentable(text: &str) -> String {
    let secret = ["sk_", "rk_", "_secret_", "whsec_"];
    if secret.iter().any(|mark| text.contains(mark)) {
        return String::new();
    }
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    line.take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: &str) -> ErrorBody {
        ErrorBody {
            code: Some("card_declined".into()),
            decline_code: Some(code.into()),
            message: Some("Your card was declined by a rule of sk_test_1.".into()),
            ..ErrorBody::default()
        }
    }

    #[test]
    fn a_holder_reads_what_helps_and_nothing_that_accuses() {
        assert_eq!(
            code("insufficient_funds").reason(),
            "The card has insufficient funds."
        );
        for silent in ["stolen_card", "lost_card", "fraudulent", "something_new"] {
            assert_eq!(code(silent).reason(), "The card was declined.", "{silent}");
        }
    }

    #[test]
    fn a_text_that_quotes_a_secret_is_dropped() {
        assert_eq!(presentable("Invalid key sk_test_51"), "");
        assert_eq!(presentable("pi_1_secret_2 does not match"), "");
        assert_eq!(presentable("two\nlines"), "two lines");
        assert_eq!(presentable(&"x".repeat(500)).len(), MAX_TEXT);
    }

    fn classified(status: u16, fields: &str) -> CallError {
        let body = format!(r#"{{"error":{{{fields}}}}}"#);
        classify(StatusCode::from_u16(status).unwrap(), body.as_bytes())
    }

    #[test]
    fn a_status_tells_whose_turn_it_is() {
        for (status, fields) in [(402, ""), (400, r#""type":"card_error""#)] {
            let error = classified(status, fields);
            assert!(matches!(error, CallError::Card(_)), "{status}");
        }
        for status in [400, 404] {
            let error = classified(status, r#""type":"invalid_request_error""#);
            assert!(matches!(error, CallError::Rejected(_)), "{status}");
        }
        for status in [409, 429] {
            assert!(
                matches!(classified(status, ""), CallError::NoAnswer(_)),
                "{status}"
            );
        }
        for status in [500, 502, 503] {
            assert!(
                matches!(classified(status, ""), CallError::Broken(_)),
                "{status}"
            );
        }
        for status in [302, 401, 403] {
            assert!(
                matches!(classified(status, ""), CallError::NotTrusted(_)),
                "{status}"
            );
        }
    }

    #[test]
    fn a_rejection_blames_the_method_only_when_it_is_about_the_method() {
        let blames = |fields: &str| match classified(400, fields) {
            CallError::Rejected(rejection) => rejection.blames_method(),
            other => panic!("{other:?}"),
        };
        assert!(blames(
            r#""code":"resource_missing","param":"payment_method""#
        ));
        assert!(blames(r#""code":"payment_method_unexpected_state""#));
        assert!(blames(
            r#""code":"payment_intent_incompatible_payment_method""#
        ));
        assert!(blames(
            r#""message":"The provided PaymentMethod was used before.""#
        ));
        assert!(!blames(r#""code":"payment_intent_unexpected_state""#));
        assert!(!blames(r#""code":"resource_missing","param":"intent""#));
    }
}
