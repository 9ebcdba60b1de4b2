//! A made-up catalogue in six languages. Words are drawn from lists and, for names, put
//! together from syllables, so that the dictionary is as large as that of a real one.

use onsale_domain::event::{Event, ShowSummary};
use onsale_domain::ids::{AccountId, EventId, ShowId, VenueId};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::show::StoredStatus;
use onsale_domain::time::Millis;
use onsale_domain::venue::Location;

pub const NOW: Millis = Millis(1_800_000_000_000);
pub const DAY: u64 = 24 * 3_600_000;

/// Numbers that are the same in every run.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % most as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

struct Language {
    words: &'static [&'static str],
    syllables: &'static [&'static str],
    joint: &'static str,
}

const LANGUAGES: [Language; 6] = [
    Language {
        words: &[
            "The",
            "Night",
            "of",
            "Summer",
            "Festival",
            "Symphony",
            "Orchestra",
            "Live",
            "Tour",
            "Unplugged",
            "Comedy",
            "Theatre",
            "Jazz",
            "Rock",
            "Concert",
            "Evening",
            "with",
            "Legends",
            "Championship",
            "Exhibition",
            "Winter",
            "Acoustic",
            "Session",
            "World",
            "Final",
            "Gala",
            "Opera",
            "Ballet",
            "Tribute",
            "Anniversary",
        ],
        syllables: &[
            "mar", "lin", "stone", "wick", "ber", "ford", "hal", "ley", "ton", "ash", "well",
            "ken", "dra", "son", "ro", "by",
        ],
        joint: " ",
    },
    Language {
        words: &[
            "Die",
            "Nacht",
            "der",
            "Sommerfest",
            "Orchester",
            "Weihnachtskonzert",
            "Lesung",
            "Kabarett",
            "Zauberflöte",
            "Frühlingsball",
            "Straßenmusik",
            "Jubiläum",
            "Abschiedstour",
            "Bühne",
            "Gespräche",
            "Chöre",
            "Märchen",
            "für",
            "Kinder",
            "und",
            "Erwachsene",
        ],
        syllables: &[
            "mül", "ler", "schmidt", "bach", "hein", "rich", "wolf", "gang", "stein", "berg",
            "öst", "rau", "feld", "kirch", "hof", "grün",
        ],
        joint: " ",
    },
    Language {
        words: &[
            "Le",
            "Fantôme",
            "de",
            "la",
            "Soirée",
            "électro",
            "Festival",
            "d'été",
            "Spectacle",
            "Théâtre",
            "Opéra",
            "Concert",
            "à",
            "Ciel",
            "ouvert",
            "Exposition",
            "Rencontres",
            "Chanson",
            "française",
            "Les",
            "Étoiles",
            "du",
            "Cirque",
        ],
        syllables: &[
            "beau", "mont", "char", "lotte", "dé", "gas", "ville", "roux", "mar", "tin", "ley",
            "rand", "font", "aine", "gué", "rin",
        ],
        joint: " ",
    },
    Language {
        words: &[
            "Noche",
            "de",
            "Flamenco",
            "y",
            "Guitarra",
            "Española",
            "Festival",
            "del",
            "Verano",
            "Concierto",
            "Gira",
            "Mundial",
            "El",
            "Niño",
            "Corazón",
            "Teatro",
            "Danza",
            "Feria",
            "Internacional",
            "Canción",
            "Otoño",
            "Estrellas",
        ],
        syllables: &[
            "gar", "cía", "mar", "tí", "nez", "lo", "pez", "san", "chez", "ro", "drí", "guez",
            "mu", "ñoz", "val", "verde",
        ],
        joint: " ",
    },
    Language {
        words: &[
            "Лебединое",
            "озеро",
            "Концерт",
            "группы",
            "Вечер",
            "памяти",
            "Щелкунчик",
            "Симфонический",
            "оркестр",
            "Летний",
            "фестиваль",
            "на",
            "стадионе",
            "Большой",
            "театр",
            "Премьера",
            "спектакля",
            "Новогодняя",
            "сказка",
            "и",
            "друзья",
        ],
        syllables: &[
            "ива", "нов", "пет", "ров", "смир", "куз", "не", "цов", "мо", "роз", "вол", "ков",
            "ле", "бе", "дев", "ская",
        ],
        joint: " ",
    },
    Language {
        words: &[
            "上海",
            "国际",
            "音乐节",
            "世界",
            "巡回",
            "演唱会",
            "交响乐",
            "之夜",
            "芭蕾",
            "话剧",
            "新年",
            "音乐会",
            "爵士",
            "摇滚",
            "歌剧",
            "嘉年华",
            "钢琴",
            "独奏",
            "传奇",
            "经典",
        ],
        syllables: &[
            "周", "杰", "伦", "李", "明", "华", "王", "菲", "张", "学", "友", "林", "俊", "陈",
            "奕", "迅", "梅", "艳", "芳", "龙",
        ],
        joint: "",
    },
];

const CITIES: [(&str, f64, f64); 12] = [
    ("Berlin", 52.52, 13.405),
    ("Paris", 48.857, 2.352),
    ("Madrid", 40.417, -3.704),
    ("London", 51.507, -0.128),
    ("Москва", 55.756, 37.617),
    ("上海", 31.23, 121.474),
    ("München", 48.137, 11.575),
    ("Lyon", 45.764, 4.836),
    ("Sevilla", 37.389, -5.984),
    ("New York", 40.713, -74.006),
    ("Санкт-Петербург", 59.931, 30.361),
    ("北京", 39.904, 116.407),
];
pub const CATEGORIES: [&str; 8] = [
    "music",
    "theatre",
    "sport",
    "comedy",
    "opera",
    "dance",
    "exhibition",
    "family",
];
/// Besides the well-known ones, this many smaller towns.
const TOWNS: usize = 2_000;

fn name(dice: &mut Dice, language: &Language) -> String {
    let parts: String = (0..2 + dice.below(2))
        .map(|_| dice.pick(language.syllables))
        .collect();
    let mut letters = parts.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

fn title(dice: &mut Dice, language: &Language) -> String {
    let mut words: Vec<String> = vec![name(dice, language)];
    if dice.below(2) == 0 {
        words.push(name(dice, language));
    }
    for _ in 0..2 + dice.below(3) {
        words.push(dice.pick(language.words).to_owned());
    }
    words.join(language.joint)
}

fn city(dice: &mut Dice) -> (String, Location) {
    let (name, lat, lon) = match dice.below(3) {
        0 => {
            let town = dice.below(TOWNS);
            let mut own = Dice::new(town as u64 + 7);
            let language = &LANGUAGES[town % LANGUAGES.len()];
            let town = name(&mut own, language);
            let lat = own.below(120) as f64 - 50.0;
            let lon = own.below(360) as f64 - 180.0;
            (town, lat, lon)
        }
        _ => {
            let (name, lat, lon) = CITIES[dice.below(CITIES.len())];
            (name.to_owned(), lat, lon)
        }
    };
    let off = |dice: &mut Dice| dice.below(1_000) as f64 / 5_000.0;
    let (lat, lon) = (lat + off(dice), lon + off(dice));
    (name, Location { lat, lon })
}

/// The n-th event.
pub fn event(n: usize) -> Event {
    let mut dice = Dice::new(n as u64 + 1);
    for _ in 0..3 {
        dice.below(2);
    }
    let language = &LANGUAGES[n % LANGUAGES.len()];
    let id = |kind: &[u8], m: usize| {
        *EventId::derived(&[kind, &n.to_be_bytes(), &m.to_be_bytes()]).as_bytes()
    };
    let (city, location) = city(&mut dice);
    let eur = Currency::parse("EUR").unwrap_or_else(|| unreachable!("a currency"));
    let shows = (0..1 + dice.below(4)).map(|m| ShowSummary {
        id: ShowId::from_bytes(id(b"show", m)),
        starts_at: NOW + dice.below(365) as u64 * DAY + DAY,
        on_sale_at: None,
        from_price: Money {
            amount: Cents(1_000 + dice.below(150) as u64 * 100),
            currency: eur,
        },
        status: StoredStatus::OnSale,
        sold_out: false,
    });
    let shows: Vec<_> = shows.collect();
    let description = (0..20 + dice.below(20)).map(|_| dice.pick(language.words));
    let description: Vec<_> = description.collect();
    Event {
        id: EventId::from_bytes(id(b"event", 0)),
        owner: AccountId::from_bytes(id(b"owner", 0)),
        title: title(&mut dice, language),
        description: Some(description.join(language.joint)),
        category: dice.pick(&CATEGORIES).to_owned(),
        venue_id: VenueId::from_bytes(id(b"venue", 0)),
        venue: format!("{} Hall", name(&mut dice, language)),
        city,
        location: Some(location),
        timezone: None,
        poster_url: None,
        shows,
        created: Millis(NOW.0 - n as u64 * 60_000),
    }
}

/// The title with one letter lost, doubled, replaced or swapped with its neighbour, in
/// each of its two longest words.
pub fn misspelt(title: &str, dice: &mut Dice) -> String {
    let mut words: Vec<Vec<char>> = title.split(' ').map(|w| w.chars().collect()).collect();
    let mut by_length: Vec<usize> = (0..words.len()).collect();
    by_length.sort_by_key(|n| std::cmp::Reverse(words[*n].len()));
    for n in by_length.into_iter().take(2) {
        let word = &mut words[n];
        if word.len() < 4 {
            continue;
        }
        let at = 1 + dice.below(word.len() - 2);
        match dice.below(4) {
            0 => drop(word.remove(at)),
            1 => word.insert(at, word[at]),
            2 => word[at] = word[at - 1],
            _ => word.swap(at, at + 1),
        }
    }
    let words: Vec<String> = words.into_iter().map(|w| w.into_iter().collect()).collect();
    words.join(" ")
}
