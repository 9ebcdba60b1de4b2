//! Whoever is on call is told, knows what to do, and can get everything back.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::reading::{Template, each, points_to};

pub const RUNBOOK: &str = include_str!("../../../../docs/OPERATIONS.md");

pub fn alarms(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    let alarms = template.of_type("AWS::CloudWatch::Alarm");
    if alarms.len() < 20 {
        problems.push(format!("only {} alarms", alarms.len()));
    }
    for alarm in alarms {
        let id = alarm.id;
        let actions = each(alarm.at("AlarmActions"));
        let topics = actions.iter().filter_map(points_to);
        let told = topics.filter(|t| template.resource(t).whole["Type"] == "AWS::SNS::Topic");
        if told.count() == 0 || *alarm.at("ActionsEnabled") == json!(false) {
            problems.push(format!("{id}: nobody is told"));
        }
        if alarm.at("AlarmDescription").as_str().is_none() {
            problems.push(format!("{id}: nobody knows what it means"));
        }
    }
    for topic in template.of_type("AWS::SNS::Topic") {
        if topic.at("KmsMasterKeyId").is_null() {
            problems.push(format!("{}: not encrypted", topic.id));
        }
    }
    // Every queue that collects failures is watched.
    let queues = template.of_type("AWS::SQS::Queue");
    for queue in queues.iter().filter(|q| q.id.ends_with("DeadLetters")) {
        let alarm = format!("{}Alarm", queue.id);
        if template.0["Resources"].get(&alarm).is_none() {
            problems.push(format!("{}: no alarm", queue.id));
        }
    }
    problems
}

/// A dashboard that is not JSON, or names what is not there, is refused or stays empty.
pub fn dashboard(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    let alarms = template.of_type("AWS::CloudWatch::Alarm");
    for dashboard in template.of_type("AWS::CloudWatch::Dashboard") {
        let id = dashboard.id;
        let body = dashboard.at("DashboardBody.Fn::Sub");
        let body = body.as_str().unwrap_or_default();
        if let Err(error) = serde_json::from_str::<Value>(body) {
            problems.push(format!("{id}: not JSON: {error}"));
        }
        let named = body.split("${").skip(1);
        let named = named.filter_map(|rest| rest.split(['.', '}']).next());
        let named: BTreeSet<_> = named.filter(|name| !name.starts_with("AWS::")).collect();
        let is_there = |name: &&&str| {
            let sections = ["Resources", "Parameters"];
            sections.iter().any(|s| template.0[s].get(**name).is_some())
        };
        let gone = named.iter().filter(|name| !is_there(name));
        problems.extend(gone.map(|name| format!("{id}: there is no {name}")));
        let unseen = alarms.iter().filter(|alarm| !named.contains(alarm.id));
        problems.extend(unseen.map(|alarm| format!("{id}: does not show {}", alarm.id)));
    }
    problems
}

pub fn data(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for table in template.of_type("AWS::DynamoDB::Table") {
        let wanted = [
            ("BillingMode", json!("PAY_PER_REQUEST")),
            (
                "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled",
                json!(true),
            ),
            ("SSESpecification.SSEEnabled", json!(true)),
            ("DeletionProtectionEnabled", json!(true)),
        ];
        for (path, value) in wanted {
            if *table.at(path) != value {
                problems.push(format!("{}: {path} is not {value}", table.id));
            }
        }
    }
    let kept = ["AWS::DynamoDB::Table", "AWS::S3::Bucket"];
    for resource in kept.into_iter().flat_map(|kind| template.of_type(kind)) {
        for policy in ["DeletionPolicy", "UpdateReplacePolicy"] {
            if resource.whole[policy] != "Retain" {
                problems.push(format!("{}: {policy} is not Retain", resource.id));
            }
        }
    }
    for queue in template.of_type("AWS::SQS::Queue") {
        if *queue.at("SqsManagedSseEnabled") != json!(true) {
            problems.push(format!("{}: not encrypted", queue.id));
        }
    }
    problems
}

/// Headings name the alarms they are about, in backticks.
pub fn runbook(template: &Template) -> Vec<String> {
    let headings = RUNBOOK.lines().filter(|line| line.starts_with('#'));
    let named = headings.flat_map(|heading| heading.split('`').skip(1).step_by(2));
    let named: BTreeSet<_> = named.filter(|name| name.ends_with("Alarm")).collect();
    let alarms = template.of_type("AWS::CloudWatch::Alarm");
    let alarms: BTreeSet<_> = alarms.iter().map(|alarm| alarm.id).collect();
    let unknown = alarms.difference(&named);
    let unknown = unknown.map(|a| format!("{a}: docs/OPERATIONS.md has no heading"));
    let gone = named.difference(&alarms);
    unknown
        .chain(gone.map(|a| format!("{a}: docs/OPERATIONS.md has a heading, but it is gone")))
        .collect()
}
