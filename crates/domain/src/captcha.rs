//! CAPTCHAs, by the protocol of Turnstile's `siteverify`: what to send, and what the
//! answer means. Whoever has a network sends it.
//!
//! <https://developers.cloudflare.com/turnstile/get-started/server-side-validation/>

use std::net::IpAddr;

use serde::Deserialize;
use uuid::Uuid;

/// Turnstile's own limit.
pub const MAX_TOKEN_LEN: usize = 2_048;
/// Answers have a few hundred bytes.
pub const MAX_ANSWER_BYTES: usize = 16 * 1_024;
pub const MEDIA_TYPE: &str = "application/x-www-form-urlencoded";

/// The body that asks whether a token is good. A token is good once; under the same
/// `attempt` the question may be repeated.
pub fn form(secret: &str, token: &str, remote_ip: Option<IpAddr>, attempt: [u8; 16]) -> String {
    let key = uuid::Builder::from_random_bytes(attempt).into_uuid();
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("secret", secret)
        .append_pair("response", token)
        .append_pair("idempotency_key", &Uuid::hyphenated(key).to_string());
    if let Some(ip) = remote_ip {
        form.append_pair("remoteip", &ip.to_string());
    }
    form.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    /// The token is wrong, too old, used before, or from another site.
    Refused,
}

/// Nothing is known about the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoVerdict {
    #[error("the answer cannot be read")]
    Unreadable,
    #[error("the service has trouble of its own")]
    Trouble,
    /// Every visitor would be refused for our own mistake otherwise.
    #[error("the service does not take our secret or our request")]
    Misconfigured,
}

#[derive(Deserialize)]
struct Answer {
    success: bool,
    #[serde(default, rename = "error-codes")]
    error_codes: Vec<String>,
    #[serde(default)]
    hostname: Option<String>,
}

/// What the service said. With a `hostname`, a token that was solved on another site is
/// refused, whoever that site belongs to.
pub fn judge(answer: &[u8], hostname: Option<&str>) -> Result<Verdict, NoVerdict> {
    let answer: Answer = serde_json::from_slice(answer).map_err(|_| NoVerdict::Unreadable)?;
    if answer.success {
        let ours = hostname.is_none_or(|ours| {
            let solved_on = answer.hostname.as_deref().unwrap_or_default();
            solved_on.eq_ignore_ascii_case(ours)
        });
        return Ok(match ours {
            true => Verdict::Passed,
            false => Verdict::Refused,
        });
    }
    let says = |codes: &[&str]| {
        let mut said = answer.error_codes.iter();
        said.any(|code| codes.contains(&code.as_str()))
    };
    if says(&[
        "missing-input-secret",
        "invalid-input-secret",
        "bad-request",
    ]) {
        return Err(NoVerdict::Misconfigured);
    }
    if says(&["internal-error"]) {
        return Err(NoVerdict::Trouble);
    }
    Ok(Verdict::Refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_is_a_form_that_nothing_in_it_can_break() {
        let ip = Some("2001:db8::1".parse().unwrap());
        let form = form("0x4A&b", "tok=en +ü", ip, [0xff; 16]);
        assert_eq!(
            form,
            "secret=0x4A%26b&response=tok%3Den+%2B%C3%BC\
             &idempotency_key=ffffffff-ffff-4fff-bfff-ffffffffffff&remoteip=2001%3Adb8%3A%3A1"
        );
        assert!(!super::form("s", "t", None, [0; 16]).contains("remoteip"));
    }

    #[test]
    fn an_answer_is_believed_only_if_it_can_be_read() {
        use NoVerdict::*;
        use Verdict::*;
        let cases: [(&str, Result<Verdict, NoVerdict>); 15] = [
            (r#"{"success":true}"#, Ok(Passed)),
            (
                r#"{"success":true,"challenge_ts":"2022-02-28T15:14:30.096Z","hostname":"example.com",
                "error-codes":[],"action":"login","cdata":"x","metadata":{"interactive":false}}"#,
                Ok(Passed),
            ),
            (r#"{"success":false}"#, Ok(Refused)),
            (r#"{"success":false,"error-codes":[]}"#, Ok(Refused)),
            (
                r#"{"success":false,"error-codes":["timeout-or-duplicate"]}"#,
                Ok(Refused),
            ),
            (
                r#"{"success":false,"error-codes":["invalid-input-response"]}"#,
                Ok(Refused),
            ),
            (
                r#"{"success":false,"error-codes":["a-code-of-next-year"]}"#,
                Ok(Refused),
            ),
            (
                r#"{"success":false,"error-codes":["invalid-input-secret"]}"#,
                Err(Misconfigured),
            ),
            (
                r#"{"success":false,"error-codes":["bad-request"]}"#,
                Err(Misconfigured),
            ),
            (
                r#"{"success":false,"error-codes":["internal-error"]}"#,
                Err(Trouble),
            ),
            (r#"{"error-codes":[]}"#, Err(Unreadable)),
            (r#"{"success":"true"}"#, Err(Unreadable)),
            ("<html>502</html>", Err(Unreadable)),
            ("true", Err(Unreadable)),
            ("", Err(Unreadable)),
        ];
        for (answer, expected) in cases {
            assert_eq!(judge(answer.as_bytes(), None), expected, "{answer}");
        }
    }

    #[test]
    fn a_token_of_another_site_is_refused_where_the_site_is_known() {
        let on = |host: &str| format!(r#"{{"success":true,"hostname":"{host}"}}"#);
        let judged = |answer: String| judge(answer.as_bytes(), Some("tickets.example"));
        assert_eq!(judged(on("Tickets.example")), Ok(Verdict::Passed));
        assert_eq!(judged(on("evil.example")), Ok(Verdict::Refused));
        assert_eq!(judged(r#"{"success":true}"#.into()), Ok(Verdict::Refused));
    }
}
