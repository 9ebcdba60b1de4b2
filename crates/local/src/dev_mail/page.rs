//! The pages of the inbox. Everything in them is text that strangers wrote.

use serde_json::Value;

const STYLE: &str = ":root{color-scheme:light dark}\
body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;line-height:1.5}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .8rem .4rem 0;\
vertical-align:top;border-top:1px solid #8884;overflow-wrap:anywhere}\
iframe{width:100%;height:44rem;border:1px solid #8888;border-radius:8px;background:#fff}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #8888;border-radius:8px;padding:1rem}\
h2{font-size:1.1rem;margin-top:2rem}";

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

fn field(mail: &Value, name: &str) -> String {
    escape(mail[name].as_str().unwrap_or_default())
}

fn document(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{title}</title><style>{STYLE}</style></head>\n<body><main>{body}</main></body></html>\n"
    )
}

pub(super) fn list(mails: &[Value], to: &str) -> String {
    let mut rows = String::new();
    for mail in mails {
        rows += &format!(
            "<tr><td>{}</td><td>{}</td><td><a href=\"/dev/mail/{}\">{}</a></td></tr>\n",
            field(mail, "at"),
            field(mail, "to"),
            field(mail, "id"),
            field(mail, "subject"),
        );
    }
    let none = match mails.is_empty() {
        true => "<p>No mails yet.</p>",
        false => "",
    };
    let body = format!(
        "<h1>Mails</h1><p>Every mail that was sent from here, newest first. None of them left \
         this machine.</p><form method=\"get\"><label>To <input name=\"to\" value=\"{}\"></label> \
         <button>Show</button></form>{none}<table><thead><tr><th scope=\"col\">Sent</th>\
         <th scope=\"col\">To</th><th scope=\"col\">Subject</th></tr></thead>\
         <tbody>\n{rows}</tbody></table>",
        escape(to)
    );
    document("Mails", &body)
}

pub(super) fn mail(mail: &Value) -> String {
    let id = field(mail, "id");
    let each = |name: &str, item: fn(&Value) -> String| -> String {
        let items = mail[name].as_array();
        items.into_iter().flatten().map(item).collect()
    };
    let headers = each("headers", |pair| {
        let (name, value) = (pair[0].as_str(), pair[1].as_str());
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
            escape(name.unwrap_or_default()),
            escape(value.unwrap_or_default())
        )
    });
    let attachments = each("attachments", |part| {
        format!(
            "<li><a href=\"{}\">{}</a> ({}, {} bytes)</li>",
            field(part, "href"),
            field(part, "name"),
            field(part, "content_type"),
            part["bytes"]
        )
    });
    let links = each("links", |link| {
        let link = escape(link.as_str().unwrap_or_default());
        format!("<li><a rel=\"noreferrer\" href=\"{link}\">{link}</a></li>")
    });
    let body = format!(
        "<p><a href=\"/dev/mail\">All mails</a> · <a href=\"/dev/mail/{id}/raw\">as it was sent</a></p>\
         <h1>{}</h1><p>To {}, {}</p>\
         <h2>Attachments</h2><ul>{attachments}</ul><h2>Links</h2><ul>{links}</ul>\
         <h2>HTML</h2><iframe title=\"The mail as HTML\" sandbox src=\"/dev/mail/{id}/html\"></iframe>\
         <h2>Plain text</h2><pre>{}</pre>\
         <h2>Headers</h2><table><tbody>\n{headers}</tbody></table>",
        field(mail, "subject"),
        field(mail, "to"),
        field(mail, "at"),
        field(mail, "text"),
    );
    document(mail["subject"].as_str().unwrap_or_default(), &body)
}
