//! Mails by Amazon SES, as whole messages: attachments need that.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use onsale_app::ports::{MailFailure, Mailer};
use onsale_domain::account::Email;
use serde_json::json;

use crate::signed::{Call, Failure, Payload, Service, trouble};

const SEND: &str = "/v2/email/outbound-emails";
/// What is wrong with the mail itself. Anything else is too fast, or an account that an operator
/// has to set right, and the mail is fine.
const REFUSALS: [&str; 2] = ["BadRequestException", "MessageRejected"];

#[derive(Debug, Clone)]
pub struct SesMailer {
    service: Service,
    /// The address that SES knows us by.
    sender: String,
    /// What SES reports to, of what becomes of mails.
    configuration_set: Option<String>,
}

impl SesMailer {
    pub(crate) fn new(service: Service, sender: impl Into<String>) -> Self {
        Self {
            service,
            sender: sender.into(),
            configuration_set: None,
        }
    }

    /// With a configuration set, whose destinations hear of bounces and complaints.
    #[must_use]
    pub fn reporting_to(self, configuration_set: Option<String>) -> Self {
        Self {
            configuration_set,
            ..self
        }
    }
}

#[async_trait]
impl Mailer for SesMailer {
    async fn send(&self, to: &Email, message: Vec<u8>) -> Result<(), MailFailure> {
        let mut body = json!({
            "FromEmailAddress": self.sender,
            // Who gets it is said here and not by the headers of the message.
            "Destination": {"ToAddresses": [to.as_str()]},
            "Content": {"Raw": {"Data": STANDARD.encode(message)}},
        });
        if let Some(name) = &self.configuration_set {
            body["ConfigurationSetName"] = json!(name);
        }
        let call = Call {
            method: "POST",
            target: SEND.to_owned(),
            headers: vec![("content-type", "application/json".to_owned())],
            body: Payload::Bytes(body.to_string().into_bytes()),
        };
        self.service
            .call(call)
            .await
            .map(|_| ())
            .map_err(|f| told(&f))
    }
}

/// What SES said, as a code only: its texts may name addresses.
fn told(failure: &Failure) -> MailFailure {
    let code = trouble(failure).to_owned();
    if REFUSALS.contains(&&*code) {
        MailFailure::Refused(code)
    } else {
        MailFailure::Unavailable(code)
    }
}

#[cfg(test)]
#[path = "ses_tests.rs"]
mod tests;
