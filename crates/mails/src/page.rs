//! A mail before it is set: what it says, in order. Values are plain text here and stay
//! it; how they are escaped is the business of whoever sets the page.

use onsale_domain::language::Language;

/// Label and value.
pub(crate) type Fact = (String, String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Button {
    pub label: String,
    pub href: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    pub language: Language,
    pub subject: String,
    /// What an inbox shows beside the subject.
    pub preview: String,
    pub heading: String,
    pub greeting: Option<String>,
    pub paragraphs: Vec<String>,
    pub facts: Vec<Fact>,
    pub button: Option<Button>,
    /// What has to be said below.
    pub notes: Vec<String>,
    /// Why somebody gets this.
    pub footer: String,
}
