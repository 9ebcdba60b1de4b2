//! What the edge and the functions say alike over HTTP, so that a client cannot tell which
//! of them answered.
//!
//! It builds for wasm32 and knows no framework; the feature `functions` adds what handlers of
//! axum need.

mod code;
mod cookies;
mod names;
mod origin;
mod problem;

#[cfg(feature = "functions")]
mod from_error;
#[cfg(feature = "functions")]
mod handler_answer;

pub use code::Code;
pub use cookies::cookie;
pub use names::{PASS_COOKIE, PASS_HEADER, REQUEST_ID_HEADER, SUSPICION_HEADER};
pub use origin::{Origin, origin};
pub use problem::{PROBLEM_MEDIA_TYPE, Problem};
