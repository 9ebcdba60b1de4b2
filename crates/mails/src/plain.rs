//! A page as plain text.

use onsale_domain::language::Language;

use crate::page::Page;

const WIDTH: usize = 72;

pub(crate) fn plain(page: &Page) -> String {
    let mut out = String::new();
    // French has a space before a colon.
    let colon = if page.language == Language::Fr {
        "\u{a0}:"
    } else {
        ":"
    };
    push(&mut out, &page.heading);
    if let Some(greeting) = &page.greeting {
        push(&mut out, greeting);
    }
    for paragraph in &page.paragraphs {
        push(&mut out, paragraph);
    }
    if !page.facts.is_empty() {
        let facts = page.facts.iter();
        let lines: Vec<_> = facts
            .map(|(label, value)| wrapped(&format!("{label}{colon} {value}"), "  "))
            .collect();
        out.push_str(&lines.join("\n"));
        out.push_str("\n\n");
    }
    if let Some(button) = &page.button {
        // An address stays on one line, whatever its length: it is clicked or copied.
        out.push_str(&format!("{}{colon}\n{}\n\n", button.label, button.href));
    }
    for note in &page.notes {
        push(&mut out, note);
    }
    out.push_str("-- \n");
    out.push_str(&wrapped(&page.footer, ""));
    out.push('\n');
    out
}

fn push(out: &mut String, paragraph: &str) {
    out.push_str(&wrapped(paragraph, ""));
    out.push_str("\n\n");
}

/// Broken at spaces; further lines begin with the indent.
fn wrapped(text: &str, indent: &str) -> String {
    let mut out = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let chars = word.chars().count();
        if length > 0 && length + 1 + chars > WIDTH {
            out.push('\n');
            out.push_str(indent);
            length = indent.len();
        } else if length > 0 {
            out.push(' ');
            length += 1;
        }
        out.push_str(word);
        length += chars;
    }
    out
}
