//! Devices: many accounts on one of them are somebody who wants more than their share.

use crate::ids::VisitorId;
use crate::room::difficulty::Suspicion;

/// The cookie that names a device: a [`VisitorId`], and after a dot whatever the edge
/// adds for itself.
pub const COOKIE: &str = "onsale_visitor";
/// Accounts on a device are counted for this long from the first one.
pub const WINDOW_MS: u64 = 24 * 3_600 * 1_000;
/// More accounts than this are not worth telling apart.
pub const MAX_ACCOUNTS: usize = 16;
/// A family shares a tablet.
const USUAL_ACCOUNTS: usize = 3;
/// A box office, perhaps. Beyond that somebody opens accounts by the dozen.
const MANY_ACCOUNTS: usize = 8;

/// What so many accounts on one device say about each of them.
pub fn suspicion(accounts: usize) -> Suspicion {
    if accounts <= USUAL_ACCOUNTS {
        Suspicion::Nothing
    } else if accounts <= MANY_ACCOUNTS {
        Suspicion::Unusual
    } else {
        Suspicion::Automated
    }
}

/// The device that a cookie names.
pub fn visitor(cookie: &str) -> Option<VisitorId> {
    let id = cookie.split('.').next().unwrap_or_default();
    id.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_nothing_a_dozen_is_a_program() {
        let says: Vec<Suspicion> = [0, 1, 3, 4, 8, 9, 16].map(suspicion).into();
        use Suspicion::*;
        assert_eq!(
            says,
            [
                Nothing, Nothing, Nothing, Unusual, Unusual, Automated, Automated
            ]
        );
    }

    #[test]
    fn a_cookie_names_a_device_whatever_follows_the_dot() {
        let id = VisitorId::from_bytes([9; 16]);
        for cookie in [id.to_string(), format!("{id}.sig"), format!("{id}.a.b")] {
            assert_eq!(visitor(&cookie), Some(id));
        }
        for wrong in [
            "",
            ".",
            "vis_",
            "acc_09",
            &format!("x{id}"),
            &format!("{id}x"),
        ] {
            assert_eq!(visitor(wrong), None, "{wrong}");
        }
    }
}
