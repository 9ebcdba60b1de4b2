//! What SES says of mails that it took, as it comes by EventBridge.

use onsale_domain::account::Email;
use onsale_domain::feedback::{Feedback, FeedbackKind};
use onsale_domain::time::Millis;
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct SesEvent {
    source: String,
    detail: Detail,
}

#[derive(Deserialize)]
struct Detail {
    bounce: Option<Bounce>,
    complaint: Option<Complaint>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bounce {
    bounce_type: String,
    bounced_recipients: Vec<Recipient>,
    timestamp: Millis,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Complaint {
    complained_recipients: Vec<Recipient>,
    timestamp: Millis,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recipient {
    email_address: String,
}

impl SesEvent {
    /// Whom not to write to without need. A bounce that may pass says nothing about anybody.
    pub(crate) fn feedback(&self) -> Vec<(Email, Feedback)> {
        if self.source != "aws.ses" {
            return Vec::new();
        }
        let bounce = self.detail.bounce.as_ref();
        let bounced = bounce.filter(|bounce| bounce.bounce_type == "Permanent");
        let bounced = bounced.map(|bounce| {
            let (kind, at) = (FeedbackKind::Bounced, bounce.timestamp);
            (Feedback { kind, at }, &bounce.bounced_recipients)
        });
        let complaint = self.detail.complaint.as_ref().map(|complaint| {
            let (kind, at) = (FeedbackKind::Complained, complaint.timestamp);
            (Feedback { kind, at }, &complaint.complained_recipients)
        });
        let all = bounced.into_iter().chain(complaint);
        all.flat_map(|(feedback, to)| {
            let emails = to.iter().filter_map(|to| Email::parse(&to.email_address));
            emails.map(move |email| (email, feedback))
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(detail: Value) -> Vec<(Email, Feedback)> {
        let event = json!({"version": "0", "id": "x", "source": "aws.ses",
            "detail-type": "Email Bounced", "resources": [], "detail": detail});
        let event: SesEvent = serde_json::from_value(event).unwrap();
        event.feedback()
    }

    fn bounce(kind: &str) -> Value {
        json!({"eventType": "Bounce", "mail": {"messageId": "m"}, "bounce": {
            "feedbackId": "f", "bounceType": kind, "bounceSubType": "General",
            "bouncedRecipients": [{"emailAddress": "Ana@example.org", "status": "5.1.1"}],
            "timestamp": "2027-02-01T15:12:56.000Z"}})
    }

    #[test]
    fn a_lasting_bounce_and_a_complaint_count_and_nothing_else_does() {
        let ana = Email::parse("ana@example.org").unwrap();
        let at: Millis = serde_json::from_value(json!("2027-02-01T15:12:56Z")).unwrap();
        let of = |kind| vec![(ana.clone(), Feedback { kind, at })];
        assert_eq!(read(bounce("Permanent")), of(FeedbackKind::Bounced));
        assert_eq!(read(bounce("Transient")), []);
        let complaint = json!({"eventType": "Complaint", "complaint": {
            "complainedRecipients": [{"emailAddress": "ana@example.org"}, {"emailAddress": "?"}],
            "timestamp": "2027-02-01T15:12:56.000Z"}});
        assert_eq!(read(complaint), of(FeedbackKind::Complained));
        assert_eq!(read(json!({"eventType": "Delivery"})), []);
    }
}
