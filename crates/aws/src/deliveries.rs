//! Consumers as Lambda runs them: an event of SQS becomes deliveries, and the ids of the
//! messages that failed become the answer, so that SQS keeps only these.

use std::future::Future;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage, SqsMessageAttribute};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use onsale_consume::Delivery;
use onsale_observe::Observed;

/// Runs a Lambda that consumes queues. Its event sources must report batch item failures.
pub async fn run_consumer<F, Fut>(observed: Observed, handle: F) -> Result<(), Error>
where
    F: Fn(Vec<Delivery>) -> Fut,
    Fut: Future<Output = Vec<String>>,
{
    run(service_fn(|event: LambdaEvent<SqsEvent>| async {
        let handled = handle(deliveries(event.payload));
        Ok::<_, Error>(response(observed.around(handled).await))
    }))
    .await
}

pub fn deliveries(event: SqsEvent) -> Vec<Delivery> {
    event.records.into_iter().map(delivery).collect()
}

fn delivery(message: SqsMessage) -> Delivery {
    let text = |(name, value): (String, SqsMessageAttribute)| Some((name, value.string_value?));
    let attributes = message.message_attributes.into_iter();
    Delivery {
        id: message.message_id.unwrap_or_default(),
        body: message.body.unwrap_or_default(),
        attributes: attributes.filter_map(text).collect(),
        queue: queue_name(&message.event_source_arn.unwrap_or_default()).to_owned(),
    }
}

/// The name of a queue is the end of its ARN.
pub fn queue_name(arn: &str) -> &str {
    arn.rsplit(':').next().unwrap_or_default()
}

/// Tells SQS which messages to deliver again.
pub fn response(failed: Vec<String>) -> SqsBatchResponse {
    let mut response = SqsBatchResponse::default();
    for id in failed {
        response.add_failure(id);
    }
    response
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_of_sqs_becomes_deliveries() {
        let event = json!({"Records": [{
            "messageId": "m-1",
            "body": "{}",
            "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:SagaQueue",
            "messageAttributes": {
                "request_id": {"stringValue": "req-7", "dataType": "String"},
                "bytes": {"binaryValue": "AAEC", "dataType": "Binary"},
            },
        }]});
        let delivery = Delivery {
            id: "m-1".to_owned(),
            body: "{}".to_owned(),
            attributes: vec![("request_id".to_owned(), "req-7".to_owned())],
            queue: "SagaQueue".to_owned(),
        };
        let event = serde_json::from_value(event).unwrap();
        assert_eq!(deliveries(event), [delivery]);
    }

    #[test]
    fn the_response_names_the_messages_that_failed() {
        let failed = vec!["m-1".to_owned(), "m-3".to_owned()];
        assert_eq!(
            serde_json::to_value(response(failed)).unwrap(),
            json!({"batchItemFailures": [{"itemIdentifier": "m-1"}, {"itemIdentifier": "m-3"}]})
        );
        assert_eq!(
            serde_json::to_value(response(Vec::new())).unwrap(),
            json!({"batchItemFailures": []})
        );
    }
}
