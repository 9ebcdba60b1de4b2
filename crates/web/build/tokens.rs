//! Reads a script as tokens, and writes tokens without the space that only people need. It
//! relies on the formatter, which ends every statement with a semicolon.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A name, a keyword or a number.
    Word,
    /// `#name`
    Private,
    /// Punctuation; `=>`, `...` and `?.` are one token each.
    Sign,
    /// A string, a regular expression, or a part of a template between its substitutions.
    Text,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub text: String,
    /// Space stands before it.
    is_spaced: bool,
}

impl Token {
    pub fn is(&self, text: &str) -> bool {
        self.kind != Kind::Text && self.text == text
    }
}

pub fn read(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    // What is open: a brace, or the substitution of a template.
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        let is_end_of_substitution = first == '}' && open.pop() == Some('$');
        let (kind, len) = match first {
            '\'' | '"' => (Kind::Text, quoted(rest, first)),
            '`' => (Kind::Text, template_part(rest)),
            '}' if is_end_of_substitution => (Kind::Text, template_part(rest)),
            '/' if begins_expression(tokens.last()) => (Kind::Text, regular_expression(rest)),
            '#' => (Kind::Private, 1 + word(&rest[1..])),
            c if is_part_of_word(c) => (Kind::Word, word(rest)),
            _ => (Kind::Sign, sign(rest)),
        };
        let found = &rest[..len];
        if kind == Kind::Text && found.ends_with("${") {
            open.push('$');
        } else if found == "{" {
            open.push('{');
        }
        tokens.push(Token {
            kind,
            text: found.to_owned(),
            is_spaced: rest.len() < text.len()
                && text[..text.len() - rest.len()].ends_with([' ', '\n']),
        });
        rest = &rest[len..];
    }
    tokens
}

/// `const a = 1; const b = 2;` becomes `let a = 1, b = 2;`, which says the same to a browser.
pub fn join_declarations(tokens: &mut Vec<Token>) {
    // Whether the statement at each level is a declaration.
    let mut declares = vec![false];
    let mut joined: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut is_begin = true;
    for mut token in tokens.drain(..) {
        if token.is("const") {
            token.text = "let".to_owned();
        }
        let level = declares.last_mut().expect("the file is a level");
        let ends = joined.last().is_some_and(|last| last.is(";"));
        if token.is("let") && ends && *level {
            joined.pop();
            token.kind = Kind::Sign;
            token.text = ",".to_owned();
        } else if is_begin && token.kind != Kind::Sign {
            *level = token.is("let");
        }
        let opens = token.is("{") || token.is("(") || token.is("[");
        let is_part = token.kind == Kind::Text;
        if is_part && token.text.starts_with('}') || token.is("}") || token.is(")") || token.is("]")
        {
            declares.pop();
        }
        if opens || (is_part && token.text.ends_with("${")) {
            declares.push(false);
        }
        is_begin = token.is(";") || token.is("{") || token.is("}");
        joined.push(token);
    }
    *tokens = joined;
}

/// `(a) => b` becomes `a => b`, `0.5` becomes `.5`, `1_000` becomes `1000`.
pub fn drop_spare_signs(tokens: &mut Vec<Token>) {
    let mut at = 0;
    while at + 3 < tokens.len() {
        let is_one =
            tokens[at].is("(") && tokens[at + 1].kind == Kind::Word && tokens[at + 2].is(")");
        if is_one && tokens[at + 3].is("=>") {
            tokens.remove(at + 2);
            tokens.remove(at);
        }
        at += 1;
    }
    for token in tokens {
        if token.is("true") || token.is("false") {
            token.text = if token.is("true") { "!0" } else { "!1" }.to_owned();
        }
        if token.kind == Kind::Word && token.text.starts_with(|c: char| c.is_ascii_digit()) {
            token.text = token.text.replace('_', "");
            if token.text.starts_with("0.") {
                token.text.remove(0);
            }
        }
    }
}

pub fn write(tokens: &[Token]) -> String {
    let mut text = String::new();
    for token in tokens {
        if matches!(token.text.as_str(), "}" | ")" | "]") && token.kind == Kind::Sign {
            // A comma before the end is for the formatter, and so is the last semicolon.
            let is_spare = text.ends_with(',') || (token.is("}") && text.ends_with(';'));
            if is_spare && !text.ends_with("for(;;") {
                text.pop();
            }
        }
        let before = text.chars().next_back().unwrap_or(';');
        let after = token.text.chars().next().unwrap_or(';');
        let joins_signs = token.is_spaced && before == after && (before == '+' || before == '-');
        let joins_words = is_part_of_word(before) && (is_part_of_word(after) || after == '#');
        if joins_signs || joins_words {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    text
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The length of a name, a keyword or a number.
fn word(text: &str) -> usize {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let is_part = |c: char| is_part_of_word(c) || (is_number && c == '.');
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

fn sign(text: &str) -> usize {
    let long = ["...", "=>", "?."];
    let found = long.iter().find(|sign| text.starts_with(**sign));
    found.map_or_else(
        || text.chars().next().map_or(1, char::len_utf8),
        |sign| sign.len(),
    )
}

/// The length of what is quoted so, its quotes included.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// The length of a template up to its end or its next substitution.
fn template_part(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !escaped && c == '`' {
            return at + 1;
        }
        if !escaped && text[at..].starts_with("${") {
            return at + 2;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// Whether a slash after this is the beginning of a regular expression, not a division.
fn begins_expression(before: Option<&Token>) -> bool {
    before.is_none_or(|token| match token.kind {
        Kind::Sign => !matches!(token.text.as_str(), ")" | "]" | "}"),
        Kind::Word => matches!(token.text.as_str(), "return" | "typeof" | "case"),
        Kind::Text => token.text.ends_with("${"),
        Kind::Private => false,
    })
}

fn regular_expression(text: &str) -> usize {
    let mut in_class = false;
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if !escaped {
            match c {
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => return at + 1,
                _ => {}
            }
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}
