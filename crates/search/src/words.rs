//! How a text becomes words, alike for every language and for texts and queries.
//!
//! - Case, accents and width are folded: `Ångström`, `ANGSTROM` and `Ａngstrom` are one.
//! - A letter with an umlaut counts both ways, `ü` as `u` and as `ue`.
//! - Scripts that write without spaces (Chinese, Japanese, Korean, Thai and their
//!   neighbours) are cut into single characters and pairs of neighbours.
//! - Words joined by a hyphen, a slash, an apostrophe or the like count apart and as
//!   one: `AC/DC` is `ac`, `dc` and `acdc`.

use unicode_normalization::UnicodeNormalization;

/// A longer word is cut: nobody types it, and it would swell the dictionary.
const WORD_CHARS: usize = 64;
/// More parts than this are a chain, not a word.
const JOINED_PARTS: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// A word between spaces, in every form that it may be met in.
    Spaced(Vec<String>),
    /// A run of a script without spaces.
    Dense(Vec<char>),
}

impl Word {
    /// What the index keeps of it.
    pub(crate) fn terms(&self) -> Vec<String> {
        match self {
            Self::Spaced(forms) => forms.clone(),
            Self::Dense(run) => {
                let single = run.iter().map(char::to_string);
                single.chain(pairs(run)).collect()
            }
        }
    }
}

/// The pairs of neighbours of a run.
pub(crate) fn pairs(run: &[char]) -> impl Iterator<Item = String> + '_ {
    run.windows(2).map(|pair| pair.iter().collect())
}

pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut reader = Reader::default();
    // Composed, so that an accent typed as a character of its own is part of its letter.
    for c in text.nfkc().flat_map(char::to_lowercase).nfc() {
        reader.read(c);
    }
    reader.end_chain();
    reader.end_run();
    reader.words
}

/// One part of a chain, with umlauts as plain letters and as two letters.
#[derive(Debug, Default)]
struct Part {
    plain: String,
    written_out: String,
}

impl Part {
    fn push(&mut self, plain: &str, written_out: &str) {
        if self.plain.len() < WORD_CHARS * 4 {
            self.plain.push_str(plain);
            self.written_out.push_str(written_out);
        }
    }
}

#[derive(Debug, Default)]
struct Reader {
    words: Vec<Word>,
    /// Parts of words that follow each other with nothing but a joint between.
    chain: Vec<Part>,
    part: Part,
    run: Vec<char>,
}

impl Reader {
    fn read(&mut self, c: char) {
        if is_dense(c) {
            self.end_chain();
            self.run.push(c);
            return;
        }
        self.end_run();
        if is_mark(c) {
            return;
        }
        if c.is_alphanumeric() || is_sign(c) {
            fold(c, &mut self.part);
        } else if is_joint(c) && !self.part.plain.is_empty() {
            self.end_part();
        } else {
            self.end_chain();
        }
    }

    fn end_part(&mut self) {
        let part = std::mem::take(&mut self.part);
        if !part.plain.is_empty() {
            self.chain.push(part);
        }
    }

    fn end_chain(&mut self) {
        self.end_part();
        let chain = std::mem::take(&mut self.chain);
        let is_joined = (2..=JOINED_PARTS).contains(&chain.len());
        let joined: String = chain.iter().map(|part| part.plain.as_str()).collect();
        for part in chain {
            let mut forms = vec![cut(part.plain)];
            for more in [cut(part.written_out)]
                .into_iter()
                .chain(is_joined.then(|| cut(joined.clone())))
            {
                if !forms.contains(&more) {
                    forms.push(more);
                }
            }
            self.words.push(Word::Spaced(forms));
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if !run.is_empty() {
            self.words.push(Word::Dense(run));
        }
    }
}

fn cut(word: String) -> String {
    match word.char_indices().nth(WORD_CHARS) {
        Some((at, _)) => word[..at].to_owned(),
        None => word,
    }
}

/// Adds a letter without its accents.
fn fold(c: char, part: &mut Part) {
    let pair = match c {
        'ä' => ("a", "ae"),
        'ö' | 'ø' => ("o", "oe"),
        'ü' => ("u", "ue"),
        'å' => ("a", "aa"),
        'æ' => ("ae", "ae"),
        'œ' => ("oe", "oe"),
        'ß' => ("ss", "ss"),
        'ł' => ("l", "l"),
        'đ' | 'ð' => ("d", "d"),
        'þ' => ("th", "th"),
        'ı' => ("i", "i"),
        'ħ' => ("h", "h"),
        'ς' => ("σ", "σ"),
        _ => {
            let bare: String = [c].into_iter().nfd().filter(|c| !is_mark(*c)).collect();
            part.push(&bare, &bare);
            return;
        }
    };
    part.push(pair.0, pair.1);
}

/// An accent. The signs of Indic scripts are part of the word, and none of these.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// A sign that belongs to the word it stands in, though it is no letter.
fn is_sign(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

fn is_joint(c: char) -> bool {
    matches!(c, '\'' | '’' | '-' | '‐' | '/' | '.' | '&' | '_' | '+')
}

fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'     // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Burmese
        | '\u{1100}'..='\u{11ff}'   // Hangul letters
        | '\u{1780}'..='\u{17ff}'   // Khmer
        | '\u{3005}'..='\u{3007}'   // ideographic repetition and zero
        | '\u{3040}'..='\u{30fa}'   // kana
        | '\u{30fc}'..='\u{30ff}'
        | '\u{3130}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'   // Han
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'   // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Words that a query may have and a title lack: they help, but are not required.
pub(crate) fn is_small(word: &str) -> bool {
    const SMALL: [&str; 62] = [
        "a", "an", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with",
        "das", "dem", "den", "der", "des", "die", "ein", "eine", "im", "mit", "oder", "und", "vom",
        "von", "zu", "zum", "zur", "au", "aux", "avec", "de", "du", "en", "et", "la", "le", "les",
        "ou", "par", "un", "une", "con", "del", "el", "las", "los", "para", "por", "una", "y", "e",
        "в", "и", "на", "с", "к", "о", "для",
    ];
    SMALL.contains(&word) || (word.len() == 1 && word.as_bytes()[0].is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spaced(text: &str) -> Vec<Vec<String>> {
        let forms = |word| match word {
            Word::Spaced(forms) => forms,
            Word::Dense(run) => panic!("{run:?}"),
        };
        words(text).into_iter().map(forms).collect()
    }

    #[test]
    fn case_accents_and_width_are_folded_in_every_language() {
        for (text, folded) in [
            ("CAFÉ Señor Łódź", "cafe senor lodz"),
            ("Cafe\u{301}", "cafe"),
            ("ＲＯＣＫ", "rock"),
            ("Ёлка и Йод", "елка и иод"),
            ("ΟΔΥΣΣΕΥΣ Οδυσσεύς", "οδυσσευσ οδυσσευσ"),
            ("İstanbul", "istanbul"),
            ("Straße", "strasse"),
            ("…¡!? 🎸", ""),
        ] {
            let first: Vec<_> = spaced(text).into_iter().map(|mut f| f.remove(0)).collect();
            assert_eq!(first.join(" "), folded, "{text}");
        }
    }

    #[test]
    fn an_umlaut_counts_both_ways() {
        assert_eq!(spaced("Müller"), [["muller", "mueller"]]);
        assert_eq!(spaced("Mu\u{308}ller"), [["muller", "mueller"]]);
        assert_eq!(spaced("Mueller"), [["mueller"]]);
    }

    #[test]
    fn what_is_joined_counts_apart_and_as_one() {
        assert_eq!(spaced("AC/DC"), [["ac", "acdc"], ["dc", "acdc"]]);
        assert_eq!(spaced("L’Opéra"), [["l", "lopera"], ["opera", "lopera"]]);
        assert_eq!(spaced("rock - pop"), [["rock"], ["pop"]]);
        assert_eq!(spaced("a-b-c-d-e").len(), 5);
        assert_eq!(spaced("a-b-c-d-e")[0], ["a"]);
    }

    #[test]
    fn scripts_without_spaces_are_cut_into_characters_and_pairs() {
        let terms: Vec<_> = words("周杰伦 2027演唱会")
            .iter()
            .flat_map(Word::terms)
            .collect();
        assert_eq!(
            terms,
            [
                "周", "杰", "伦", "周杰", "杰伦", "2027", "演", "唱", "会", "演唱", "唱会"
            ]
        );
    }

    #[test]
    fn a_long_word_is_cut_at_a_letter() {
        let long = "й".repeat(500);
        assert_eq!(spaced(&long)[0][0].chars().count(), WORD_CHARS);
    }
}
