//! The clocks of venues, which the runtime knows.

use onsale_domain::time::Millis;
use worker::wasm_bindgen::{self, prelude::wasm_bindgen};

#[wasm_bindgen(module = "/src/cloudflare/local_time.js")]
extern "C" {
    #[wasm_bindgen(js_name = localTime)]
    fn js_local_time(ms: f64, zone: &str) -> Option<String>;
}

/// `2026-12-17T20:00`, if this zone is known.
pub(crate) fn local_time(moment: Millis, zone: &str) -> Option<String> {
    js_local_time(moment.0 as f64, zone)
}
