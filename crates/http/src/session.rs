//! Sessions: who is asking.
//!
//! A token says who somebody is; the session store says whether that is still so.
//! [`Authenticated`] checks the token alone, for use cases that read the session
//! together with something else; [`LoggedIn`] reads the store as well.

mod caller;
mod token;

#[cfg(test)]
mod caller_tests;
#[cfg(test)]
mod token_tests;

pub use caller::{
    AtGate, Authenticated, COOKIE, FromHere, HOST_COOKIE, LoggedIn, MaybeLoggedIn, Organiser,
    came_by_tls, cookie_name,
};
pub use token::{SessionSigner, SessionVerifier};
