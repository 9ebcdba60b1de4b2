//! A moment by the clocks of a venue. The runtime of the worker knows all time zones and so
//! does the native build; their databases would not fit into the worker.

use onsale_domain::time::Millis;

/// A date and a time of day, somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LocalTime {
    pub year: i32,
    pub month: u8,
    pub day: u8,
    pub hour: u8,
    pub minute: u8,
}

impl LocalTime {
    /// By the clocks of this zone, or by UTC where no database knows it.
    pub fn at(moment: Millis, zone: &str) -> Self {
        let text = local_text(moment, zone).or_else(|| local_text(moment, "UTC"));
        text.and_then(|text| Self::parse(&text)).unwrap_or(Self {
            year: 1970,
            month: 1,
            day: 1,
            hour: 0,
            minute: 0,
        })
    }

    /// Reads `2026-12-17T20:00`.
    fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_once('T')?;
        let mut date = date.splitn(3, '-');
        let (hour, minute) = time.split_once(':')?;
        let read = Self {
            year: date.next()?.parse().ok()?,
            month: date.next()?.parse().ok()?,
            day: date.next()?.parse().ok()?,
            hour: hour.parse().ok()?,
            minute: minute.parse().ok()?,
        };
        let is_date = (1..=12).contains(&read.month) && (1..=31).contains(&read.day);
        is_date.then_some(read)
    }

    /// 0 is Monday. Sakamoto's method.
    pub fn weekday(self) -> usize {
        const SHIFTS: [i32; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
        let year = self.year - i32::from(self.month < 3);
        let shift = SHIFTS[usize::from(self.month - 1) % 12];
        let sunday_first = year + year / 4 - year / 100 + year / 400 + shift + i32::from(self.day);
        usize::try_from((sunday_first + 6).rem_euclid(7)).unwrap_or(0)
    }
}

/// `2026-12-17T20:00`, if this zone is known.
#[cfg(target_arch = "wasm32")]
fn local_text(moment: Millis, zone: &str) -> Option<String> {
    crate::cloudflare::local_time(moment, zone)
}

#[cfg(not(target_arch = "wasm32"))]
fn local_text(moment: Millis, zone: &str) -> Option<String> {
    let moment = i64::try_from(moment.0).ok()?;
    let moment = jiff::Timestamp::from_millisecond(moment).ok()?;
    let zone = jiff::tz::TimeZone::get(zone).ok()?;
    let local = moment.to_zoned(zone);
    Some(local.strftime("%Y-%m-%dT%H:%M").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(moment: &str, zone: &str) -> String {
        let moment = Millis::parse_rfc3339(moment).unwrap();
        let time = LocalTime::at(moment, zone);
        format!(
            "{} {}-{}-{} {:02}:{:02}",
            time.weekday(),
            time.year,
            time.month,
            time.day,
            time.hour,
            time.minute
        )
    }

    #[test]
    fn a_moment_is_told_by_the_clocks_of_its_zone_in_summer_and_in_winter() {
        let berlin = "Europe/Berlin";
        assert_eq!(local("2026-12-17T19:00:00Z", berlin), "3 2026-12-17 20:00");
        assert_eq!(local("2026-07-02T19:00:00Z", berlin), "3 2026-7-2 21:00");
        // The hour that there is twice, and the next one.
        assert_eq!(local("2026-10-25T00:30:00Z", berlin), "6 2026-10-25 02:30");
        assert_eq!(local("2026-10-25T01:30:00Z", berlin), "6 2026-10-25 02:30");
        // Another day, and a zone of three quarters of an hour.
        let kathmandu = "Asia/Kathmandu";
        assert_eq!(local("2027-02-28T18:30:00Z", kathmandu), "0 2027-3-1 00:15");
        assert_eq!(
            local("2028-02-29T10:00:00Z", "America/New_York"),
            "1 2028-2-29 05:00"
        );
        assert_eq!(
            local("2026-12-17T19:00:00Z", "No/Where"),
            "3 2026-12-17 19:00"
        );
    }
}
