//! Mails by Amazon SES, as whole messages: attachments need that.

use async_trait::async_trait;
use aws_sdk_sesv2::Client;
use aws_sdk_sesv2::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sesv2::operation::send_email::SendEmailError;
use aws_sdk_sesv2::primitives::Blob;
use aws_sdk_sesv2::types::{Destination, EmailContent, RawMessage};
use onsale_app::ports::{MailFailure, Mailer};
use onsale_domain::account::Email;

#[derive(Debug, Clone)]
pub struct SesMailer {
    client: Client,
    /// The address that SES knows us by.
    sender: String,
    /// What SES reports to, of what becomes of mails.
    configuration_set: Option<String>,
}

impl SesMailer {
    pub fn new(client: Client, sender: impl Into<String>) -> Self {
        Self {
            client,
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
        let raw = RawMessage::builder().data(Blob::new(message)).build();
        let raw = raw.map_err(|e| MailFailure::Refused(e.to_string()))?;
        // Who gets it is said here and not by the headers of the message.
        let destination = Destination::builder().to_addresses(to.as_str()).build();
        let send = self
            .client
            .send_email()
            .from_email_address(&self.sender)
            .destination(destination)
            .set_configuration_set_name(self.configuration_set.clone())
            .content(EmailContent::builder().raw(raw).build());
        send.send().await.map(|_| ()).map_err(failure)
    }
}

/// What SES said, as a code only: its texts may name addresses.
fn failure<R>(error: SdkError<SendEmailError, R>) -> MailFailure {
    let SdkError::ServiceError(service) = &error else {
        return MailFailure::Unavailable("no answer".to_owned());
    };
    let code = service.err().code().unwrap_or("error").to_owned();
    match service.err() {
        SendEmailError::BadRequestException(_) | SendEmailError::MessageRejected(_) => {
            MailFailure::Refused(code)
        }
        // Too fast, or an account that an operator has to set right: the mail is fine.
        _ => MailFailure::Unavailable(code),
    }
}

#[cfg(test)]
#[path = "ses_tests.rs"]
mod tests;
