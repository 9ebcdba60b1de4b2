//! Venues: a place with a layout that several events share.

use serde::{Deserialize, Serialize};

use crate::ids::{AccountId, VenueId};
use crate::time::Millis;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Location {
    pub lat: f64,
    pub lon: f64,
}

impl Location {
    pub fn is_on_earth(&self) -> bool {
        self.lat.abs() <= 90.0 && self.lon.abs() <= 180.0
    }

    /// The distance over the ground, by the haversine formula.
    pub fn distance_km(&self, other: &Self) -> f64 {
        const EARTH_RADIUS_KM: f64 = 6_371.0;
        let half_sine = |a: f64, b: f64| ((b - a).to_radians() / 2.0).sin().powi(2);
        let across = self.lat.to_radians().cos() * other.lat.to_radians().cos();
        let square = half_sine(self.lat, other.lat) + across * half_sine(self.lon, other.lon);
        2.0 * EARTH_RADIUS_KM * square.clamp(0.0, 1.0).sqrt().asin()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Venue {
    pub id: VenueId,
    pub owner: AccountId,
    pub name: String,
    pub city: String,
    pub address: Option<String>,
    pub timezone: String,
    pub location: Option<Location>,
    pub places: u32,
    pub created: Millis,
}

/// Whether this has the form of an IANA time zone name, such as `Europe/Berlin`.
pub fn is_timezone(name: &str) -> bool {
    let part = |p: &str| {
        (1..=32).contains(&p.len())
            && p.starts_with(|c: char| c.is_ascii_alphabetic())
            && p.bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
    };
    name.split('/').count() <= 3 && name.split('/').all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_follow_the_ground_and_cross_the_date_line() {
        let berlin = Location {
            lat: 52.52,
            lon: 13.405,
        };
        let paris = Location {
            lat: 48.8566,
            lon: 2.3522,
        };
        assert!((berlin.distance_km(&paris) - 878.0).abs() < 2.0);
        assert_eq!(berlin.distance_km(&berlin), 0.0);
        let (east, west) = (
            Location {
                lat: 0.0,
                lon: 179.9,
            },
            Location {
                lat: 0.0,
                lon: -179.9,
            },
        );
        assert!(east.distance_km(&west) < 23.0);
    }

    #[test]
    fn a_location_that_is_no_number_is_not_on_earth() {
        assert!(
            Location {
                lat: -90.0,
                lon: 180.0
            }
            .is_on_earth()
        );
        assert!(
            !Location {
                lat: f64::NAN,
                lon: 0.0
            }
            .is_on_earth()
        );
        assert!(
            !Location {
                lat: 90.1,
                lon: 0.0
            }
            .is_on_earth()
        );
    }
}
