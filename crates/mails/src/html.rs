//! A page as HTML: one column, no pictures, nothing loaded from elsewhere, and colours for
//! light and dark. Styles stand at each element as well, since some readers drop the head.

use std::fmt::Write;

use crate::page::Page;

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

const STYLE: &str = ":root{color-scheme:light dark;supported-color-schemes:light dark}\
@media (prefers-color-scheme:dark){\
.sheet{background:#12151f!important}.card{background:#1c2130!important;color:#eceff6!important}\
.dim{color:#aab2c5!important}.line{border-color:#343b50!important}\
.button{background:#8fb0ff!important;color:#10131c!important}.link{color:#9dbaff!important}}\
@media (max-width:480px){.card{padding:20px!important}}";
const FONT: &str =
    "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

// Writing to a String cannot fail, so the results of write! below are dropped.
pub(crate) fn html(page: &Page) -> String {
    let mut out = String::new();
    let lang = page.language;
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"{lang}\" dir=\"ltr\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>{STYLE}</style>\n</head>\n",
        escape(&page.subject)
    );
    let _ = write!(
        out,
        "<body class=\"sheet\" style=\"margin:0;padding:24px 12px;background:#eef1f7;{FONT}\">\n\
         <div style=\"display:none;max-height:0;overflow:hidden\">{}</div>\n\
         <div role=\"article\" aria-labelledby=\"heading\" lang=\"{lang}\" class=\"card\" \
         style=\"max-width:560px;margin:0 auto;padding:32px;border-radius:12px;\
         background:#ffffff;color:#11141e;font-size:16px;line-height:1.5\">\n\
         <h1 id=\"heading\" style=\"margin:0 0 20px;font-size:24px;line-height:1.25;\
         overflow-wrap:anywhere\">{}</h1>\n",
        escape(&page.preview),
        escape(&page.heading)
    );
    let paragraphs = page.greeting.iter().chain(&page.paragraphs);
    for paragraph in paragraphs {
        let _ = writeln!(
            out,
            "<p style=\"margin:0 0 16px;overflow-wrap:anywhere\">{}</p>",
            escape(paragraph)
        );
    }
    facts(&mut out, page);
    if let Some(button) = &page.button {
        let (href, label) = (escape(&button.href), escape(&button.label));
        let _ = write!(
            out,
            "<p style=\"margin:24px 0 12px\"><a class=\"button\" href=\"{href}\" \
             style=\"display:inline-block;padding:12px 24px;border-radius:8px;background:#1f4fd8;\
             color:#ffffff;font-weight:600;text-decoration:none\">{label}</a></p>\n\
             <p class=\"dim\" style=\"margin:0 0 24px;font-size:13px;color:#5c6270;\
             overflow-wrap:anywhere\"><a class=\"link\" href=\"{href}\" \
             style=\"color:#1f4fd8\">{href}</a></p>\n"
        );
    }
    for note in &page.notes {
        let _ = writeln!(
            out,
            "<p style=\"margin:0 0 16px;overflow-wrap:anywhere\">{}</p>",
            escape(note)
        );
    }
    let _ = write!(
        out,
        "<p class=\"dim line\" style=\"margin:24px 0 0;padding-top:16px;border-top:1px solid #d9deea;\
         font-size:13px;color:#5c6270\">{}</p>\n</div>\n</body>\n</html>\n",
        escape(&page.footer)
    );
    out
}

fn facts(out: &mut String, page: &Page) {
    if page.facts.is_empty() {
        return;
    }
    out.push_str(
        "<table style=\"width:100%;border-collapse:collapse;margin:8px 0 16px;font-size:15px\">\n",
    );
    for (label, value) in &page.facts {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\" class=\"dim line\" style=\"padding:8px 16px 8px 0;\
             border-top:1px solid #d9deea;text-align:left;vertical-align:top;font-weight:400;\
             color:#5c6270;white-space:nowrap\">{}</th>\
             <td class=\"line\" style=\"padding:8px 0;border-top:1px solid #d9deea;\
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
