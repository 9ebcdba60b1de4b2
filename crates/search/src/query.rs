//! What is asked, as a query of the engine.
//!
//! Every word of a query must be met somewhere in the event, spelt alike or nearly so;
//! small words (`the`, `der`, `de`) only help. A hit is scored by where and how exactly
//! each word was met, and by nothing else: since all words are required, it hardly
//! matters how rare each is, and a score that does not depend on other events is the
//! same on every page, whatever was indexed in between. So a cursor can carry it.

use std::ops::Bound;

use onsale_app::events::{EventFilter, Near};
use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, DisjunctionMaxQuery, FuzzyTermQuery, Occur, Query,
    RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use crate::schema::Fields;
use crate::words::{Word, is_small, pairs, words};

/// Words beyond these are ignored: they only cost time.
const WORDS_MAX: usize = 12;
/// Characters of a run that are looked at.
const RUN_MAX: usize = 24;
/// A word needs this many letters to be met with one letter amiss, or with two.
const ONE_AMISS: usize = 4;
const TWO_AMISS: usize = 8;
const KM_PER_DEGREE: f64 = 111.0;

/// How much a word counts, by where it is met: in the title, in venue, city or
/// category, in the description.
struct Worth {
    title: u16,
    place: u16,
    description: u16,
}

const EXACT: Worth = Worth {
    title: 100,
    place: 60,
    description: 30,
};
const PREFIX: Worth = Worth {
    title: 80,
    place: 50,
    description: 0,
};
const ONE_LETTER: Worth = Worth {
    title: 24,
    place: 14,
    description: 0,
};
const TWO_LETTERS: Worth = Worth {
    title: 8,
    place: 5,
    description: 0,
};
const SMALL: Worth = Worth {
    title: 4,
    place: 0,
    description: 0,
};
/// A pair of characters; a word has several.
const PAIR: Worth = Worth {
    title: 50,
    place: 30,
    description: 15,
};

/// A query, and how many words of it a title has to be about.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub query: Box<dyn Query>,
    /// Without words nothing is scored.
    pub words: usize,
}

pub(crate) fn wanted(fields: &Fields, filter: &EventFilter) -> Wanted {
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    let asked = words(filter.words.as_deref().unwrap_or_default());
    let count = asked.len().min(WORDS_MAX);
    let asked = &asked[..count];
    let all_small = asked.iter().all(is_small_word);
    for (n, word) in asked.iter().enumerate() {
        if !all_small && is_small_word(word) {
            clauses.push((Occur::Should, small(fields, word)));
        } else {
            clauses.push((Occur::Must, met(fields, word, n + 1 == count)));
        }
    }
    // Somebody asked for words, but for none that could be met.
    let in_vain = filter
        .words
        .as_deref()
        .is_some_and(|w| !w.trim().is_empty())
        && count == 0;
    if in_vain {
        clauses.push((Occur::Must, Box::new(tantivy::query::EmptyQuery)));
    }
    for narrow in filters(fields, filter) {
        clauses.push((Occur::Must, scored(narrow, 0)));
    }
    let query: Box<dyn Query> = match clauses.is_empty() {
        true => Box::new(AllQuery),
        false => Box::new(BooleanQuery::new(clauses)),
    };
    Wanted {
        query,
        words: count,
    }
}

fn is_small_word(word: &Word) -> bool {
    matches!(word, Word::Spaced(forms) if forms.iter().take(1).all(|form| is_small(form)))
}

fn scored(query: Box<dyn Query>, score: u16) -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(query, f32::from(score)))
}

fn exactly(field: Field, text: &str) -> Box<dyn Query> {
    let term = Term::from_field_text(field, text);
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

/// The query in every field in which it counts for something.
fn everywhere(
    fields: &Fields,
    worth: &Worth,
    query: impl Fn(Field) -> Box<dyn Query>,
) -> Vec<Box<dyn Query>> {
    [
        (fields.title, worth.title),
        (fields.place, worth.place),
        (fields.description, worth.description),
    ]
    .into_iter()
    .filter(|(_, score)| *score > 0)
    .map(|(field, score)| scored(query(field), score))
    .collect()
}

fn small(fields: &Fields, word: &Word) -> Box<dyn Query> {
    let ways = word
        .terms()
        .iter()
        .flat_map(|form| everywhere(fields, &SMALL, |field| exactly(field, form)))
        .collect();
    Box::new(DisjunctionMaxQuery::new(ways))
}

/// One word, met in any of its ways; the best of them counts.
fn met(fields: &Fields, word: &Word, is_last: bool) -> Box<dyn Query> {
    let forms = match word {
        Word::Spaced(forms) => forms,
        Word::Dense(run) => return run_met(fields, run),
    };
    let mut ways = Vec::new();
    for form in forms {
        ways.extend(everywhere(fields, &EXACT, |field| exactly(field, form)));
        if is_last {
            ways.extend(everywhere(fields, &PREFIX, |field| begins(field, form)));
        }
        let letters = form.chars().count();
        // A number with a digit amiss is another number.
        if letters < ONE_AMISS || form.chars().all(char::is_numeric) {
            continue;
        }
        ways.extend(everywhere(fields, &ONE_LETTER, |field| {
            nearly(field, form, 1)
        }));
        if letters >= TWO_AMISS {
            ways.extend(everywhere(fields, &TWO_LETTERS, |field| {
                nearly(field, form, 2)
            }));
        }
    }
    Box::new(DisjunctionMaxQuery::new(ways))
}

/// The terms of a field that begin so: from the beginning itself up to the next text of
/// its length.
fn begins(field: Field, start: &str) -> Box<dyn Query> {
    let term = Term::from_field_text(field, start);
    Box::new(FuzzyTermQuery::new_prefix(term, 0, true))
}

fn nearly(field: Field, word: &str, amiss: u8) -> Box<dyn Query> {
    let term = Term::from_field_text(field, word);
    Box::new(FuzzyTermQuery::new(term, amiss, true))
}

/// A run is met by its pairs. One wrong character spoils two of them, so a run with
/// four or more may lack two.
fn run_met(fields: &Fields, run: &[char]) -> Box<dyn Query> {
    let run = &run[..run.len().min(RUN_MAX)];
    let parts: Vec<String> = match run {
        [single] => vec![single.to_string()],
        run => pairs(run).collect(),
    };
    let needed = match parts.len() {
        n if n >= 4 => n - 2,
        n => n,
    };
    let clauses = parts.iter().map(|part| {
        let ways = everywhere(fields, &PAIR, |field| exactly(field, part));
        let best: Box<dyn Query> = Box::new(DisjunctionMaxQuery::new(ways));
        (Occur::Should, best)
    });
    Box::new(BooleanQuery::with_minimum_required_clauses(
        clauses.collect(),
        needed,
    ))
}

/// What must hold besides the words, as far as the engine can tell quickly. Shows and
/// distances are judged exactly when an event is collected.
fn filters(fields: &Fields, filter: &EventFilter) -> Vec<Box<dyn Query>> {
    let mut narrow: Vec<Box<dyn Query>> = Vec::new();
    for (field, key) in [
        (fields.city_key, &filter.city),
        (fields.category_key, &filter.category),
    ] {
        if let Some(key) = key {
            narrow.push(exactly(field, key));
        }
    }
    let number = |field, n| Term::from_field_u64(field, n);
    match &filter.show {
        Some(show) => {
            let from = Bound::Included(number(fields.last_at, show.from.0));
            let to = Bound::Included(number(fields.first_at, show.to.0));
            narrow.push(Box::new(RangeQuery::new(from, Bound::Unbounded)));
            narrow.push(Box::new(RangeQuery::new(Bound::Unbounded, to)));
        }
        None => {
            let now = Bound::Excluded(number(fields.last_of_all, filter.now.0));
            narrow.push(Box::new(RangeQuery::new(now, Bound::Unbounded)));
        }
    }
    if let Some(Near { center, radius_km }) = filter.near {
        // A little more than needed, for the rounding.
        let degrees = radius_km / KM_PER_DEGREE + 0.01;
        let latitude = |lat: f64| Bound::Included(Term::from_field_f64(fields.lat, lat));
        narrow.push(Box::new(RangeQuery::new(
            latitude(center.lat - degrees),
            latitude(center.lat + degrees),
        )));
    }
    narrow
}
