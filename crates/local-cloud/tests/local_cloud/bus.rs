//! Events, from the bus to the queues of their rules.

use onsale_app::ports::Bus as _;
use onsale_domain::announcement::{Announcement, News};
use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;
use onsale_local_cloud::{Event, LocalCloud, Wiring};
use onsale_observe::Cause;
use serde_json::{Value, json};

use crate::TEMPLATE as PLATFORM;

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
  OwnMails:
    Type: AWS::Events::Rule
    Properties:
      EventBusName: !Ref Bus
      EventPattern:
        source: [mails]
        detail: { mail: { tags: { "ses:configuration-set": [!Ref Reports] } } }
      Targets: [{ Id: notify, Arn: !GetAtt Notify.Arn }]
"#;

fn event(source: &str, detail_type: &str, detail: Value) -> Event {
    Event {
        bus: "Bus".to_owned(),
        source: source.to_owned(),
        detail_type: detail_type.to_owned(),
        detail,
        resources: Vec::new(),
        at_s: None,
    }
}

async fn cloud(template: &str) -> LocalCloud {
    let cloud = LocalCloud::temporary().await.unwrap();
    let wiring = Wiring::parse(template).unwrap();
    cloud.apply(&wiring).await.unwrap();
    cloud
}

async fn received(cloud: &LocalCloud, queue: &str) -> Vec<Value> {
    let messages = cloud.queues().receive(queue, 10, None).await.unwrap();
    let bodies = messages.iter().map(|m| serde_json::from_str(&m.body));
    bodies.collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn an_event_reaches_the_queue_of_every_rule_it_matches_and_no_other() {
    let cloud = cloud(TEMPLATE).await;
    let events = [
        event("onsale", "OrderConfirmed", json!({"order": "a"})),
        event("onsale", "OrderCancelled", json!({"order": "b"})),
        event("somebody", "OrderCancelled", json!({})),
    ];
    let ids = cloud.bus().put(&events).await.unwrap();

    let notify = received(&cloud, "Notify").await;
    assert_eq!(notify.len(), 2);
    assert_eq!(notify[0]["detail-type"], "OrderConfirmed");
    assert_eq!(notify[0]["source"], "onsale");
    assert_eq!(notify[0]["detail"]["order"], "a");
    assert_eq!(notify[0]["version"], "0");
    assert_eq!(notify[0]["id"], ids[0]);
    assert!(notify[0]["time"].as_str().unwrap().ends_with('Z'));
    let waitlist = received(&cloud, "Waitlist").await;
    assert_eq!(waitlist.len(), 1);
    assert_eq!(waitlist[0]["detail"]["order"], "b");
}

#[tokio::test]
async fn a_rule_that_names_fields_of_the_detail_hears_of_no_others() {
    let cloud = cloud(TEMPLATE).await;
    let tagged = |id: &str, set: &str| {
        let tags = json!({ "ses:configuration-set": [set] });
        let detail = json!({ "mail": { "id": id, "tags": tags } });
        event("mails", "Email Bounced", detail)
    };
    let events = [
        tagged("foreign", "others"),
        tagged("own", "Reports"),
        event("mails", "Email Bounced", json!({"mail": {}})),
    ];
    cloud.bus().put(&events).await.unwrap();
    let heard = received(&cloud, "Notify").await;
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0]["detail"]["mail"]["id"], "own");
}

#[tokio::test]
async fn an_announcement_reaches_its_consumers_with_what_caused_it_inside() {
    let cloud = cloud(PLATFORM).await;
    let announcement = Announcement {
        version: 1,
        id: "a".to_owned(),
        at: Millis(1_800_000_000_000),
        news: News::ShowCancelled {
            show_id: ShowId::from_bytes([1; 16]),
            refunds_due: 7,
        },
    };
    let announcements = [announcement.clone()];
    let cause = Cause::begin(Some("req-7"), None);
    let announced = cause.scope(cloud.bus().announce(&announcements)).await;
    announced.unwrap();
    let heard = received(&cloud, "OfferWaitlistQueue").await;
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0]["detail-type"], "ShowCancelled");
    assert_eq!(heard[0]["source"], "onsale");
    assert_eq!(heard[0]["detail"]["request_id"], "req-7");
    let told: Announcement = serde_json::from_value(heard[0]["detail"].clone()).unwrap();
    assert_eq!(told, announcement);
    assert!(received(&cloud, "NotifyQueue").await.is_empty());
}
