//! The waiting room of a show, on one page.
//!
//! A visitor solves a challenge and gets ([`joining`]) a signed [`ticket`] that carries its
//! own place: a bucket of arrival ([`opening`]) and a lot. Once the bucket is closed the lot has a
//! [`draw`], which nobody could foresee. Whoever lies at or before the [`frontier`] may
//! enter. A poll is one signature, one comparison and one estimate ([`status`]), made from
//! what the controller [`published`] within the last second, so ten million visitors cost
//! no state. Only whoever asks to be told by mail when it is their turn leaves one
//! ([`reminder`]).
//!
//! One [`controller`] per show moves the frontier. It counts who joined ([`census`]),
//! learns how many of the admitted show up ([`steering`]), and deals slots and entries out
//! to the gates ([`allotment`]). Each [`gate`] owns the lots that hash to it and alone
//! decides, hard, who gets a [`pass`]. Eligibility is steered; the cap is kept. What the
//! cloud has to say comes as a [`briefing`]; whether it answers those inside is seen at the
//! edge ([`backend`]).
//!
//! Always true:
//! 1. The frontier only moves forward, and only over buckets that are closed.
//! 2. What all gates may believe to hold never adds up to more than the capacity, whatever
//!    happens to messages. After a cut, each gate lets nobody new in until it fits again.
//! 3. A lot gets one pass, for at most fifteen minutes, once.
//! 4. Whoever holds state stores it before anybody else sees what follows from it: a gate
//!    before a pass is signed or a report sent, the controller before a grant is sent or
//!    anything is published.

pub mod allotment;
pub mod backend;
pub mod beacon;
pub mod briefing;
pub mod census;
pub mod controller;
pub mod difficulty;
pub mod draw;
pub mod estimate;
pub mod fan_code;
pub mod fans;
pub mod frontier;
pub mod gate;
pub mod joining;
pub mod keyed_hash;
pub mod opaque;
pub mod opening;
pub mod pass;
pub mod pass_key;
pub mod published;
pub mod reminder;
pub mod secret;
pub mod status;
pub mod steering;
pub mod ticket;
