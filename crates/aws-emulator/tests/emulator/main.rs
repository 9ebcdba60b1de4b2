//! The emulator as its users see it: through the real SDK clients.
#![allow(clippy::unwrap_used)]

mod clients;
mod dynamodb;
mod events;
mod faults;
mod ses;
mod sqs;
