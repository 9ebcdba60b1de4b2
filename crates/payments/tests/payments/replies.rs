//! Replies of Stripe, as recorded or as documented, and what may become of them.

use onsale_app::ports::PaymentFailure;
use onsale_domain::ids::OrderId;
use onsale_domain::payment::PaymentId;

use crate::scripted::Reply;

pub const ORDER: OrderId = OrderId::from_bytes([7; 16]);
pub const ORDER_TEXT: &str = "ord_07070707070707070707070707070707";

pub fn pi() -> PaymentId {
    PaymentId("pi_1".into())
}

pub fn intent_with(status: &str, more: &str) -> Reply {
    let body = format!(
        r#"{{"id":"pi_1","object":"payment_intent","amount":4200,"currency":"eur",
        "created":1800000000,"status":"{status}","client_secret":"pi_1_secret_2",
        "metadata":{{"order_id":"{ORDER_TEXT}","onsale_stack":"onsale"}},
        "latest_charge":{{"id":"ch_1","amount_refunded":0}}{more}}}"#
    );
    Reply::Json(200, body)
}

pub fn intent(status: &str) -> Reply {
    intent_with(status, "")
}

pub fn captured(refunded: u64) -> Reply {
    let body = format!(
        r#"{{"id":"pi_1","amount":4200,"currency":"eur","created":1800000000,
        "status":"succeeded","latest_charge":{{"amount_refunded":{refunded}}}}}"#
    );
    Reply::Json(200, body)
}

pub fn error(status: u16, fields: &str) -> Reply {
    Reply::Json(status, format!(r#"{{"error":{{{fields}}}}}"#))
}

pub fn unexpected_state() -> Reply {
    error(
        400,
        r#""type":"invalid_request_error","code":"payment_intent_unexpected_state",
        "message":"This PaymentIntent's status does not allow that.""#,
    )
}

pub fn is_unavailable<T: std::fmt::Debug>(answer: &Result<T, PaymentFailure>) -> bool {
    matches!(answer, Err(PaymentFailure::Unavailable(_)))
}

pub fn is_ours<T: std::fmt::Debug>(answer: &Result<T, PaymentFailure>) -> bool {
    matches!(answer, Err(PaymentFailure::Ours(_)))
}
