//! The routes of checkout over HTTP, in process, with every port in memory.

#![allow(clippy::unwrap_used)]

mod attempts;
mod dead_letters;
mod repeating;
mod resuming;
mod service;
mod settings;
mod terms;
mod webhook;
mod work;
