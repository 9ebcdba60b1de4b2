//! Holding places over HTTP.

#![allow(clippy::unwrap_used)]

mod hang_up;
mod pass;
mod work;
