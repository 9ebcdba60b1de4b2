//! Mails, sent by SES's own protocol through the runtime of the SDKs.

use aws_smithy_runtime::client::orchestrator::operation::Operation;
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse, OrchestratorError};
use aws_smithy_types::body::SdkBody;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use onsale_aws_emulator::Emulator;
use serde_json::{Value, json};

/// The id of the mail, or whether it is refused for good.
async fn send(emulator: &Emulator, to: &str, raw: &[u8]) -> Result<String, bool> {
    let body = json!({
        "FromEmailAddress": "box@onsale.example",
        "Destination": {"ToAddresses": [to]},
        "Content": {"Raw": {"Data": STANDARD.encode(raw)}},
    });
    let sending = Operation::builder()
        .service_name("ses")
        .operation_name("SendEmail")
        .http_client(emulator.http_client())
        .endpoint_url("http://cloud.local")
        .no_auth()
        .no_retry()
        .serializer(|body: String| {
            let mut request = HttpRequest::new(SdkBody::from(body));
            request.set_method("POST")?;
            request.set_uri("/v2/email/outbound-emails")?;
            Ok(request)
        })
        .deserializer(
            |response: &HttpResponse| -> Result<_, OrchestratorError<std::fmt::Error>> {
                let body = response.body().bytes().unwrap_or_default();
                let body: Value = serde_json::from_slice(body).unwrap();
                Ok((response.status().as_u16(), body))
            },
        )
        .build();
    let (status, answer) = sending.invoke(body.to_string()).await.unwrap();
    match status {
        200 => Ok(answer["MessageId"].as_str().unwrap().to_owned()),
        _ => Err(answer["__type"] == "BadRequestException"),
    }
}

#[tokio::test]
async fn a_mail_is_kept_as_it_was_sent() {
    let emulator = Emulator::memory().unwrap();
    let id = send(&emulator, "ana@example.org", b"one\r\n\0\xff").await;
    let kept = emulator.mailbox().mail(id.unwrap()).await.unwrap().unwrap();
    assert_eq!(kept.raw, b"one\r\n\0\xff");
    assert_eq!(kept.sender, "box@onsale.example");
}

#[tokio::test]
async fn what_is_no_address_is_refused_for_good() {
    let emulator = Emulator::memory().unwrap();
    assert_eq!(send(&emulator, "nobody", b"one").await, Err(true));
    let kept = emulator.mailbox().newest(None, 10).await.unwrap();
    assert!(kept.is_empty());
}
