//! Web files without what no browser needs: a phone on a slow network need not load it.

/// Without indentation, empty lines, and comments that begin a line; types in comments go
/// wherever they stand.
pub fn script(text: &str) -> String {
    let text = without_comments(text, "/**");
    // Every line follows a line break now, and a comment that begins one is easily found.
    let text = lines(&text).fold("\n".to_owned(), joined);
    lines(&without_comments(&text, "\n/*"))
        .filter(|line| !line.starts_with("//"))
        .fold(String::new(), joined)
}

pub fn style(text: &str) -> String {
    lines(&without_comments(text, "/*")).fold(String::new(), joined)
}

pub fn html(text: &str) -> String {
    lines(text).fold(String::new(), joined)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

fn joined(mut all: String, line: &str) -> String {
    all.push_str(line);
    all.push('\n');
    all
}

/// Without the comments that begin so. A line break that is part of the beginning stays.
fn without_comments(text: &str, beginning: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(beginning) {
        let Some(len) = rest[at + beginning.len()..].find("*/") else {
            break;
        };
        kept.push_str(&rest[..at]);
        if beginning.starts_with('\n') {
            kept.push('\n');
        }
        rest = &rest[at + beginning.len() + len + 2..];
    }
    kept + rest
}
