//! Holding places over HTTP.

#![allow(clippy::unwrap_used)]

mod accessible;
mod hang_up;
mod optional_fields;
mod pass;
mod work;
