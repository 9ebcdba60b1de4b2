//! How long to wait before something is tried again.

use std::time::Duration;

/// Full jitter: up to 5 ms at first, doubling to 160 ms.
pub(crate) async fn before_retry(tries: u32) {
    let ceiling_ms = 5u64 << tries.min(5);
    let mut bytes = [0u8; 8];
    // Without randomness the pause is merely not spread.
    let _ = getrandom::fill(&mut bytes);
    let pause_ms = u64::from_be_bytes(bytes) % ceiling_ms + 1;
    tokio::time::sleep(Duration::from_millis(pause_ms)).await;
}
