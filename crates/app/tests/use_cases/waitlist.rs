//! The waitlist: who is offered what, under crashes, races and a long simulation.

mod crash;
mod head_start;
mod journeys;
mod returns;
mod returns_crash;
mod returns_scene;
mod room;
mod scene;
mod simulation;
