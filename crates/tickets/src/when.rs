//! Points in time, at the venue, with the name of its zone.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use onsale_domain::language::Language;
use onsale_domain::time::Millis;

/// `Friday, 2 July 2027, 20:00 CEST`: the time at the venue, where a ticket is used.
pub fn local_time(at: Millis, timezone: &str, language: Language) -> String {
    let local = at_venue(at, timezone);
    format!("{} {}", day_and_time(&local, language), short_zone(&local))
}

/// `Friday, 2 July 2027, 20:00 CEST (Europe/Berlin)`, for those who read it elsewhere.
pub fn local_time_and_zone(at: Millis, timezone: &str, language: Language) -> String {
    let local = at_venue(at, timezone);
    let text = local_time(at, timezone, language);
    match local.time_zone().iana_name() {
        Some(name) if name != short_zone(&local) => format!("{text} ({name})"),
        _ => text,
    }
}

fn at_venue(at: Millis, timezone: &str) -> Zoned {
    let moment = i64::try_from(at.0).ok();
    let moment = moment.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let moment = moment.unwrap_or(Timestamp::MAX);
    // A name that no database knows is still a venue: then in UTC, and it says so.
    moment.to_zoned(TimeZone::get(timezone).unwrap_or(TimeZone::UTC))
}

fn short_zone(local: &Zoned) -> String {
    local.strftime("%Z").to_string()
}

fn day_and_time(local: &Zoned, language: Language) -> String {
    let (weekdays, months) = match language {
        Language::En => (ENGLISH_DAYS, ENGLISH_MONTHS),
        Language::De => (GERMAN_DAYS, GERMAN_MONTHS),
        Language::Fr => (FRENCH_DAYS, FRENCH_MONTHS),
        Language::Es => (SPANISH_DAYS, SPANISH_MONTHS),
    };
    let weekday = weekdays[local.weekday().to_monday_zero_offset() as usize % 7];
    let month = months[(local.month() as usize + 11) % 12];
    let (day, year) = (local.day(), local.year());
    let time = local.strftime("%H:%M");
    match language {
        Language::En => format!("{weekday}, {day} {month} {year}, {time}"),
        Language::De => format!("{weekday}, {day}. {month} {year}, {time} Uhr"),
        Language::Fr => {
            let first = if day == 1 { "er" } else { "" };
            format!("{weekday} {day}{first} {month} {year} à {time}")
        }
        Language::Es => format!("{weekday}, {day} de {month} de {year}, {time}"),
    }
}

const ENGLISH_DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const ENGLISH_MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const GERMAN_DAYS: [&str; 7] = [
    "Montag",
    "Dienstag",
    "Mittwoch",
    "Donnerstag",
    "Freitag",
    "Samstag",
    "Sonntag",
];
const GERMAN_MONTHS: [&str; 12] = [
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
const FRENCH_DAYS: [&str; 7] = [
    "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche",
];
const FRENCH_MONTHS: [&str; 12] = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
];
const SPANISH_DAYS: [&str; 7] = [
    "lunes",
    "martes",
    "miércoles",
    "jueves",
    "viernes",
    "sábado",
    "domingo",
];
const SPANISH_MONTHS: [&str; 12] = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(at: &str, zone: &str) -> [String; 4] {
        let at = Millis::parse_rfc3339(at).unwrap();
        Language::ALL.map(|language| local_time_and_zone(at, zone, language))
    }

    #[test]
    fn a_time_is_told_at_the_venue_in_the_language_of_the_reader() {
        assert_eq!(
            of("2027-03-05T19:00:00Z", "Europe/Berlin"),
            [
                "Friday, 5 March 2027, 20:00 CET (Europe/Berlin)",
                "Freitag, 5. März 2027, 20:00 Uhr CET (Europe/Berlin)",
                "vendredi 5 mars 2027 à 20:00 CET (Europe/Berlin)",
                "viernes, 5 de marzo de 2027, 20:00 CET (Europe/Berlin)",
            ]
        );
        assert_eq!(
            of("2027-07-31T22:30:00Z", "Europe/Madrid")[2..],
            [
                "dimanche 1er août 2027 à 00:30 CEST (Europe/Madrid)",
                "domingo, 1 de agosto de 2027, 00:30 CEST (Europe/Madrid)",
            ]
        );
    }

    #[test]
    fn a_zone_that_no_database_knows_is_utc() {
        let utc = of("2027-03-05T19:00:00Z", "UTC");
        assert_eq!(utc[0], "Friday, 5 March 2027, 19:00 UTC");
        assert_eq!(of("2027-03-05T19:00:00Z", "Atlantis/Centre"), utc);
        assert_eq!(
            of("2027-03-05T19:00:00Z", "Asia/Tokyo")[1],
            "Samstag, 6. März 2027, 04:00 Uhr JST (Asia/Tokyo)"
        );
    }

    #[test]
    fn a_ticket_names_the_zone_in_short() {
        let at = Millis::parse_rfc3339("2027-07-02T18:00:00Z").unwrap();
        let on_ticket = |zone| local_time(at, zone, Language::En);
        assert_eq!(
            on_ticket("Europe/Berlin"),
            "Friday, 2 July 2027, 20:00 CEST"
        );
        assert_eq!(
            on_ticket("Atlantis/Centre"),
            "Friday, 2 July 2027, 18:00 UTC"
        );
        assert!(!local_time(Millis(u64::MAX), "UTC", Language::Fr).is_empty());
    }
}
