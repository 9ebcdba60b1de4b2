//! A page as HTML: one column, no pictures, nothing loaded from elsewhere. It looks like the
//! pages of the web, a ticket on paper, in light and in dark (`onsale_tickets::look`). Styles
//! stand at each element as well, since some readers drop the head.

use std::fmt::Write;

use onsale_tickets::look::{self, DARK, LIGHT};

use crate::page::{Button, Fact, Page};

/// Text in an element or a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The width of the ticket, in pixels: what a desktop shows of a mail beside its list.
const WIDTH: u32 = 560;
/// From the edge of the ticket to its text, and the same on a phone.
const EDGE: u32 = 2 * look::SPACE;
const PHONE_EDGE: u32 = look::SPACE + look::SPACE_SMALL / 2;
/// The width from which on labels stand beside their values.
const PHONE: u32 = 480;

// Writing to a String cannot fail, so the results of write! below are dropped.
pub(crate) fn html(page: &Page) -> String {
    let mut out = String::new();
    let lang = page.language;
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"{lang}\" dir=\"ltr\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>{}</style>\n</head>\n",
        escape(&page.subject),
        style()
    );
    let (text, size, space) = (family(look::TEXT), look::SIZE, look::SPACE);
    let (room, ink) = (LIGHT.room, LIGHT.ink);
    let _ = write!(
        out,
        "<body class=\"room\" style=\"margin:0;padding:{space}px;background:{room};color:{ink};\
         font-family:{text};font-size:{size}px;line-height:1.5\">\n\
         <div style=\"display:none;max-height:0;overflow:hidden\">{}</div>\n\
         <div role=\"article\" aria-labelledby=\"heading\" lang=\"{lang}\" \
         style=\"max-width:{WIDTH}px;margin:0 auto\">\n",
        escape(&page.preview)
    );
    small(&mut out, "kicker", "Onsale");
    ticket(&mut out, page);
    small(&mut out, "footer", &escape(&page.footer));
    out.push_str("</div>\n</body>\n</html>\n");
    out
}

/// What a style at an element cannot say: the dark scheme and small screens.
fn style() -> String {
    let dark = [
        ("room", format!("background:{}", DARK.room)),
        ("room", format!("color:{}", DARK.ink)),
        ("card", format!("background:{}", DARK.card)),
        ("stub", format!("background:{}", DARK.stub)),
        ("stub", format!("color:{}", DARK.on_stub)),
        ("quiet", format!("color:{}", DARK.quiet)),
        ("line", format!("border-color:{}", DARK.line)),
        ("button", format!("background:{}", DARK.accent)),
        ("button", format!("color:{}", DARK.on_accent)),
        ("link", format!("color:{}", DARK.accent)),
    ];
    let dark = dark.map(|(class, rule)| format!(".{class}{{{rule}!important}}"));
    format!(
        ":root{{color-scheme:light dark;supported-color-schemes:light dark}}\
         @media (prefers-color-scheme:dark){{{}}}\
         @media (max-width:{PHONE}px){{\
         .part{{padding:{PHONE_EDGE}px!important}}\
         .fact{{display:block!important}}\
         .label{{padding-bottom:0!important}}\
         .value{{padding-top:0!important;border-top:0!important}}}}",
        dark.concat()
    )
}

/// The names of fonts, for an attribute in double quotes.
fn family(names: &str) -> String {
    names.replace('"', "'")
}

/// A quiet line on the paper.
fn small(out: &mut String, class: &str, text: &str) {
    let (quiet, size, space) = (LIGHT.quiet, look::SIZE_SMALL, look::SPACE_SMALL);
    let _ = writeln!(
        out,
        "<p class=\"quiet {class}\" style=\"margin:{space}px {space}px {}px;font-size:{size}px;\
         color:{quiet}\">{text}</p>",
        look::SPACE
    );
}

/// The heading on the stub, and below it what the letter says.
fn ticket(out: &mut String, page: &Page) {
    let (card, radius) = (LIGHT.card, look::RADIUS);
    let (stub, on_stub, display) = (LIGHT.stub, LIGHT.on_stub, family(look::DISPLAY));
    let _ = writeln!(
        out,
        "<div class=\"card\" style=\"border-radius:{radius}px;overflow:hidden;background:{card}\">\n\
         <div class=\"stub part\" style=\"padding:{}px {EDGE}px;background:{stub};color:{on_stub}\">\
         <h1 id=\"heading\" style=\"margin:0;font-family:{display};font-size:28px;\
         font-weight:600;line-height:1.2;overflow-wrap:anywhere\">{}</h1></div>",
        look::SPACE_LARGE,
        escape(&page.heading)
    );
    let _ = writeln!(out, "<div class=\"part\" style=\"padding:{EDGE}px\">");
    for text in page.greeting.iter().chain(&page.paragraphs) {
        paragraph(out, text);
    }
    facts(out, &page.facts);
    if let Some(shown) = &page.button {
        button(out, shown);
    }
    for note in &page.notes {
        paragraph(out, note);
    }
    out.push_str("</div>\n</div>\n");
}

fn paragraph(out: &mut String, text: &str) {
    let _ = writeln!(
        out,
        "<p style=\"margin:0 0 {}px;overflow-wrap:anywhere\">{}</p>",
        look::SPACE,
        escape(text)
    );
}

fn button(out: &mut String, button: &Button) {
    let (href, label) = (escape(&button.href), escape(&button.label));
    let (accent, on_accent, quiet) = (LIGHT.accent, LIGHT.on_accent, LIGHT.quiet);
    let (small, large, radius) = (look::SPACE_SMALL, look::SPACE_LARGE, look::RADIUS);
    let _ = write!(
        out,
        "<p style=\"margin:{large}px 0 {small}px\"><a class=\"button\" href=\"{href}\" \
         style=\"display:inline-block;padding:12px {large}px;border-radius:{radius}px;\
         background:{accent};color:{on_accent};font-weight:600;text-decoration:none\">{label}</a></p>\n\
         <p class=\"quiet\" style=\"margin:0 0 {large}px;font-size:13px;color:{quiet};\
         overflow-wrap:anywhere\"><a class=\"link\" href=\"{href}\" \
         style=\"color:{accent}\">{href}</a></p>\n"
    );
}

/// Below the line along which a ticket is torn.
fn facts(out: &mut String, facts: &[Fact]) {
    if facts.is_empty() {
        return;
    }
    let (line, quiet) = (LIGHT.line, LIGHT.quiet);
    let _ = writeln!(
        out,
        "<table class=\"line\" style=\"width:100%;margin:{0}px 0;border-collapse:collapse;\
         border-top:2px dashed {line};border-bottom:2px dashed {line};font-size:{1}px\">",
        look::SPACE_LARGE,
        look::SIZE_SMALL
    );
    for (i, (label, value)) in facts.iter().enumerate() {
        // The first lies at the dashed line.
        let border = if i == 0 {
            String::new()
        } else {
            format!("border-top:1px solid {line};")
        };
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\" class=\"quiet line fact label\" style=\"padding:10px 16px 10px 0;\
             {border}text-align:left;vertical-align:top;font-weight:400;color:{quiet};\
             white-space:nowrap\">{}</th>\
             <td class=\"line fact value\" style=\"padding:10px 0;{border}\
             overflow-wrap:anywhere\">{}</td></tr>",
            escape(label),
            escape(value)
        );
    }
    out.push_str("</table>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_stranger_wrote_is_markup() {
        assert_eq!(
            escape("<script>\"it's\" & more</script>"),
            "&lt;script&gt;&quot;it&#39;s&quot; &amp; more&lt;/script&gt;"
        );
    }
}
