//! Randomness that repeats itself (SplitMix64).

#[derive(Debug, Clone)]
pub struct Chance(pub u64);

impl Chance {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn share(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    pub fn happens(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    pub fn name(&mut self) -> [u8; 16] {
        let mut name = [0; 16];
        name[..8].copy_from_slice(&self.bits().to_be_bytes());
        name[8..].copy_from_slice(&self.bits().to_be_bytes());
        name
    }
}
