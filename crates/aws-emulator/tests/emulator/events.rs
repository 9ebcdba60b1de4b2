//! Events from PutEvents to the queues of their rules.

use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use onsale_aws_emulator::{Emulator, Wiring};
use serde_json::Value;

use crate::clients::events;

const TEMPLATE: &str = r#"
Resources:
  Bus: { Type: AWS::Events::EventBus, Properties: { Name: onsale } }
  Notify: { Type: AWS::SQS::Queue }
  Waitlist: { Type: AWS::SQS::Queue }
  OrderEvents:
    Type: AWS::Events::Rule
    Properties:
      EventBusName: !Ref Bus
      EventPattern:
        source: [onsale]
        detail-type: [{ prefix: Order }]
      Targets: [{ Id: notify, Arn: !GetAtt Notify.Arn }]
  SeatEvents:
    Type: AWS::Events::Rule
    Properties:
      EventBusName: !Ref Bus
      EventPattern:
        source: [onsale]
        detail-type: [SeatsReturned, OrderCancelled]
      Targets: [{ Id: waitlist, Arn: !GetAtt Waitlist.Arn }]
"#;

fn entry(source: &str, detail_type: &str, detail: &str) -> PutEventsRequestEntry {
    PutEventsRequestEntry::builder()
        .event_bus_name("Bus")
        .source(source)
        .detail_type(detail_type)
        .detail(detail)
        .build()
}

async fn received(emulator: &Emulator, queue: &str) -> Vec<Value> {
    let messages = emulator.queues().receive(queue, 10, None).await.unwrap();
    let bodies = messages.iter().map(|m| serde_json::from_str(&m.body));
    bodies.collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn an_event_reaches_the_queue_of_every_rule_it_matches_and_no_other() {
    let emulator = Emulator::memory().unwrap();
    emulator
        .apply(&Wiring::parse(TEMPLATE).unwrap())
        .await
        .unwrap();
    let client = events(emulator.http_client());
    let put = client
        .put_events()
        .entries(entry("onsale", "OrderConfirmed", r#"{"order":"a"}"#))
        .entries(entry("onsale", "OrderCancelled", r#"{"order":"b"}"#))
        .entries(entry("somebody", "OrderCancelled", "{}"))
        .send()
        .await
        .unwrap();
    assert_eq!(put.failed_entry_count(), 0);

    let notify = received(&emulator, "Notify").await;
    assert_eq!(notify.len(), 2);
    assert_eq!(notify[0]["detail-type"], "OrderConfirmed");
    assert_eq!(notify[0]["source"], "onsale");
    assert_eq!(notify[0]["detail"]["order"], "a");
    assert_eq!(notify[0]["version"], "0");
    assert_eq!(notify[0]["id"], put.entries()[0].event_id().unwrap());
    assert!(notify[0]["time"].as_str().unwrap().ends_with('Z'));
    let waitlist = received(&emulator, "Waitlist").await;
    assert_eq!(waitlist.len(), 1);
    assert_eq!(waitlist[0]["detail"]["order"], "b");
}

#[tokio::test]
async fn an_entry_without_proper_detail_fails_alone() {
    let emulator = Emulator::memory().unwrap();
    emulator
        .apply(&Wiring::parse(TEMPLATE).unwrap())
        .await
        .unwrap();
    let put = events(emulator.http_client())
        .put_events()
        .entries(entry("onsale", "OrderConfirmed", "not json"))
        .entries(entry("onsale", "OrderConfirmed", "{}"))
        .send()
        .await
        .unwrap();
    assert_eq!(put.failed_entry_count(), 1);
    assert_eq!(put.entries()[0].error_code(), Some("MalformedDetail"));
    assert_eq!(received(&emulator, "Notify").await.len(), 1);
}
