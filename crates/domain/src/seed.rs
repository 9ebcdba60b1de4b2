//! A small deterministic generator, seeded by the caller (SplitMix64). It spreads a
//! crowd over equally good places; nothing secret may depend on it.

#[derive(Debug, Clone)]
pub struct Seed(u64);

impl Seed {
    pub fn new(value: u64) -> Self {
        Self(value)
    }

    /// The stream of an id: two holds spread, one hold repeats itself.
    pub fn of_id(bytes: &[u8; 16], attempt: u64) -> Self {
        let (mut high, mut low) = ([0u8; 8], [0u8; 8]);
        high.copy_from_slice(&bytes[..8]);
        low.copy_from_slice(&bytes[8..]);
        let mixed = u64::from_be_bytes(high) ^ u64::from_be_bytes(low).rotate_left(29);
        Self(mixed.wrapping_add(attempt.wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// An index below `len`, or `None` for an empty range.
    pub fn below(&mut self, len: usize) -> Option<usize> {
        let len = u64::try_from(len).ok().filter(|len| *len > 0)?;
        // The bias of a remainder is far below anything that matters for spreading.
        usize::try_from(self.draw() % len).ok()
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            if let Some(j) = self.below(i + 1) {
                items.swap(i, j);
            }
        }
    }
}
