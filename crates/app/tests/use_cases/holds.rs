//! The hold path under bad luck: lost races, twins, crashes, late messages.
//!
//! Each test forces one interleaving and fails without the rule that deals with it.

mod basics;
mod crowd;
mod expiry;
mod old_map;
mod passes;
mod prices;
mod scene;
mod slow;
mod twins;
