//! From a hold to tickets and back, with every port in memory: what happens when
//! processes die, replies are lost, workers come back late and messages come twice.

#![allow(clippy::unwrap_used)]

mod crash;
mod races;
mod reconcile;
mod refunds;
mod scene;
mod show_cancellation;
mod way;
