//! The waiting room of a show, on one page.
//!
//! A visitor solves a challenge and gets ([`joining`]) a signed [`ticket`] that carries its
//! own place: a bucket of arrival ([`opening`]) and a lot. Once the bucket is closed the lot has a
//! [`draw`], which nobody could foresee. Whoever lies at or before the [`frontier`] may
//! come to the door. A poll is one signature, one comparison and one estimate ([`status`]),
//! made from what the controller [`published`] within the last second, so ten million
//! visitors cost no state; only those at the door, a bounded few, ask their gate. Only whoever asks to be told by mail when it is their turn leaves one
//! ([`reminder`]).
//!
//! One [`controller`] per show moves the frontier. It counts who joined ([`census`]),
//! learns how many of those it reaches show up ([`steering`]), deals slots out to the gates
//! and calls those at the door in the order of the line ([`allotment`]), and thinks ahead how
//! long the others wait ([`forecast`], [`estimate`]). Each [`gate`] owns the lots that hash
//! to it and alone decides, hard, who is promised a slot and gets a [`pass`]. Who comes to
//! the door is steered; promises and the cap are kept. What the
//! cloud has to say comes as a [`briefing`]; whether it answers those inside is seen at the
//! edge ([`backend`]).
//!
//! Always true:
//! 1. The frontier only moves forward, and only over buckets that are closed.
//! 2. What all gates may believe to hold never adds up to more than the capacity, whatever
//!    happens to messages. After a cut, each gate lets nobody new in until it fits again.
//! 3. A lot gets one pass, for at most fifteen minutes, once. Whoever is told `admitted`
//!    gets it within ten seconds.
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
pub mod forecast;
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
