//! How long a visitor waits, in words, as `web/room/face.js` says it.

use crate::rendered::values::number;
use crate::words::Words;

/// Above this, hours say more than minutes.
const LONG_S: u64 = 5_400;
const DAY_MS: u64 = 86_400_000;

/// `about 3 to 6 minutes`: half of those who wait are in after `p50_s`, and nine of ten after
/// `p90_s`.
pub(super) fn wait_words(words: Words, p50_s: u64, p90_s: u64) -> String {
    let is_long = p90_s > LONG_S;
    let step = step_s(p90_s);
    let (from, to) = ((p50_s + step / 2) / step, p90_s.div_ceil(step));
    // Hours are counted in halves.
    let one = if is_long { 2 } else { 1 };
    if to <= one {
        return words.t("room.wait.moment").to_owned();
    }
    let key = match (from < one, from < to, is_long) {
        (true, _, false) => "room.wait.below",
        (true, _, true) => "room.wait.below_hours",
        (_, true, false) => "room.wait.minutes",
        (_, true, true) => "room.wait.hours",
        (_, false, false) => "room.wait.about",
        (_, false, true) => "room.wait.about_hours",
    };
    let said = |n: u64| match is_long {
        true => halves(words, n),
        false => number(words, n),
    };
    words.with(key, &[("from", &said(from)), ("to", &said(to))])
}

/// `about 20 minutes`, `3 days`: the time until a moment that is known.
pub(super) fn draw_words(words: Words, ms: u64) -> String {
    if ms > 2 * DAY_MS {
        return words.counted("room.days", ms / DAY_MS);
    }
    let seconds = ms.div_ceil(1_000);
    let whole = seconds.next_multiple_of(step_s(seconds));
    wait_words(words, whole, whole)
}

/// Minutes, or half hours.
fn step_s(seconds: u64) -> u64 {
    if seconds > LONG_S { 1_800 } else { 60 }
}

/// `2`, `2.5`: this many halves.
fn halves(words: Words, n: u64) -> String {
    let point = if words.0.as_str() == "en" { "." } else { "," };
    let whole = number(words, n / 2);
    match n % 2 {
        0 => whole,
        _ => format!("{whole}{point}5"),
    }
}

#[cfg(test)]
mod tests {
    use onsale_domain::language::Language;

    use super::*;

    const EN: Words = Words(Language::En);

    #[test]
    fn a_wait_is_said_in_minutes_then_hours_and_one_minute_is_never_a_range() {
        for (p50, p90, said) in [
            (0, 0, "less than a minute"),
            (50, 60, "less than a minute"),
            (20, 100, "less than 2 minutes"),
            (110, 120, "about 2 minutes"),
            (180, 350, "about 3 to 6 minutes"),
            (5_000, 5_400, "about 83 to 90 minutes"),
            (1_000, 7_200, "less than 2 hours"),
            (5_400, 9_000, "about 1.5 to 2.5 hours"),
            (7_200, 7_200, "about 2 hours"),
        ] {
            assert_eq!(wait_words(EN, p50, p90), said);
        }
        let german = wait_words(Words(Language::De), 5_400, 9_000);
        assert_eq!(german, "etwa 1,5 bis 2,5 Stunden");
    }

    #[test]
    fn the_time_until_the_draw_is_said_without_a_date() {
        const MINUTE_MS: u64 = 60_000;
        for (ms, said) in [
            (1, "less than a minute"),
            (MINUTE_MS, "less than a minute"),
            (MINUTE_MS + 1, "about 2 minutes"),
            (20 * MINUTE_MS, "about 20 minutes"),
            (91 * MINUTE_MS, "about 2 hours"),
            (2 * DAY_MS, "about 48 hours"),
            (3 * DAY_MS, "3 days"),
        ] {
            assert_eq!(draw_words(EN, ms), said);
        }
    }
}
