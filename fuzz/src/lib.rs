//! What the targets share: the genuine inputs from which the fuzzer starts.
//!
//! A target knows every text that was ever signed, for it signed them itself. So it may
//! claim more than that nothing panics: whatever is accepted is one of those texts. The
//! fuzzer begins with them and changes them, as a forger would.

use std::path::Path;

use onsale_domain::time::Millis;

pub const NOW: Millis = Millis(1_800_000_000_000);

/// Puts the genuine inputs where libFuzzer looks for its first ones. It calls a target's
/// `init` before it reads them.
pub fn start_from<T: AsRef<[u8]>>(target: &str, genuine: impl IntoIterator<Item = T>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    std::fs::create_dir_all(&folder).expect("the corpus has a folder");
    for (i, input) in genuine.into_iter().enumerate() {
        std::fs::write(folder.join(format!("genuine-{i}")), input).expect("a seed is written");
    }
}
