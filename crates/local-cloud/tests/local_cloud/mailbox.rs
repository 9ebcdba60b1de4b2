//! Mails, sent by SES's own protocol through the runtime of the SDKs.

use aws_smithy_runtime::client::orchestrator::operation::Operation;
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse, OrchestratorError};
use aws_smithy_types::body::SdkBody;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use onsale_local_cloud::LocalCloud;
use serde_json::{Value, json};

/// The id of the mail, or whether it is refused for good.
async fn send(cloud: &LocalCloud, to: &str, raw: &[u8]) -> Result<String, bool> {
    let body = json!({
        "FromEmailAddress": "box@onsale.example",
        "Destination": {"ToAddresses": [to]},
        "Content": {"Raw": {"Data": STANDARD.encode(raw)}},
    });
    let sending = Operation::builder()
        .service_name("ses")
        .operation_name("SendEmail")
        .http_client(cloud.http_client())
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
async fn a_mail_is_kept_as_it_was_sent_and_outlives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let cloud = LocalCloud::open(dir.path()).unwrap();
    let first = send(&cloud, "ana@example.org", b"one\r\n\0\xff")
        .await
        .unwrap();
    let second = send(&cloud, "bo@example.org", b"two").await.unwrap();
    drop(cloud);
    let mailbox = LocalCloud::open(dir.path()).unwrap().mailbox().clone();
    let all = mailbox.newest(None, 10).await.unwrap();
    let ids: Vec<_> = all.iter().map(|mail| mail.id.as_str()).collect();
    assert_eq!(ids, [second.as_str(), first.as_str()]);
    let anas = mailbox
        .newest(Some("ana@example.org".into()), 10)
        .await
        .unwrap();
    assert_eq!(
        (anas.len(), anas[0].raw.as_slice()),
        (1, &b"one\r\n\0\xff"[..])
    );
    assert_eq!(mailbox.mail(first).await.unwrap(), Some(anas[0].clone()));
    assert_eq!(mailbox.mail("none".into()).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_no_address_is_refused_for_good() {
    let cloud = LocalCloud::memory().unwrap();
    assert_eq!(send(&cloud, "nobody", b"one").await, Err(true));
    assert!(cloud.mailbox().newest(None, 10).await.unwrap().is_empty());
}
