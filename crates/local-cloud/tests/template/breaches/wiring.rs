//! How queues, rules and the functions behind them can be wired wrongly.

use serde_json::json;

use super::Change;

pub const BREACHES: &[(&str, &str, Change)] = &[
    (
        "every queue has dead letters",
        "SagaQueue: no dead letters",
        |t| t.remove("SagaQueue", "Properties.RedrivePolicy"),
    ),
    (
        "every queue has dead letters",
        "SagaDeadLetters: consumed, and nobody says why",
        |t| t.remove("SagaDeadLetters", "Metadata.Consumed"),
    ),
    (
        "every queue has dead letters",
        "SagaQueue: redrive after",
        |t| {
            let tries = "Properties.RedrivePolicy.maxReceiveCount";
            t.set("SagaQueue", tries, json!(1));
        },
    ),
    (
        "every queue has dead letters",
        "NotifyRule: what it cannot deliver is lost",
        |t| t.remove("NotifyRule", "Properties.Targets.0.DeadLetterConfig"),
    ),
    (
        "every queue has dead letters",
        "gone before anybody looked",
        |t| {
            let retention = "Properties.MessageRetentionPeriod";
            t.set("ExportsDeadLetters", retention, json!(3600));
        },
    ),
    (
        "every consumer reports partial failures",
        "one failure of SagaQueue fails all",
        |t| {
            let types = "Properties.Events.Due.Properties.FunctionResponseTypes";
            t.remove("DriveSagaFunction", types);
        },
    ),
    (
        "every consumer reports partial failures",
        "may take every environment",
        |t| {
            let scaling = "Properties.Events.Due.Properties.ScalingConfig";
            t.remove("DriveSagaFunction", scaling);
        },
    ),
    (
        "messages stay hidden for six timeouts",
        "SagaQueue: hidden for Some(359)",
        |t| t.set("SagaQueue", "Properties.VisibilityTimeout", json!(359)),
    ),
    (
        "messages stay hidden for six timeouts",
        "NotifyFunction takes 61",
        |t| t.set("NotifyFunction", "Properties.Timeout", json!(61)),
    ),
    (
        "a function that wakes itself is allowed to",
        "DriveSagaFunction: Lambda cuts",
        |t| t.remove("DriveSagaFunction", "Properties.RecursiveLoop"),
    ),
    (
        "a function that wakes itself is allowed to",
        "NotifyFunction: Lambda cuts",
        |t| {
            let usual = json!("Terminate");
            t.set("NotifyFunction", "Properties.RecursiveLoop", usual);
        },
    ),
    (
        "a function that wakes itself is allowed to",
        "IndexEventsFunction: Lambda cuts",
        |t| {
            let path = "Properties.Policies.0.PolicyDocument.Statement";
            let statements = t.place("IndexEventsRole", path).as_array_mut();
            statements.unwrap().push(json!({
                "Effect": "Allow",
                "Action": "events:PutEvents",
                "Resource": { "Fn::GetAtt": "EventBus.Arn" },
            }));
        },
    ),
    (
        "a function that wakes itself is allowed to",
        "IndexEventsFunction: a loop that nobody meant",
        |t| {
            let allow = json!("Allow");
            t.set("IndexEventsFunction", "Properties.RecursiveLoop", allow);
        },
    ),
    (
        "a function that wakes itself is allowed to",
        "WriteExportsFunction: a loop that nobody meant",
        |t| {
            let policy = t.place("WriteExportsRole", "Properties.Policies.0.PolicyDocument");
            let statements = policy["Statement"].as_array_mut().unwrap();
            let receive = statements.last_mut().unwrap();
            receive["Action"] = json!(["sqs:DeleteMessage", "sqs:ReceiveMessage"]);
        },
    ),
];
