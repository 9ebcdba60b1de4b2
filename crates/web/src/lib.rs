//! The files and the words of the pages, as they are sent. `build/` reads `web/` when this
//! crate is built; nothing is read from a disk while it runs.
//!
//! With the feature `files` the files themselves are here, for a server that answers
//! `/assets/…` itself. Without it there is only what HTML has to mention.

#[cfg(feature = "files")]
mod files;
mod headers;
#[cfg(test)]
mod tests;

#[cfg(feature = "files")]
pub use files::{FILES, File, file};
pub use headers::{HEADERS, IMMUTABLE, POLICY};

/// HTML templates and tables made from `web/`.
mod generated {
    use crate::Page;

    include!(concat!(env!("OUT_DIR"), "/web.rs"));
}

/// The HTML templates of `web/`, under their names.
pub mod templates {
    pub use crate::generated::{
        NOSCRIPT_ENTER, NOSCRIPT_INSIDE, NOSCRIPT_JOIN, NOSCRIPT_SOLD_OUT, NOSCRIPT_WAIT, PAGE,
        REMIND, REMIND_FORM, ROOM,
    };
}

pub use generated::VERSION;

/// The languages of every word, in the order of [`words`].
pub const LANGUAGES: [&str; 4] = ["en", "de", "fr", "es"];

/// What the HTML of a page mentions. All paths are below `/assets/{VERSION}/`.
#[derive(Debug)]
pub struct Page {
    pub name: &'static str,
    /// The entry module.
    pub module: &'static str,
    pub styles: &'static [&'static str],
    /// What the entry imports, and what these import.
    pub imports: &'static [&'static str],
    /// Whether there is `words/NAME.LANGUAGE.js`.
    pub has_words: bool,
    /// All scripts that it loads in any state before the reader reserves or says who they are,
    /// compressed, with the longest of its words.
    pub script_bytes: usize,
}

pub static PAGES: &[Page] = generated::PAGES;

/// The page of this name.
pub fn page(name: &str) -> Option<&'static Page> {
    PAGES.iter().find(|page| page.name == name)
}

/// The file that an address below `/assets/` means, and whether it names this version. A
/// page that stayed open while the server was replaced names an older one.
pub fn asset_path(path: &str) -> Option<(&str, bool)> {
    let (version, file) = path.strip_prefix("/assets/")?.split_once('/')?;
    let is_version =
        version.len() == VERSION.len() && version.bytes().all(|b| b.is_ascii_hexdigit());
    is_version.then_some((file, version == VERSION))
}

/// A word in every language, if a renderer names it.
pub fn words(key: &str) -> Option<&'static [&'static str; 4]> {
    let words = generated::WORDS;
    let found = words
        .binary_search_by(|(known, _)| (*known).cmp(key))
        .ok()?;
    words.get(found).map(|(_, texts)| texts)
}
