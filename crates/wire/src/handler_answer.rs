//! A refusal as the answer of a handler.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::WWW_AUTHENTICATE;

use crate::code::Code;
use crate::problem::Problem;

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let code = self.code();
        let mut response = self.answer().map(Body::from);
        if code == Code::Unauthenticated {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        }
        response
    }
}
