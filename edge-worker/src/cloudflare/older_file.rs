//! Files for pages that were open while another version was deployed. They name a version
//! that is gone; the current file serves them as well, but is not to be kept under that name.

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use worker::Env;

use crate::answer::{Answer, bytes};

/// The static assets of this worker.
const BINDING: &str = "ASSETS";

/// The file that an older page asks for. `None`: none is asked for, or there is none.
pub async fn older_file(env: &Env, path: &str) -> Option<Answer> {
    let (file, is_current) = onsale_web::asset_path(path)?;
    if is_current {
        return None;
    }
    let url = format!("https://assets/assets/{}/{file}", onsale_web::VERSION);
    let mut found = env.service(BINDING).ok()?.fetch(url, None).await.ok()?;
    if found.status_code() != 200 {
        return None;
    }
    let kind = found.headers().get("content-type").ok()??;
    let content = found.bytes().await.ok()?;
    let mut answer = bytes(StatusCode::OK, "text/plain", content);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_str(&kind).ok()?);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Some(crate::web::secured(answer))
}
