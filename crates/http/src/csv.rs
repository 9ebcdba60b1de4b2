//! Files of CSV as an answer.

use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};

pub use onsale_domain::csv::row;

/// The headers of a file that is saved under this name. It is its owner's: no cache in
/// between keeps it.
pub fn headers(file_name: &str) -> [(HeaderName, String); 3] {
    [
        (CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{file_name}\""),
        ),
        (CACHE_CONTROL, "private, no-store".to_owned()),
    ]
}
