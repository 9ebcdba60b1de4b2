//! Limits and the CAPTCHA hook.

#![allow(clippy::unwrap_used)]

mod captcha;
mod limits;
