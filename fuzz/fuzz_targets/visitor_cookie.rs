//! A cookie that names a visitor was written here, in its one spelling, so nobody is
//! known under two texts and nobody sheds what is known against them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use onsale_domain::ids::VisitorId;
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::room::secret::RoomSecret;
use onsale_fuzz::start_from;
use std::sync::LazyLock;

const SECRET: RoomSecret = RoomSecret([1; 32]);

static GENUINE: LazyLock<Vec<String>> = LazyLock::new(|| {
    let all = [Suspicion::Nothing, Suspicion::Unusual, Suspicion::Automated];
    let visitors = [0x00, 0x5a, 0xff].map(|byte| VisitorId::from_bytes([byte; 16]));
    let of = |visitor| all.map(|suspicion| SECRET.visitor_text(visitor, suspicion));
    visitors.map(of).concat()
});

fn start() {
    assert!(
        GENUINE
            .iter()
            .all(|text| SECRET.read_visitor(text).is_some())
    );
    start_from("visitor_cookie", GENUINE.iter());
}

fuzz_target!(init: start(), |text: &str| {
    if let Some((visitor, suspicion)) = SECRET.read_visitor(text) {
        assert_eq!(SECRET.visitor_text(visitor, suspicion), text);
        assert!(GENUINE.iter().any(|genuine| genuine == text), "{text}");
        assert_eq!(RoomSecret([2; 32]).read_visitor(text), None);
    }
});
