//! When and where, as a ticket says it.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Section, row and seat of a seat id such as `A-12-7`; a place of general admission,
/// `FLOOR-GA-7`, is its section only.
pub fn place_of(seat_id: &str) -> (&str, Option<&str>, Option<&str>) {
    let parts: Vec<&str> = seat_id.split('-').collect();
    match parts.as_slice() {
        [section, "GA", _] => (section, None, None),
        [section, row, seat] => (section, Some(row), Some(seat)),
        _ => (seat_id, None, None),
    }
}

/// The time at the venue, where the ticket is used; with its zone, so that nobody has to
/// guess. `at_ms` are milliseconds since 1970.
pub fn local_time(at_ms: u64, timezone: &str) -> String {
    let moment = i64::try_from(at_ms).ok();
    let moment = moment.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let moment = moment.unwrap_or(Timestamp::MAX);
    // A name that no database knows is still a venue: then in UTC.
    let zone = TimeZone::get(timezone).unwrap_or(TimeZone::UTC);
    let local = moment.to_zoned(zone);
    local.strftime("%A, %-d %B %Y, %H:%M %Z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_says_the_time_at_its_venue() {
        // 2027-07-02T18:00:00Z
        let evening = 1_814_551_200_000;
        assert_eq!(
            local_time(evening, "Europe/Berlin"),
            "Friday, 2 July 2027, 20:00 CEST"
        );
        assert_eq!(
            local_time(evening, "Atlantis/Centre"),
            "Friday, 2 July 2027, 18:00 UTC"
        );
    }

    #[test]
    fn a_seat_has_a_row_and_a_general_place_has_none() {
        assert_eq!(place_of("A-12-7"), ("A", Some("12"), Some("7")));
        assert_eq!(place_of("Floor-GA-7"), ("Floor", None, None));
        assert_eq!(place_of("odd"), ("odd", None, None));
    }
}
