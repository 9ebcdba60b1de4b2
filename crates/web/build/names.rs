//! Short names for what only its own file can name: variables, parameters, private members.
//!
//! A file is taken apart into units: the statements at its top, and the members of its
//! classes. Within a unit every variable of one name gets one other name, so it does not
//! matter in which block it is declared. Names that others know stay: globals, properties,
//! what is imported and exported. It knows the forms that the formatter writes.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Kind, Token};

const KEYWORDS: &[&str] = &[
    "as",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "else",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "get",
    "if",
    "import",
    "in",
    "instanceof",
    "let",
    "new",
    "null",
    "of",
    "return",
    "set",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "void",
    "while",
    "yield",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Round,
    Square,
    Substitution,
    Block,
    Class,
    /// An object, or a pattern that takes one apart.
    Object,
    /// What is imported or exported.
    List,
}

struct Script<'a> {
    tokens: &'a mut Vec<Token>,
    /// For every token the bracket that it stands in directly, by the index of its beginning.
    within: Vec<Option<usize>>,
    brackets: BTreeMap<usize, Bracket>,
    /// The end of every bracket.
    ends: BTreeMap<usize, usize>,
}

type Names = BTreeMap<String, String>;

pub fn shorten(tokens: &mut Vec<Token>) {
    Script::of(tokens).put_numbers_in_place();
    Script::of(tokens).drop_casts();
    Script::of(tokens).rename();
}

impl<'a> Script<'a> {
    fn of(tokens: &'a mut Vec<Token>) -> Self {
        let mut script = Self {
            within: Vec::new(),
            brackets: BTreeMap::new(),
            ends: BTreeMap::new(),
            tokens,
        };
        script.find_brackets();
        script
    }

    fn keep(&mut self, is_kept: impl Fn(usize) -> bool) {
        let mut at = 0;
        self.tokens.retain(|_| {
            at += 1;
            is_kept(at - 1)
        });
    }

    /// A number that has a name at the top of the file stands where it is used, without one.
    fn put_numbers_in_place(&mut self) {
        let units = self.units();
        let mut named = self.known_to_others();
        for (from, to) in units {
            named.extend(self.declared(from, to, false));
        }
        let both = (0..self.tokens.len()).filter(|at| self.is_both(*at));
        named.extend(both.map(|at| self.tokens[at].text.clone()));
        let mut numbers = Names::new();
        let mut gone = BTreeSet::new();
        for at in 0..self.tokens.len() {
            let begins = self.is_after(at, &["const", ","]) && self.is(at + 1, &["="]);
            let ends = self.is(at + 3, &[",", ";"]);
            let is_exported = at > 1 && self.is(at - 2, &["export"]);
            if !(self.within[at].is_none() && begins && ends) || is_exported {
                continue;
            }
            let number = self.tokens[at + 2].text.clone();
            let name = self.tokens[at].text.clone();
            if number.starts_with(|c: char| c.is_ascii_digit()) && !named.contains(&name) {
                numbers.insert(name, number);
                gone.extend(at..at + 3);
                // The comma after it, or the whole statement, or the comma before it.
                if self.is(at + 3, &[","]) {
                    gone.insert(at + 3);
                } else if self.is_after(at, &["const"]) {
                    gone.extend([at - 1, at + 3]);
                } else if !gone.contains(&(at - 1)) {
                    gone.insert(at - 1);
                } else {
                    let mut start = at - 1;
                    while gone.contains(&start) {
                        start -= 1;
                    }
                    gone.extend([start, at + 3]);
                }
            }
        }
        for at in 0..self.tokens.len() {
            if let Some(number) = numbers.get(&self.tokens[at].text)
                && self.is_variable(at)
            {
                self.tokens[at].text.clone_from(number);
            }
        }
        self.keep(|at| !gone.contains(&at));
    }

    /// The formatter puts parentheses where a type stood in a comment, and for the eye.
    fn drop_casts(&mut self) {
        let mut gone = BTreeSet::new();
        for (&at, &bracket) in &self.brackets {
            let end = self.ends[&at];
            let is_set =
                self.is_after(at, &["="]) && at > 1 && self.tokens[at - 2].kind != Kind::Sign;
            let is_body = self.is_after(at, &["=>"]) && !self.is(at + 1, &["{"]);
            let is_value = is_set || is_body || self.is_after(at, &["return", "[", "("]);
            let is_whole = is_value && self.is(end + 1, &[";", ",", ")", "]", "}"]);
            let is_word = end == at + 2
                && self.tokens[at + 1].kind == Kind::Word
                && self.is_after(
                    at,
                    &[
                        "=", "(", ",", "return", "!", "&&", "[", "?", ":", ";", "{", "}",
                    ],
                )
                && !self.is(end + 1, &["=>", "{"]);
            let has_comma = (at..end).any(|it| self.within[it] == Some(at) && self.is(it, &[","]));
            if bracket == Bracket::Round && (is_whole || is_word) && !has_comma {
                gone.extend([at, end]);
            }
        }
        self.keep(|at| !gone.contains(&at));
    }
}

impl Script<'_> {
    fn is(&self, at: usize, texts: &[&str]) -> bool {
        let token = self.tokens.get(at);
        token.is_some_and(|token| texts.iter().any(|text| token.is(text)))
    }

    fn is_after(&self, at: usize, texts: &[&str]) -> bool {
        at > 0 && self.is(at - 1, texts)
    }

    fn find_brackets(&mut self) {
        let mut open: Vec<usize> = Vec::new();
        for at in 0..self.tokens.len() {
            let token = &self.tokens[at];
            let is_text = token.kind == Kind::Text;
            let ends_part = is_text && token.text.starts_with('}');
            if ends_part || self.is(at, &[")", "]", "}"]) {
                let start = open.pop().expect("what ends has begun");
                self.ends.insert(start, at);
            }
            self.within.push(open.last().copied());
            if let Some(kind) = self.bracket(at) {
                self.brackets.insert(at, kind);
                open.push(at);
            }
        }
    }

    /// Which bracket begins here.
    fn bracket(&self, at: usize) -> Option<Bracket> {
        let token = &self.tokens[at];
        if token.kind == Kind::Text {
            return token.text.ends_with("${").then_some(Bracket::Substitution);
        }
        match token.text.as_str() {
            "(" => Some(Bracket::Round),
            "[" => Some(Bracket::Square),
            "{" => Some(self.brace(at)),
            _ => None,
        }
    }

    fn brace(&self, at: usize) -> Bracket {
        let blocks = [
            ")", "=>", ";", "{", "}", "else", "try", "finally", "do", "catch",
        ];
        if at == 0 || self.is_after(at, &blocks) {
            return Bracket::Block;
        }
        if self.is_after(at, &["import", "export"]) {
            return Bracket::List;
        }
        let is_class = at > 1 && self.is(at - 2, &["class", "extends"]);
        if is_class && self.tokens[at - 1].kind == Kind::Word {
            return Bracket::Class;
        }
        Bracket::Object
    }

    fn within(&self, at: usize) -> Option<Bracket> {
        self.within[at].map(|open| self.brackets[&open])
    }

    /// A word that names a variable here, not a property.
    fn is_variable(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let is_name = token.kind == Kind::Word
            && !token.text.starts_with(|c: char| c.is_ascii_digit())
            && !KEYWORDS.contains(&token.text.as_str());
        let is_from = token.is("from") && self.is_after(at, &["}"]);
        if !is_name || is_from || self.is_after(at, &[".", "?."]) {
            return false;
        }
        let begins = self.is_after(
            at,
            &["{", ",", "}", ";", "async", "get", "set", "*", "static"],
        );
        match self.within(at) {
            Some(Bracket::List) => false,
            Some(Bracket::Object) => !(begins && self.is(at + 1, &[":", "("])),
            Some(Bracket::Class) => !(begins && self.is(at + 1, &["(", "=", ";"])),
            _ => true,
        }
    }

    /// `{ name }`: a property and a variable at once. To rename it would make it longer.
    fn is_both(&self, at: usize) -> bool {
        self.within(at) == Some(Bracket::Object)
            && self.is_after(at, &["{", ","])
            && self.is(at + 1, &[",", "}", "="])
    }

    fn rename(&mut self) {
        let units = self.units();
        let at_top = self.declared(0, self.tokens.len(), true);
        let kept = self.known_to_others();
        let is_own = |name: &String| at_top.contains(name) && !kept.contains(name);
        let mut locals = Vec::new();
        for &(from, to) in &units {
            let mut declared = self.declared(from, to, false);
            let both = (from..to).filter(|at| self.is_both(*at));
            let both: BTreeSet<&str> = both.map(|at| self.tokens[at].text.as_str()).collect();
            declared.retain(|name| {
                !at_top.contains(name) && !kept.contains(name) && !both.contains(name.as_str())
            });
            locals.push(declared);
        }
        let mut taken = kept.clone();
        for (&(from, to), declared) in units.iter().zip(&locals) {
            let others = self.variables(from, to).into_iter();
            taken.extend(others.filter(|name| !declared.contains(name) && !is_own(name)));
        }
        let mut given = BTreeSet::new();
        let mut renamed: Vec<Option<String>> = vec![None; self.tokens.len()];
        for (&(from, to), declared) in units.iter().zip(&locals) {
            let mut free = short_names().filter(|name| !taken.contains(name));
            let mut names = Names::new();
            for (at, given) in renamed.iter_mut().enumerate().take(to).skip(from) {
                let name = &self.tokens[at].text;
                if self.is_variable(at) && declared.contains(name) {
                    let short = names.entry(name.clone());
                    let short = short.or_insert_with(|| free.next().expect("names never end"));
                    *given = Some(short.clone());
                }
            }
            given.extend(names.into_values());
        }
        let mut free = short_names().filter(|name| !taken.contains(name) && !given.contains(name));
        let mut names = Names::new();
        let mut private = Names::new();
        let mut free_private = short_names();
        for (at, given) in renamed.iter_mut().enumerate() {
            let token = &self.tokens[at];
            if token.kind == Kind::Private {
                let short = private.entry(token.text.clone());
                let next = || format!("#{}", free_private.next().expect("names never end"));
                *given = Some(short.or_insert_with(next).clone());
            } else if self.is_variable(at) && is_own(&token.text) {
                let short = names.entry(token.text.clone());
                let short = short.or_insert_with(|| free.next().expect("names never end"));
                *given = Some(short.clone());
            }
        }
        for (at, short) in renamed.into_iter().enumerate() {
            let Some(short) = short else { continue };
            if self.is_both(at) {
                self.tokens[at].text += &format!(":{short}");
            } else {
                self.tokens[at].text = short;
            }
        }
    }

    /// The statements at the top and the members of classes, from and to.
    fn units(&self) -> Vec<(usize, usize)> {
        let mut units = Vec::new();
        let mut from = 0;
        for at in 0..self.tokens.len() {
            let is_outside = |open: Option<usize>| {
                open.is_none_or(|open| {
                    self.brackets[&open] == Bracket::Class && self.within[open].is_none()
                })
            };
            let ends = self.is(at, &[";", "}"]) && is_outside(self.within[at]);
            let begins_class = self.brackets.get(&at) == Some(&Bracket::Class);
            if ends || (begins_class && self.within[at].is_none()) {
                units.push((from, at + 1));
                from = at + 1;
            }
        }
        units.push((from, self.tokens.len()));
        units
    }

    fn variables(&self, from: usize, to: usize) -> BTreeSet<String> {
        (from..to)
            .filter(|at| self.is_variable(*at))
            .map(|at| self.tokens[at].text.clone())
            .collect()
    }

    /// What is imported or exported by name.
    fn known_to_others(&self) -> BTreeSet<String> {
        let mut known = BTreeSet::new();
        for at in 0..self.tokens.len() {
            if self.within(at) == Some(Bracket::List) {
                known.insert(self.tokens[at].text.clone());
            }
            if self.is(at, &["export"]) {
                let mut next = at + 1;
                while self.is(next, &["async", "function", "*", "class", "const", "let"]) {
                    next += 1;
                }
                if self.is(next - 1, &["const", "let"]) {
                    self.declarators(next, &mut known);
                } else {
                    known.insert(self.tokens[next].text.clone());
                }
            }
        }
        known
    }

    /// What is declared among these tokens, at the top of the file or anywhere below it.
    fn declared(&self, from: usize, to: usize, at_top: bool) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for at in from..to {
            let is_at_top = self.within[at].is_none();
            if self.is(at, &["const", "let"]) && is_at_top == at_top {
                self.declarators(at + 1, &mut found);
            } else if self.is(at, &["function", "class"]) && is_at_top == at_top {
                let name = if self.is(at + 1, &["*"]) {
                    at + 2
                } else {
                    at + 1
                };
                if self.tokens[name].kind == Kind::Word {
                    found.insert(self.tokens[name].text.clone());
                }
            } else if !at_top && self.begins_parameters(at) {
                self.pattern_list(at + 1, self.ends[&at], &mut found);
            }
        }
        found
    }

    fn begins_parameters(&self, at: usize) -> bool {
        if self.brackets.get(&at) != Some(&Bracket::Round) {
            return false;
        }
        let end = self.ends[&at];
        let is_condition = self.is_after(at, &["if", "for", "while", "switch", "await"]);
        self.is(end + 1, &["=>"]) || (self.is(end + 1, &["{"]) && !is_condition)
    }

    /// `a = 1, { b } = c;`
    fn declarators(&self, mut at: usize, found: &mut BTreeSet<String>) {
        let level = self.within[at];
        loop {
            at = self.pattern(at, found);
            while !(self.within[at] == level && self.is(at, &[",", ";", "of", "in"])) {
                at += 1;
            }
            if !self.is(at, &[","]) {
                return;
            }
            at += 1;
        }
    }

    /// Patterns between commas.
    fn pattern_list(&self, mut at: usize, end: usize, found: &mut BTreeSet<String>) {
        let level = self.within[at];
        while at < end {
            if self.is(at, &[",", "..."]) {
                at += 1;
                continue;
            }
            at = self.pattern(at, found);
            while at < end && !(self.is(at, &[","]) && self.within[at] == level) {
                at += 1;
            }
        }
    }

    /// A name, or what takes an object or an array apart. Returns what follows it.
    fn pattern(&self, at: usize, found: &mut BTreeSet<String>) -> usize {
        match self.brackets.get(&at) {
            Some(Bracket::Object) => {
                let end = self.ends[&at];
                let mut next = at + 1;
                while next < end {
                    if self.is(next + 1, &[":"]) {
                        next += 2;
                    }
                    if self.is(next, &["..."]) {
                        next += 1;
                    }
                    next = self.pattern(next, found);
                    while next < end && !(self.is(next, &[","]) && self.within[next] == Some(at)) {
                        next += 1;
                    }
                    next += 1;
                }
                end + 1
            }
            Some(Bracket::Square) => {
                let end = self.ends[&at];
                self.pattern_list(at + 1, end, found);
                end + 1
            }
            _ => {
                found.insert(self.tokens[at].text.clone());
                at + 1
            }
        }
    }
}

/// `a`, `b`, … `z`, `A`, … `aa`, …
fn short_names() -> impl Iterator<Item = String> {
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').collect();
    let two = letters.clone().into_iter().flat_map({
        let letters = letters.clone();
        move |a| letters.clone().into_iter().map(move |b| format!("{a}{b}"))
    });
    let one = letters.into_iter().map(String::from);
    one.chain(two.filter(|name| !KEYWORDS.contains(&name.as_str())))
}
