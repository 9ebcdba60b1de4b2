//! A message as it goes on the wire: headers, plain text and HTML as alternatives, and
//! what is attached (RFC 5322, 2045–2049, 2183, 2231).
//!
//! Everything that it writes is ASCII in lines of at most 76 characters (an address may
//! make its own line longer). A header is one line of text, encoded and folded here, so no
//! value can begin another.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use onsale_domain::account::Email;
use onsale_domain::time::Millis;
use onsale_domain::told_name::line;

const LINE: usize = 76;
/// An encoded word has at most 75 characters, and the first shares its line with the name
/// of the header: 36 bytes are 48 in base64, and 60 with `=?UTF-8?B?` and `?=`.
const WORD_BYTES: usize = 36;
const NAME_CHARS: usize = 100;

/// Who the mails come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    pub name: String,
    pub address: Email,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sender is written as: Name <address@example.org>")]
pub struct SenderError;

impl std::str::FromStr for Sender {
    type Err = SenderError;

    fn from_str(text: &str) -> Result<Self, SenderError> {
        let (name, address) = match text.trim().strip_suffix('>') {
            Some(text) => text.split_once('<').ok_or(SenderError)?,
            None => ("Onsale", text),
        };
        let address = Email::parse(address).filter(|address| address.as_str().is_ascii());
        Ok(Self {
            name: line(name, NAME_CHARS),
            address: address.ok_or(SenderError)?,
        })
    }
}

#[derive(Debug, Clone)]
pub struct Attachment {
    /// ASCII letters, digits, `-`, `_` and `.`.
    pub file_name: String,
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
}

#[derive(Debug)]
pub struct Message<'a> {
    pub from: &'a Sender,
    pub to: &'a Email,
    pub subject: &'a str,
    pub at: Millis,
    /// Hexadecimal digits that name the message: its id and its boundaries are made of
    /// them, so the same message has the same bytes.
    pub token: &'a str,
    pub language: &'static str,
    pub text: &'a str,
    pub html: &'a str,
    pub attachments: &'a [Attachment],
}

impl Message<'_> {
    pub fn write(&self) -> String {
        let mut out = String::new();
        let domain = self.from.address.as_str().rsplit('@').next();
        let domain = domain.unwrap_or("localhost");
        let from = format!(
            "{} <{}>",
            phrase(&self.from.name),
            self.from.address.as_str()
        );
        header(&mut out, "From", &from);
        header(&mut out, "To", self.to.as_str());
        header(&mut out, "Subject", &words(self.subject));
        header(&mut out, "Date", &date(self.at));
        let id = format!("<{}@{domain}>", self.token);
        header(&mut out, "Message-ID", &id);
        header(&mut out, "MIME-Version", "1.0");
        // Nobody's absence note should answer.
        header(&mut out, "Auto-Submitted", "auto-generated");
        header(&mut out, "Content-Language", self.language);
        match self.attachments {
            [] => self.alternatives(&mut out),
            attachments => {
                let boundary = self.boundary("mixed");
                open_parts(&mut out, "mixed", &boundary);
                begin_part(&mut out, &boundary);
                self.alternatives(&mut out);
                for attachment in attachments {
                    begin_part(&mut out, &boundary);
                    attached(&mut out, attachment);
                }
                end_parts(&mut out, &boundary);
            }
        }
        out
    }

    /// Long and made of a hash, so it stands in no text by chance; and every line of a
    /// text is encoded, where `=_` cannot stand.
    fn boundary(&self, part: &str) -> String {
        format!("=_{part}_{}", self.token)
    }

    fn alternatives(&self, out: &mut String) {
        let boundary = self.boundary("alternative");
        open_parts(out, "alternative", &boundary);
        for (kind, text) in [("plain", self.text), ("html", self.html)] {
            begin_part(out, &boundary);
            header(out, "Content-Type", &format!("text/{kind}; charset=utf-8"));
            header(out, "Content-Transfer-Encoding", "quoted-printable");
            out.push_str("\r\n");
            quoted_printable(out, text);
        }
        end_parts(out, &boundary);
    }
}

// Writing to a String cannot fail, so the results of write! below are dropped.
fn open_parts(out: &mut String, kind: &str, boundary: &str) {
    let _ = write!(
        out,
        "Content-Type: multipart/{kind};\r\n boundary=\"{boundary}\"\r\n\r\n"
    );
}

/// The line break before a boundary belongs to it and not to the part above.
fn begin_part(out: &mut String, boundary: &str) {
    let _ = write!(out, "\r\n--{boundary}\r\n");
}

fn end_parts(out: &mut String, boundary: &str) {
    let _ = write!(out, "\r\n--{boundary}--\r\n");
}

fn attached(out: &mut String, attachment: &Attachment) {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = attachment.file_name.chars().filter(|c| plain(*c)).collect();
    header(out, "Content-Type", attachment.content_type);
    header(out, "Content-Transfer-Encoding", "base64");
    let _ = write!(
        out,
        "Content-Disposition: attachment;\r\n filename=\"{name}\"\r\n\r\n"
    );
    let encoded = BASE64_STANDARD.encode(&attachment.bytes);
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(LINE));
        let _ = write!(out, "{now}\r\n");
        rest = later;
    }
}

/// A header, folded at spaces. Whatever is not printable ASCII is left out: values are
/// encoded before.
fn header(out: &mut String, name: &str, value: &str) {
    let value: String = value.chars().filter(|c| matches!(c, ' '..='~')).collect();
    let _ = write!(out, "{name}:");
    let mut length = name.len() + 1;
    for word in value.split(' ').filter(|word| !word.is_empty()) {
        if length > name.len() + 1 && length + 1 + word.len() > LINE {
            out.push_str("\r\n");
            length = 0;
        }
        out.push(' ');
        out.push_str(word);
        length += 1 + word.len();
    }
    out.push_str("\r\n");
}

/// Text in a header: as it is, if it is plain and short, else as encoded words.
fn words(text: &str) -> String {
    let text = line(text, 250);
    let is_plain = text.chars().all(|c| matches!(c, ' '..='~'))
        && !text.contains("=?")
        && text.split(' ').all(|word| word.len() < LINE - 10);
    match is_plain {
        true => text,
        false => encoded_words(&text),
    }
}

/// A name before an address: quoted if it has anything but letters, digits and spaces.
fn phrase(name: &str) -> String {
    match name.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ') {
        true => name.to_owned(),
        false => encoded_words(name),
    }
}

/// Encoded words (RFC 2047), none of which cuts a character in two. Spaces between them
/// do not count, so those of the text are inside.
fn encoded_words(text: &str) -> String {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if word.len() + c.len_utf8() > WORD_BYTES {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let encoded = |word: &String| format!("=?UTF-8?B?{}?=", BASE64_STANDARD.encode(word));
    words.iter().map(encoded).collect::<Vec<_>>().join(" ")
}

fn date(at: Millis) -> String {
    let moment = i64::try_from(at.0).ok();
    let moment = moment.and_then(|ms| Timestamp::from_millisecond(ms).ok());
    let moment = moment.unwrap_or(Timestamp::UNIX_EPOCH);
    moment.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// Text in quoted-printable (RFC 2045): any line of any length and script becomes short
/// lines of ASCII.
fn quoted_printable(out: &mut String, text: &str) {
    for line in text.lines() {
        let mut length = 0;
        let bytes = line.as_bytes();
        for (i, byte) in bytes.iter().enumerate() {
            let is_last = i + 1 == bytes.len();
            let plain = match byte {
                b'=' => false,
                b' ' | b'\t' => !is_last,
                // A dot alone ends a message for some, and `From ` begins one for others.
                b'.' | b'F' if i == 0 => false,
                byte => (b'!'..=b'~').contains(byte),
            };
            let width = if plain { 1 } else { 3 };
            // One column is kept for the `=` of a soft break.
            if length + width > LINE - 1 {
                out.push_str("=\r\n");
                length = 0;
            }
            match plain {
                true => out.push(char::from(*byte)),
                false => {
                    let _ = write!(out, "={byte:02X}");
                }
            }
            length += width;
        }
        out.push_str("\r\n");
    }
}

#[cfg(test)]
#[path = "mime_tests.rs"]
mod tests;
