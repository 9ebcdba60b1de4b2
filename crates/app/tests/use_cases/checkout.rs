//! From a hold to tickets and back, with every port in memory: what happens when
//! processes die, replies are lost, workers come back late and messages come twice.

mod attempts;
mod charge_backs;
mod counted;
pub(crate) mod counters;
mod crash;
mod gates;
mod leaving;
mod no_such_amount;
mod parked;
mod passes;
mod races;
mod receipts;
mod reconcile;
mod reconcile_payments;
mod reconcile_races;
mod refund_terms;
mod refunds;
mod sales;
mod scans;
pub(crate) mod scene;
mod show_cancellation;
mod slow_provider;
mod transfers;
mod way;
