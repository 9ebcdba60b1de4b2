//! The words of all pages in all languages, and which of them a text names.

use std::collections::{BTreeMap, BTreeSet};

pub const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];

/// The texts of each key, in the order of [`LANGUAGES`].
pub struct Catalogue(BTreeMap<String, [String; 4]>);

impl Catalogue {
    pub fn read(file: impl Fn(&str) -> String) -> Self {
        let read = LANGUAGES.map(|language| entries(language, &file(language)));
        let keys: BTreeSet<&String> = read.iter().flat_map(|words| words.keys()).collect();
        let texts = keys.into_iter().map(|key| {
            let of = |index: usize| {
                let text = read[index].get(key);
                let language = LANGUAGES[index];
                text.unwrap_or_else(|| panic!("web/words/{language}.js has no '{key}'"))
                    .clone()
            };
            (key.clone(), [of(0), of(1), of(2), of(3)])
        });
        Self(texts.collect())
    }

    /// The same words under short keys, for scripts, and the short key of every key. Those
    /// that are forms of one word, `.one` and `.other`, stay so. `is_free` tells whether no
    /// script has this text as a string of its own.
    pub fn abbreviated(&self, is_free: impl Fn(&str) -> bool) -> (Self, BTreeMap<String, String>) {
        let mut free = short_keys().filter(|key| is_free(key));
        let mut short = BTreeMap::new();
        let mut texts = BTreeMap::new();
        for (key, text) in &self.0 {
            let base = base_of(key).unwrap_or(key);
            let code = short.entry(base.to_owned()).or_insert_with(|| {
                // Without a point it may be a string of another meaning too.
                let is_key = base.contains('.');
                let code = is_key.then(|| free.next().expect("there are keys enough"));
                code.unwrap_or_else(|| base.to_owned())
            });
            texts.insert(format!("{code}{}", &key[base.len()..]), text.clone());
        }
        (Self(texts), short)
    }

    pub fn texts(&self, key: &str) -> &[String; 4] {
        &self.0[key]
    }

    /// The keys that stand in these texts as whole literals. A literal before `.one` and
    /// `.other` names both.
    pub fn named_by(&self, texts: &[String]) -> Vec<&str> {
        let named: BTreeSet<&str> = texts.iter().flat_map(|text| literals(text)).collect();
        let is_named = |key: &&str| {
            named.contains(key) || base_of(key).is_some_and(|base| named.contains(base))
        };
        self.0.keys().map(String::as_str).filter(is_named).collect()
    }

    /// The module that teaches a page these words.
    pub fn module(&self, keys: &[&str], language: usize) -> String {
        let words = keys.iter().map(|key| {
            let text = &self.0[*key][language];
            let is_name = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let key = if is_name {
                (*key).to_owned()
            } else {
                quoted(key)
            };
            format!("{key}:{}", quoted(text))
        });
        let words: Vec<String> = words.collect();
        format!(
            "import{{learn}}from'../words.js';learn({{{}}});\n",
            words.join(",\n")
        )
    }
}

/// What `.one` and `.other` are forms of.
fn base_of(key: &str) -> Option<&str> {
    key.strip_suffix(".one").or(key.strip_suffix(".other"))
}

/// `A0`, `A1`, … `Zz`: no attribute, tag or event is called so.
fn short_keys() -> impl Iterator<Item = String> {
    let second = || ('0'..='9').chain('a'..='z');
    ('A'..='Z').flat_map(move |a| second().map(move |b| format!("{a}{b}")))
}

/// The entries of one file: a line each, `'key': 'text',`.
fn entries(language: &str, file: &str) -> BTreeMap<String, String> {
    let mut entries = BTreeMap::new();
    for (number, line) in file.lines().map(str::trim).enumerate() {
        if !line.starts_with('\'') {
            continue;
        }
        let place = format!("web/words/{language}.js:{}", number + 1);
        let entry = entry(line)
            .unwrap_or_else(|| panic!("{place} is not of the form 'key': 'text', in one line"));
        let known = entries.insert(entry.0, entry.1);
        assert!(known.is_none(), "{place} has a key for the second time");
    }
    entries
}

fn entry(line: &str) -> Option<(String, String)> {
    let (key, rest) = line.strip_prefix('\'')?.split_once('\'')?;
    let text = rest.strip_prefix(':')?.trim().strip_prefix('\'')?;
    let text = text.trim_end_matches(',').trim_end().strip_suffix('\'')?;
    let mut read = String::new();
    let mut escaped = false;
    for character in text.chars() {
        match character {
            '\\' if !escaped => escaped = true,
            'n' if escaped => {
                read.push('\n');
                escaped = false;
            }
            '\'' if !escaped => return None,
            character => {
                read.push(character);
                escaped = false;
            }
        }
    }
    Some((key.to_owned(), read))
}

fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\'', "\\'");
    format!("'{}'", text.replace('\n', "\\n"))
}

/// Every quoted run of the characters that keys are made of.
pub fn literals(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let in_key = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let mut found = Vec::new();
    for (at, quote) in bytes.iter().enumerate() {
        if !b"'\"`".contains(quote) {
            continue;
        }
        let len = bytes[at + 1..].iter().take_while(|b| in_key(**b)).count();
        let end = at + 1 + len;
        if len > 0 && bytes.get(end) == Some(quote) {
            found.push(&text[at + 1..end]);
        }
    }
    found
}
