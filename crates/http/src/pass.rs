//! Passes of a waiting room. The edge signs them; here they are only checked.

mod offered;
mod token;

#[cfg(test)]
mod token_tests;

pub use offered::OfferedPass;
pub use token::PassVerifier;
