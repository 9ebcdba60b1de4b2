//! The extractor of a pass.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use onsale_domain::room::pass::PassClaims;
use onsale_wire::{PASS_COOKIE, PASS_HEADER, cookie};

use crate::state::Api;

/// The claims of the pass that came along, if the edge signed it. A pass that cannot be
/// trusted is none: most shows want none, and for those that do the use case says what
/// to do. Whether it counts for this show, now, and for this account is for the use case
/// as well.
#[derive(Debug, Clone)]
pub struct OfferedPass(pub Option<PassClaims>);

impl FromRequestParts<Api> for OfferedPass {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Infallible> {
        // The header wins: a program that sends one means it, whatever cookies it keeps.
        let token = match parts.headers.get(PASS_HEADER) {
            Some(value) => value.to_str().ok(),
            None => cookie(&parts.headers, PASS_COOKIE),
        };
        Ok(Self(token.and_then(|token| api.passes.verify(token))))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use onsale_domain::ids::ShowId;
    use onsale_domain::room::opaque::PassId;
    use onsale_domain::room::pass_key::PassKey;
    use onsale_domain::time::Millis;
    use onsale_test_support::MemoryWorld;

    use super::*;
    use crate::limits::Limits;
    use crate::pass::PassVerifier;
    use crate::session::SessionSigner;

    const NOW: Millis = Millis(1_800_000_000_000);

    fn api(key: &PassKey) -> Api {
        let world = MemoryWorld::new(NOW);
        let sessions = SessionSigner::from_secret("k1", [7; 32]).verifier();
        let passes = PassVerifier::parse(&key.public_key()).unwrap();
        Api::new(world.app, sessions, Limits::off()).with_passes(passes)
    }

    async fn offered(api: &Api, headers: &[(&str, &str)]) -> Option<PassClaims> {
        let mut request = Request::builder();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        let Ok(OfferedPass(pass)) = OfferedPass::from_request_parts(&mut parts, api).await;
        pass
    }

    #[tokio::test]
    async fn a_pass_comes_in_its_header_or_as_cookie() {
        let key = PassKey::new("k1", &[3; 32]);
        let api = api(&key);
        let claims = PassClaims {
            pass: PassId([2; 16]),
            show: ShowId::from_bytes([1; 16]),
            issued: NOW,
            expires: NOW + 300_000,
            key_id: "k1".to_owned(),
        };
        let token = key.sign(&claims);
        let cookie = format!("theme=dark; onsale_pass={token}; lang=en");
        for headers in [
            [("onsale-pass", token.as_str())],
            [("cookie", cookie.as_str())],
        ] {
            assert_eq!(offered(&api, &headers).await, Some(claims.clone()));
        }
        assert_eq!(offered(&api, &[]).await, None);
        // A header that is no good is not healed by a cookie that is.
        let both = [("onsale-pass", "x"), ("cookie", cookie.as_str())];
        assert_eq!(offered(&api, &both).await, None);
        // Nor is a session taken for a pass, or looked for where sessions are.
        let bearer = format!("Bearer {token}");
        assert_eq!(offered(&api, &[("authorization", &bearer)]).await, None);
    }

    #[tokio::test]
    async fn without_keys_no_pass_is_believed() {
        let key = PassKey::new("k1", &[3; 32]);
        let api = api(&key).with_passes(PassVerifier::default());
        let claims = PassClaims {
            pass: PassId([2; 16]),
            show: ShowId::from_bytes([1; 16]),
            issued: NOW,
            expires: NOW + 300_000,
            key_id: "k1".to_owned(),
        };
        let token = key.sign(&claims);
        assert_eq!(offered(&api, &[("onsale-pass", &token)]).await, None);
    }
}
