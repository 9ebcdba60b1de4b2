//! The queues through the SQS client.

use std::time::Duration;

use aws_sdk_sqs::types::{MessageAttributeValue, QueueAttributeName, SendMessageBatchRequestEntry};
use onsale_aws_emulator::queue_url;

use crate::clients::{emulator, sqs};

#[tokio::test]
async fn the_sdk_sends_receives_counts_and_deletes() {
    let client = sqs(emulator().await.http_client());
    let url = client.get_queue_url().queue_name("ExpireHoldsQueue");
    let url = url.send().await.unwrap().queue_url.unwrap();
    assert_eq!(url, queue_url("ExpireHoldsQueue"));

    let sent = client.send_message().queue_url(&url).message_body("hello");
    let sent = sent.send().await.unwrap();
    assert_eq!(
        sent.md5_of_message_body(),
        Some("5d41402abc4b2a76b9719d911017c592")
    );
    let entry = |id: &str, delay| {
        let entry = SendMessageBatchRequestEntry::builder().id(id);
        let entry = entry.message_body("batch").delay_seconds(delay);
        entry.build().unwrap()
    };
    let batch = client.send_message_batch().queue_url(&url);
    let batch = batch.entries(entry("good", 900)).entries(entry("bad", 901));
    let batch = batch.send().await.unwrap();
    assert_eq!(batch.successful()[0].id(), "good");
    assert_eq!(batch.failed()[0].code(), "InvalidParameterValue");

    let received = client.receive_message().queue_url(&url);
    let received = received.max_number_of_messages(10).wait_time_seconds(1);
    let received = received.send().await.unwrap();
    assert_eq!(received.messages().len(), 1);
    assert_eq!(received.messages()[0].body(), Some("hello"));

    let delete = client.delete_message().queue_url(&url);
    let receipt = received.messages()[0].receipt_handle().unwrap();
    delete.receipt_handle(receipt).send().await.unwrap();
    let counts = client.get_queue_attributes().queue_url(&url);
    let counts = counts.attribute_names(QueueAttributeName::All);
    let counts = counts.send().await.unwrap().attributes.unwrap();
    let count = |name: QueueAttributeName| counts[&name].as_str();
    assert_eq!(count(QueueAttributeName::ApproximateNumberOfMessages), "0");
    assert_eq!(
        count(QueueAttributeName::ApproximateNumberOfMessagesDelayed),
        "1"
    );
}

#[tokio::test]
async fn a_message_has_the_attributes_it_was_sent_with() {
    let client = sqs(emulator().await.http_client());
    let url = queue_url("ExpireHoldsQueue");
    let typed = |kind: &str, value: &str| {
        let value = MessageAttributeValue::builder().string_value(value);
        value.data_type(kind).build().unwrap()
    };
    let send = client.send_message().queue_url(&url).message_body("hello");
    let send = send.message_attributes("request_id", typed("String", "req-7"));
    let sent = send.message_attributes("other", typed("String", "x"));
    let sent = sent.send().await.unwrap();
    assert!(sent.md5_of_message_attributes().is_some());
    let receive = || {
        client
            .receive_message()
            .queue_url(&url)
            .visibility_timeout(0)
    };
    let named = receive().message_attribute_names("request_id").send();
    let named = named.await.unwrap();
    let named = named.messages()[0].message_attributes().unwrap();
    assert_eq!(named.len(), 1);
    assert_eq!(named["request_id"].string_value(), Some("req-7"));
    let all = receive()
        .message_attribute_names("All")
        .send()
        .await
        .unwrap();
    assert_eq!(all.messages()[0].message_attributes().unwrap().len(), 2);
    let none = receive().send().await.unwrap();
    assert_eq!(none.messages()[0].message_attributes(), None);

    let send = client.send_message().queue_url(&url).message_body("hello");
    let odd = send.message_attributes("n", typed("Number", "1")).send();
    assert!(odd.await.is_err());
}

#[tokio::test]
async fn the_sdk_gets_the_error_codes_of_sqs() {
    let client = sqs(emulator().await.http_client());
    let send = |queue: &str, delay| {
        let send = client.send_message().queue_url(queue_url(queue));
        send.message_body("x").delay_seconds(delay).send()
    };
    let missing = send("NoQueue", 0).await.unwrap_err().into_service_error();
    assert!(missing.is_queue_does_not_exist(), "{missing:?}");
    let late = send("ExpireHoldsQueue", 901).await.unwrap_err();
    let late = late.into_service_error();
    assert_eq!(late.meta().code(), Some("InvalidParameterValue"));
}

#[tokio::test]
async fn an_idle_wait_ends_with_an_empty_answer() {
    let client = sqs(emulator().await.http_client());
    let receive = client.receive_message().wait_time_seconds(1);
    let receive = receive.queue_url(queue_url("ExpireHoldsQueue")).send();
    let received = tokio::time::timeout(Duration::from_secs(5), receive).await;
    assert!(received.unwrap().unwrap().messages().is_empty());
}
