//! The local cloud as its users see it: by the ports of the application, and through its runner.
#![allow(clippy::unwrap_used)]

mod bus;
mod folder;
mod mailbox;
mod objects;
mod queues;
mod runner;
mod schedules;
mod wiring;
mod work;

/// The template that deploys the platform.
const TEMPLATE: &str = include_str!("../../../../template.yaml");
