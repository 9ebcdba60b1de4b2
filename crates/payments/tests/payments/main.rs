//! Payments, at Stripe and in the sandbox.

#![allow(clippy::unwrap_used)]

mod ledger;
mod localstripe;
mod provider;
mod replies;
mod sandbox;
mod sandbox_repetition;
mod scripted;
mod stripe_authorisation;
mod stripe_disputes;
mod stripe_settlement;
mod wire;
mod world;
