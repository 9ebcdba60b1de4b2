//! Titles in several languages find themselves: as they are written, in other case,
//! without accents, by beginnings, and with letters amiss.

use proptest::prelude::*;

use super::*;

const TITLES: [&str; 18] = [
    "The Magic Flute",
    "Rock'n'Roll All Nite: A Tribute",
    "AC/DC – Power Up Tour",
    "Jürgen Müller & die Straßenmusikanten",
    "Weihnachtsoratorium in der Thomaskirche",
    "Die Zauberflöte",
    "Le Fantôme de l’Opéra",
    "Soirée électro à la plage",
    "Cœur de pirate",
    "Noche de Flamenco y Guitarra Española",
    "El Niño con el pijama de rayas",
    "Лебединое озеро",
    "Концерт группы «Кино» на стадионе",
    "Щелкунчик: рождественская сказка",
    "周杰伦嘉年华世界巡回演唱会",
    "上海国际爵士音乐节",
    "宝塚歌劇 ベルサイユのばら",
    "방탄소년단 월드 투어",
];

async fn world() -> (Place, SnapshotSearch) {
    let place = Place::new();
    let events = (0u16..).zip(TITLES).map(|(n, title)| event(n, title));
    place.build(&events.collect::<Vec<_>>()).await;
    let reader = place.reader("read");
    (place, reader)
}

#[tokio::test]
async fn every_title_finds_itself_first() {
    let (_place, search) = world().await;
    for title in TITLES {
        for asked in [title.to_owned(), title.to_uppercase(), title.to_lowercase()] {
            let found = titles(&search, &asked).await;
            assert_eq!(found.first().map(String::as_str), Some(title), "{asked}");
        }
    }
}

#[tokio::test]
async fn words_are_found_in_other_spellings_and_with_letters_amiss() {
    let (_place, search) = world().await;
    for (asked, title) in [
        // Without accents, with umlauts written out, in other widths.
        ("jurgen muller", TITLES[3]),
        ("juergen mueller", TITLES[3]),
        ("Strassenmusikanten", TITLES[3]),
        ("zauberflote", TITLES[5]),
        ("zauberfloete", TITLES[5]),
        ("fantome opera", TITLES[6]),
        ("l'opera", TITLES[6]),
        ("coeur pirate", TITLES[8]),
        ("guitarra espanola", TITLES[9]),
        ("ＦＬＡＭＥＮＣＯ", TITLES[9]),
        ("acdc", TITLES[2]),
        ("щелкунчик", TITLES[13]),
        // Beginnings of the last word.
        ("weih", TITLES[4]),
        ("magic flu", TITLES[0]),
        ("лебед", TITLES[11]),
        ("concert", "none"),
        // Letters swapped, lost, added and wrong.
        ("magci flute", TITLES[0]),
        ("magic fulte", TITLES[0]),
        ("Zauberflöhte", TITLES[5]),
        ("Weinachtsoratorum", TITLES[4]),
        ("fantom", TITLES[6]),
        ("flamneco", TITLES[9]),
        ("Лебидиное озиро", TITLES[11]),
        ("щилкунчик", TITLES[13]),
        ("рожественская сказка", TITLES[13]),
        // Characters and pairs.
        ("周杰伦", TITLES[14]),
        ("演唱会", TITLES[14]),
        ("爵", TITLES[15]),
        ("周杰轮嘉年华世界", TITLES[14]),
        ("ベルサイユ", TITLES[16]),
        ("방탄소년단", TITLES[17]),
        // A small word that the title lacks.
        ("the magic flute in", TITLES[0]),
    ] {
        let found = titles(&search, asked).await;
        let first = found.first().map_or("none", String::as_str);
        assert_eq!(first, title, "{asked}: {found:?}");
    }
}

#[tokio::test]
async fn short_words_and_numbers_forgive_nothing() {
    let place = Place::new();
    place
        .build(&[
            event(1, "Jazz 2027"),
            event(2, "Pop Art"),
            event(3, "Opera 2026"),
        ])
        .await;
    let search = place.reader("read");
    assert_eq!(titles(&search, "2026").await, ["Opera 2026"]);
    assert!(titles(&search, "pup art").await.is_empty(), "three letters");
    assert_eq!(titles(&search, "jaz").await, ["Jazz 2027"], "a beginning");
    assert!(titles(&search, "jaz 2027").await.is_empty(), "not the last");
    assert!(titles(&search, "opera 2025").await.is_empty());
}

#[tokio::test]
async fn the_better_match_comes_first() {
    let place = Place::new();
    let mut told = event(5, "An Evening");
    told.description = Some("Carmen, at last.".to_owned());
    let mut hall = event(6, "Gala");
    hall.venue = "Carmen House".to_owned();
    place
        .build(&[
            event(1, "Carmens Nacht"),
            event(2, "Karmen"),
            told,
            hall,
            event(3, "Carmen and the Bulls of Seville"),
            event(4, "Carmen"),
        ])
        .await;
    let found = titles(&place.reader("read"), "carmen").await;
    let expected = [
        "Carmen",
        "Carmen and the Bulls of Seville",
        "Carmens Nacht",
        "Gala",
        "An Evening",
        "Karmen",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn every_word_must_be_met_and_some_ask_for_nothing() {
    let (_place, search) = world().await;
    assert!(titles(&search, "magic озеро").await.is_empty());
    assert!(titles(&search, "§$%").await.is_empty());
    assert_eq!(titles(&search, "Magic Berlin hall").await, [TITLES[0]]);
    assert_eq!(titles(&search, "   ").await.len(), TITLES.len());
    let small = titles(&search, "the").await;
    assert_eq!(small.first().map(String::as_str), Some(TITLES[0]));
}

#[test]
fn no_query_is_too_strange() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (place, search) = runtime.block_on(world());
    let odd = "[\\PC]{0,60}|[a-z'’/.&_+ -]{0,80}|[一-龥가-힣ぁ-んก-๙ ]{0,80}|\\PC{0,200}";
    let mut runner = proptest::test_runner::TestRunner::default();
    let asked = (odd, 1usize..=100, prop::option::of("[a-zA-Zß ]{0,20}"));
    runner
        .run(&asked, |(words, limit, city)| {
            let query = EventQuery {
                city,
                limit,
                ..asking(&words)
            };
            let found = runtime.block_on(search.search(&query, &[], NOW));
            prop_assert!(found.unwrap().unwrap().events.len() <= limit);
            Ok(())
        })
        .unwrap();
    drop(place);
}
