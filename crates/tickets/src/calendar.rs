//! A visit as an entry for calendars (RFC 5545), at the time of the venue.
//!
//! When a show ends nobody tells us, so the entry has a beginning only. The id stays that of
//! the order: whoever fetches it again after a show has moved gets the same entry, moved.

use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

/// RFC 5545, 3.1: octets of a line without its end.
const MAX_OCTETS: usize = 75;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarEntry {
    /// The same for every copy of this entry, and for no other.
    pub uid: String,
    pub title: String,
    pub location: String,
    /// Lines of text: seats, and the number of the order.
    pub description: Vec<String>,
    pub starts_at_ms: u64,
    /// An IANA name. One that no database knows is taken for UTC.
    pub timezone: String,
    pub written_at_ms: u64,
}

/// The entry as a file, with the lines ended and folded as the format wants.
pub fn calendar(entry: &CalendarEntry) -> String {
    let mut file = File::default();
    for line in [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Onsale//Onsale//EN",
        "METHOD:PUBLISH",
    ] {
        file.line(line);
    }
    let starts_at = moment(entry.starts_at_ms);
    let zone = TimeZone::get(&entry.timezone).ok();
    let zone = zone.filter(|zone| *zone != TimeZone::UTC);
    if let Some(zone) = &zone {
        file.zone(&entry.timezone, zone, starts_at);
    }
    file.line("BEGIN:VEVENT");
    file.text("UID", &entry.uid);
    let written_at = utc(moment(entry.written_at_ms));
    file.line(&format!("DTSTAMP:{written_at}"));
    let starts = match &zone {
        Some(zone) => {
            let local = zone.to_datetime(starts_at).strftime("%Y%m%dT%H%M%S");
            format!("DTSTART;TZID={}:{local}", entry.timezone)
        }
        None => format!("DTSTART:{}", utc(starts_at)),
    };
    file.line(&starts);
    file.text("SUMMARY", &entry.title);
    file.text("LOCATION", &entry.location);
    file.text("DESCRIPTION", &entry.description.join("\n"));
    file.line("STATUS:CONFIRMED");
    file.line("END:VEVENT");
    file.line("END:VCALENDAR");
    file.0
}

fn moment(ms: u64) -> Timestamp {
    let ms = i64::try_from(ms).ok();
    let moment = ms.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    moment.unwrap_or(Timestamp::MAX)
}

fn utc(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

#[derive(Default)]
struct File(String);

impl File {
    /// A property whose value may be any text.
    fn text(&mut self, name: &str, value: &str) {
        self.line(&format!("{name}:{}", escaped(value)));
    }

    /// One line, folded where it is too long, and never inside of a character.
    fn line(&mut self, line: &str) {
        let mut octets = 0;
        for character in line.chars() {
            if octets + character.len_utf8() > MAX_OCTETS {
                self.0.push_str("\r\n ");
                octets = 1;
            }
            octets += character.len_utf8();
            self.0.push(character);
        }
        self.0.push_str("\r\n");
    }

    /// What the clocks of the zone do at this moment. It is all that a reader needs to place
    /// this one entry.
    fn zone(&mut self, name: &str, zone: &TimeZone, at: Timestamp) {
        let info = zone.to_offset_info(at);
        let (kind, to) = (
            if info.dst().is_dst() {
                "DAYLIGHT"
            } else {
                "STANDARD"
            },
            info.offset(),
        );
        let later = at.checked_add(SignedDuration::from_secs(1)).unwrap_or(at);
        let change = zone.preceding(later).next();
        let before = change.as_ref().and_then(|change| {
            let before = change.timestamp().checked_sub(SignedDuration::from_secs(1));
            Some((change.timestamp(), zone.to_offset(before.ok()?)))
        });
        let (since, from) = match before {
            Some((since, from)) => (from.to_datetime(since), from),
            None => (to.to_datetime(Timestamp::UNIX_EPOCH), to),
        };
        self.line("BEGIN:VTIMEZONE");
        self.line(&format!("TZID:{name}"));
        self.line(&format!("BEGIN:{kind}"));
        self.line(&format!("DTSTART:{}", since.strftime("%Y%m%dT%H%M%S")));
        self.line(&format!("TZOFFSETFROM:{}", offset_text(from)));
        self.line(&format!("TZOFFSETTO:{}", offset_text(to)));
        self.text("TZNAME", info.abbreviation());
        self.line(&format!("END:{kind}"));
        self.line("END:VTIMEZONE");
    }
}

/// `+0100`; with seconds where a zone of old has them.
fn offset_text(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let all = seconds.unsigned_abs();
    let text = format!("{sign}{:02}{:02}", all / 3_600, all / 60 % 60);
    match all % 60 {
        0 => text,
        rest => format!("{text}{rest:02}"),
    }
}

/// RFC 5545, 3.3.11. What is no printable character and no line break is left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' | ';' | ',' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\n' => escaped.push_str("\\n"),
            character if character.is_control() => {}
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2027-07-02T18:00:00Z
    const EVENING: u64 = 1_814_551_200_000;

    fn entry(timezone: &str) -> CalendarEntry {
        CalendarEntry {
            uid: "ord_1@onsale".into(),
            title: "Nacht; Musik, \\ und\r\nBEGIN:VALARM".into(),
            location: "Große Halle, Berlin".into(),
            description: vec!["Parkett, row 5, seat 10".into(), "K7M4-2PQXR".into()],
            starts_at_ms: EVENING,
            timezone: timezone.into(),
            written_at_ms: 1_800_000_000_000,
        }
    }

    #[test]
    fn an_entry_is_at_the_time_of_its_venue_and_brings_the_zone_along() {
        let expected = [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:-//Onsale//Onsale//EN",
            "METHOD:PUBLISH",
            "BEGIN:VTIMEZONE",
            "TZID:Europe/Berlin",
            "BEGIN:DAYLIGHT",
            "DTSTART:20270328T020000",
            "TZOFFSETFROM:+0100",
            "TZOFFSETTO:+0200",
            "TZNAME:CEST",
            "END:DAYLIGHT",
            "END:VTIMEZONE",
            "BEGIN:VEVENT",
            "UID:ord_1@onsale",
            "DTSTAMP:20270115T080000Z",
            "DTSTART;TZID=Europe/Berlin:20270702T200000",
            "SUMMARY:Nacht\\; Musik\\, \\\\ und\\nBEGIN:VALARM",
            "LOCATION:Große Halle\\, Berlin",
            "DESCRIPTION:Parkett\\, row 5\\, seat 10\\nK7M4-2PQXR",
            "STATUS:CONFIRMED",
            "END:VEVENT",
            "END:VCALENDAR",
            "",
        ];
        assert_eq!(calendar(&entry("Europe/Berlin")), expected.join("\r\n"));
    }

    #[test]
    fn a_zone_that_never_changes_and_one_that_nobody_knows_have_their_time_too() {
        let tokyo = calendar(&entry("Asia/Tokyo"));
        assert!(tokyo.contains("TZOFFSETTO:+0900"), "{tokyo}");
        assert!(
            tokyo.contains("DTSTART;TZID=Asia/Tokyo:20270703T030000"),
            "{tokyo}"
        );
        for zone in ["UTC", "Atlantis/Centre"] {
            let plain = calendar(&entry(zone));
            assert!(plain.contains("DTSTART:20270702T180000Z\r\n"), "{plain}");
            assert!(!plain.contains("VTIMEZONE"), "{plain}");
        }
    }

    #[test]
    fn long_lines_are_folded_between_characters() {
        let mut long = entry("UTC");
        long.title = "Ü🎟".repeat(100);
        let file = calendar(&long);
        let lines: Vec<_> = file.split("\r\n").collect();
        assert!(lines.iter().all(|line| line.len() <= MAX_OCTETS), "{file}");
        assert!(!file.replace("\r\n", "").contains('\n'));
        let unfolded = file.replace("\r\n ", "");
        assert!(unfolded.contains(&format!("SUMMARY:{}\r\n", long.title)));
    }
}
