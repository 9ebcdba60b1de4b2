//! Places as people say them: `Stalls, row 5, seats 9–11`, never `Stalls-5-9`.

use onsale_domain::language::Language;

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

struct Words {
    row: &'static str,
    seat: &'static str,
    seats: &'static str,
    /// Between two neighbours, and between the first and the last of more.
    and: &'static str,
    to: &'static str,
    /// Between rows.
    semicolon: &'static str,
    free_choice: &'static str,
}

fn words(language: Language) -> Words {
    match language {
        Language::En => Words {
            row: "row",
            seat: "seat",
            seats: "seats",
            and: "–",
            to: "–",
            semicolon: ";",
            free_choice: "free choice of place",
        },
        Language::De => Words {
            row: "Reihe",
            seat: "Platz",
            seats: "Plätze",
            and: "–",
            to: "–",
            semicolon: ";",
            free_choice: "freie Platzwahl",
        },
        Language::Fr => Words {
            row: "rang",
            seat: "place",
            seats: "places",
            and: " et ",
            to: " à ",
            semicolon: "\u{a0};",
            free_choice: "placement libre",
        },
        Language::Es => Words {
            row: "fila",
            seat: "asiento",
            seats: "asientos",
            and: " y ",
            to: " a ",
            semicolon: ";",
            free_choice: "sin numerar",
        },
    }
}

/// The seats of one row, or the places of one section without rows.
struct Group<'a> {
    section: &'a str,
    row: Option<&'a str>,
    seats: Vec<&'a str>,
}

/// All places of a list, by section and row, neighbours together:
/// `Stalls, row 5, seats 9–11; 2 × Floor, free choice of place`.
pub fn places<S: AsRef<str>>(seat_ids: &[S], language: Language) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (section, row, seat) in seat_ids.iter().map(|id| place_of(id.as_ref())) {
        let same = |group: &&mut Group<'_>| group.section == section && group.row == row;
        let seat = seat.unwrap_or_default();
        match groups.iter_mut().find(same) {
            Some(group) => group.seats.push(seat),
            None => groups.push(Group {
                section,
                row,
                seats: vec![seat],
            }),
        }
    }
    let said: Vec<_> = groups.iter().map(|group| group.said(language)).collect();
    said.join(&format!("{} ", words(language).semicolon))
}

/// One place by its parts: its section, and row and seat where it has them.
pub(crate) fn place(
    section: &str,
    row: Option<&str>,
    seat: Option<&str>,
    language: Language,
) -> String {
    let words = words(language);
    let section = (!section.is_empty()).then(|| section.to_owned());
    let row = row.map(|row| format!("{} {row}", words.row));
    let seat = seat.map(|seat| format!("{} {seat}", words.seat));
    let parts: Vec<_> = [section, row, seat].into_iter().flatten().collect();
    parts.join(", ")
}

impl Group<'_> {
    fn said(&self, language: Language) -> String {
        let words = words(language);
        let Some(row) = self.row else {
            let place = format!("{}, {}", self.section, words.free_choice);
            return match self.seats.len() {
                1 => place,
                n => format!("{n} × {place}"),
            };
        };
        let seat = if self.seats.len() == 1 {
            words.seat
        } else {
            words.seats
        };
        let numbers = numbers(&self.seats, &words);
        format!("{}, {} {row}, {seat} {numbers}", self.section, words.row)
    }
}

/// `9–11, 14`, in ascending order. Seats that are not numbered stay as they come.
fn numbers(seats: &[&str], words: &Words) -> String {
    let parsed: Option<Vec<u32>> = seats.iter().map(|seat| seat.parse().ok()).collect();
    let Some(mut numbers) = parsed else {
        return seats.join(", ");
    };
    numbers.sort_unstable();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let said = runs.iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        1 => format!("{first}{}{last}", words.and),
        _ => format!("{first}{}{last}", words.to),
    });
    said.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_has_a_row_and_a_general_place_has_none() {
        assert_eq!(place_of("A-12-7"), ("A", Some("12"), Some("7")));
        assert_eq!(place_of("Floor-GA-7"), ("Floor", None, None));
        assert_eq!(place_of("odd"), ("odd", None, None));
    }

    #[test]
    fn a_place_is_said_in_the_language_of_the_reader() {
        let said = |seat: &str| Language::ALL.map(|language| places(&[seat], language));
        assert_eq!(
            said("Parkett-5-10"),
            [
                "Parkett, row 5, seat 10",
                "Parkett, Reihe 5, Platz 10",
                "Parkett, rang 5, place 10",
                "Parkett, fila 5, asiento 10",
            ]
        );
        assert_eq!(
            said("Floor-GA-7"),
            [
                "Floor, free choice of place",
                "Floor, freie Platzwahl",
                "Floor, placement libre",
                "Floor, sin numerar",
            ]
        );
    }

    #[test]
    fn neighbours_are_said_together() {
        let said = |seats: &[&str]| places(seats, Language::En);
        assert_eq!(said(&["A-5-11", "A-5-9", "A-5-10"]), "A, row 5, seats 9–11");
        assert_eq!(
            said(&["A-5-9", "A-5-10", "A-5-13", "A-6-9"]),
            "A, row 5, seats 9–10, 13; A, row 6, seat 9"
        );
        assert_eq!(
            said(&["Floor-GA-7", "A-C-1", "Floor-GA-12"]),
            "2 × Floor, free choice of place; A, row C, seat 1"
        );
        assert_eq!(
            places(&["A-5-1", "A-5-2", "A-6-9"], Language::Fr),
            "A, rang 5, places 1 et 2\u{a0}; A, rang 6, place 9"
        );
        assert_eq!(
            places(&["A-5-1", "A-5-2", "A-5-3"], Language::Es),
            "A, fila 5, asientos 1 a 3"
        );
    }

    #[test]
    fn places_with_odd_ids_are_still_said() {
        assert_eq!(
            places(&["A-5-x", "A-5-y"], Language::En),
            "A, row 5, seats x, y"
        );
        assert_eq!(places::<&str>(&[], Language::En), "");
        let largest = format!("A-5-{}", u32::MAX);
        assert_eq!(
            places(&[largest.as_str(), largest.as_str()], Language::En),
            "A, row 5, seats 4294967295, 4294967295"
        );
    }
}
