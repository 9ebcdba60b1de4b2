//! What a receipt says of an order: when it was paid, and what was paid back.

use crate::money::Cents;
use crate::order::{Order, OrderStatus};
use crate::time::Millis;

/// Money that went back to the buyer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaidBack {
    /// The place that was sold to somebody else; `None`: the order was called off.
    pub seat: Option<String>,
    pub amount: Cents,
}

/// When the order was paid. `None`: nothing was taken, so there is nothing to receipt.
pub fn paid_at(order: &Order) -> Option<Millis> {
    let known = order.sold_at.or(order.paid_at);
    order.captured.then(|| known.unwrap_or(order.created))
}

/// What was paid back, in that order. What is only promised is not in it.
pub fn paid_back(order: &Order) -> Vec<PaidBack> {
    let resold = order.resold.iter().filter(|resold| resold.repaid);
    let mut all: Vec<_> = resold
        .map(|resold| {
            let seat = order.seats.iter().find(|seat| seat.place == resold.place);
            PaidBack {
                seat: seat.map(|seat| seat.seat.clone()),
                amount: resold.price,
            }
        })
        .collect();
    let refund = order.refund().map_or(Cents(0), |refund| refund.amount);
    if order.status() == OrderStatus::Refunded && refund > Cents(0) {
        all.push(PaidBack {
            seat: None,
            amount: refund,
        });
    }
    all
}
