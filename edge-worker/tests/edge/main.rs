//! The routes of the edge and its objects, on a host whose clock, cloud and controller do
//! what a test says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod backend;
mod captcha;
mod controller;
mod counting;
mod entering;
mod fairness;
mod forgetting;
mod joining;
mod limits;
mod pages;
mod quiet;
mod reached;
mod scene;
mod watching;
