//! Points in time, at the venue, with the name of its zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use onsale_domain::language::Language;
use onsale_domain::time::Millis;

const DAYS: [&str; 7] = [
    "Montag",
    "Dienstag",
    "Mittwoch",
    "Donnerstag",
    "Freitag",
    "Samstag",
    "Sonntag",
];
const MONTHS: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];

/// `Friday, 2 July 2027, 20:00 CEST (Europe/Berlin)`.
pub(crate) fn when(at: Millis, timezone: &str, language: Language) -> String {
    let moment = i64::try_from(at.0).ok().map(Timestamp::from_millisecond);
    let Some(Ok(moment)) = moment else {
        return at.to_string();
    };
    // A name that no database knows is still a venue: then in UTC, and it says so.
    let (zone, name) = match TimeZone::get(timezone) {
        Ok(zone) => (zone, timezone),
        Err(_) => (TimeZone::UTC, "UTC"),
    };
    let local = moment.to_zoned(zone);
    let short = local.strftime("%Z").to_string();
    let zone = match short == name {
        true => short,
        false => format!("{short} ({name})"),
    };
    match language {
        Language::En => format!("{} {zone}", local.strftime("%A, %-d %B %Y, %H:%M")),
        Language::De => {
            let day = DAYS[local.weekday().to_monday_zero_offset() as usize % 7];
            let month = MONTHS[(local.month() as usize + 11) % 12];
            let time = local.strftime("%H:%M");
            let (date, year) = (local.day(), local.year());
            format!("{day}, {date}. {month} {year}, {time} Uhr {zone}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_at_the_venue_in_the_language_of_the_reader() {
        let at = Millis::parse_rfc3339("2027-03-05T19:00:00Z").unwrap();
        let of = |zone| Language::ALL.map(|language| when(at, zone, language));
        assert_eq!(
            of("Europe/Berlin"),
            [
                "Friday, 5 March 2027, 20:00 CET (Europe/Berlin)",
                "Freitag, 5. März 2027, 20:00 Uhr CET (Europe/Berlin)"
            ]
        );
        assert_eq!(of("UTC")[0], "Friday, 5 March 2027, 19:00 UTC");
        assert_eq!(of("Atlantis/Centre")[0], of("UTC")[0]);
        assert_eq!(
            of("Asia/Tokyo")[1],
            "Samstag, 6. März 2027, 04:00 Uhr JST (Asia/Tokyo)"
        );
    }
}
