//! The template: the real one as it is, and small wrong ones.

use std::collections::HashSet;
use std::time::Duration;

use onsale_local_cloud::{Consumer, Schedule, Wiring};
use onsale_store::SCHEMA;
use onsale_table::Projection;
use serde_json::json;

use crate::TEMPLATE;

#[test]
fn the_real_template_wires_the_platform() {
    let wiring = Wiring::parse(TEMPLATE).unwrap();
    let table = wiring.table.as_ref().unwrap();
    assert_eq!(wiring.table_name(), Some("Table"));
    assert!(
        table.ttl_attribute.is_some(),
        "old items would stay for ever"
    );
    let indexes: Vec<_> = table.indexes.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(indexes, ["gsi1", "gsi2", "gsi3", "gsi4"]);
    let consumer = |function: &str, queue: &str, concurrency, timeout_s| Consumer {
        function: function.to_owned(),
        queue: queue.to_owned(),
        batch_size: 10,
        concurrency: Some(concurrency),
        reports_item_failures: true,
        timeout: Duration::from_secs(timeout_s),
    };
    let consumers = [
        consumer("expire-holds", "ExpireHoldsQueue", 5, 30),
        consumer("drive-saga", "SagaQueue", 20, 60),
        consumer("drive-saga", "SagaDeadLetters", 2, 60),
        consumer("index-events", "IndexEventsQueue", 2, 900),
    ];
    for consumer in consumers {
        assert!(
            wiring.consumers.contains(&consumer),
            "{:?} lacks {consumer:?}",
            wiring.consumers
        );
    }
    let schedule = |minutes: u64, scope: &str| Schedule {
        function: "reconcile".to_owned(),
        every: Duration::from_secs(60 * minutes),
        input: Some(json!({ "scope": scope })),
        timeout: Duration::from_secs(900),
    };
    let sweep = Schedule {
        function: "index-events".to_owned(),
        every: Duration::from_secs(60),
        input: Some(json!({})),
        timeout: Duration::from_secs(900),
    };
    let schedules = [sweep, schedule(1, "open"), schedule(60, "all")];
    assert_eq!(wiring.schedules, schedules);
    assert_eq!(wiring.buckets, ["Bucket".to_owned()].into());
    let names = [
        "accounts",
        "catalog",
        "checkout",
        "drive-saga",
        "expire-holds",
        "holds",
        "organiser",
        "reconcile",
        "tickets",
        "write-exports",
    ];
    for name in names {
        assert!(wiring.functions.values().any(|f| f == name), "{name}");
    }
}

#[test]
fn the_table_of_the_template_has_the_shape_that_the_store_needs() {
    let table = Wiring::parse(TEMPLATE).unwrap().table.unwrap();
    let keys = |pk: &str, sk: &str| {
        let key = |name: &str, role: &str| (name.to_owned(), role.to_owned());
        vec![key(pk, "HASH"), key(sk, "RANGE")]
    };
    assert_eq!(table.keys, keys("pk", "sk"));
    assert_eq!(table.ttl_attribute.as_deref(), Some(SCHEMA.forget_at));
    assert_eq!(table.indexes.len(), SCHEMA.indexes.len());
    for (declared, needed) in table.indexes.iter().zip(SCHEMA.indexes) {
        let projection = match needed.projection {
            Projection::All => "ALL",
            Projection::Keys => "KEYS_ONLY",
        };
        assert_eq!(declared.name, needed.name);
        assert_eq!(declared.keys, keys(needed.pk, needed.sk), "{}", needed.name);
        assert_eq!(declared.projection, projection, "{}", needed.name);
    }
    // Every key is a text, and the template names no attribute that is none.
    let mut named: Vec<_> = table
        .attributes
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let of_indexes = SCHEMA.indexes.iter().flat_map(|index| [index.pk, index.sk]);
    let mut used: Vec<_> = ["pk", "sk"].into_iter().chain(of_indexes).collect();
    named.sort_unstable();
    used.sort_unstable();
    assert_eq!(named, used);
    assert!(table.attributes.iter().all(|(_, kind)| kind == "S"));
}

/// Lambda asks for it: otherwise a message can come back while its first delivery is at work.
#[test]
fn every_consumed_queue_hides_messages_for_six_times_the_timeout_and_has_dead_letters() {
    let wiring = Wiring::parse(TEMPLATE).unwrap();
    let redrives = wiring.queues.values().filter_map(|q| q.redrive.as_ref());
    let dead_letters: HashSet<_> = redrives.map(|r| &r.dead_letter_queue).collect();
    for consumer in &wiring.consumers {
        let queue = &wiring.queues[&consumer.queue];
        let hidden = Duration::from_secs(queue.visibility_s.into());
        assert!(hidden >= 6 * consumer.timeout, "{}", queue.name);
        // Dead letters have nowhere further to go.
        assert!(
            queue.redrive.is_some() != dead_letters.contains(&queue.name),
            "{}",
            queue.name
        );
    }
}

#[test]
fn schedules_and_defaults_of_parameters_are_read() {
    let wiring = Wiring::parse(
        r#"
Parameters: { Batch: { Type: Number, Default: 4 } }
Globals: { Function: { Timeout: 7 } }
Resources:
  Work: { Type: AWS::SQS::Queue }
  Reconcile:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: target/lambda/reconcile
      Events:
        Often: { Type: Schedule, Properties: { Schedule: rate(2 minutes) } }
        Daily:
          Type: ScheduleV2
          Properties: { ScheduleExpression: rate(1 day), Input: '{ "scope": "all" }' }
        Queue:
          Type: SQS
          Properties: { Queue: { "Fn::GetAtt": [Work, Arn] }, BatchSize: !Ref Batch }
"#,
    )
    .unwrap();
    let every = |minutes: u64, input| Schedule {
        function: "reconcile".to_owned(),
        every: Duration::from_secs(60 * minutes),
        input,
        timeout: Duration::from_secs(7),
    };
    let daily = every(24 * 60, Some(json!({ "scope": "all" })));
    assert_eq!(wiring.schedules, [every(2, None), daily]);
    assert_eq!(wiring.consumers[0].batch_size, 4);
    assert_eq!(wiring.consumers[0].timeout, Duration::from_secs(7));
    assert_eq!(wiring.consumers[0].concurrency, None);
}

#[test]
fn an_error_names_the_resource_and_what_is_missing() {
    let cases = [
        ("{", "not YAML"),
        ("Resources: { Q: {} }", "Q: Type is missing"),
        (
            "Resources: { F: { Type: AWS::Serverless::Function, Properties: {} } }",
            "F: Properties.CodeUri is missing",
        ),
        (
            "Resources: { T: { Type: AWS::DynamoDB::Table, Properties: { AttributeDefinitions: [] } } }",
            "T: Properties.KeySchema is missing",
        ),
        (
            "Resources: { Q: { Type: AWS::SQS::Queue, Properties: { RedrivePolicy: { deadLetterTargetArn: !GetAtt D.Arn, maxReceiveCount: 5 } } } }",
            "Q: points to D, which is no queue",
        ),
        (
            "Resources: { Q: { Type: AWS::SQS::Queue, Properties: { VisibilityTimeout: soon } } }",
            "Q: Properties.VisibilityTimeout is not a whole number",
        ),
        (
            "Resources: { F: { Type: AWS::Serverless::Function, Properties: { CodeUri: f/, Events: { S: { Type: Schedule, Properties: { Schedule: cron(0 1) } } } } } }",
            "is not of the form rate(5 minutes)",
        ),
        (
            "Resources: { F: { Type: AWS::Serverless::Function, Properties: { CodeUri: f/, Events: { S: { Type: Schedule, Properties: { Schedule: rate(1 day), Input: scope } } } } } }",
            "F: the Input of a schedule is not JSON",
        ),
    ];
    for (template, expected) in cases {
        let error = Wiring::parse(template).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} lacks {expected:?}");
    }
}
