//! No message is lost, and none comes back while somebody is still at it.

use std::collections::BTreeSet;

use crate::reading::{Template, each, points_to, texts};

pub fn dead_letters(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    let queues = template.of_type("AWS::SQS::Queue");
    let ids: BTreeSet<_> = queues.iter().map(|q| q.id.to_owned()).collect();
    let mut last = BTreeSet::new();
    for queue in &queues {
        let Some(dead) = points_to(queue.at("RedrivePolicy.deadLetterTargetArn")) else {
            continue;
        };
        // Once is too rarely where a function may be killed, and often keeps a poison going.
        let tries = queue.at("RedrivePolicy.maxReceiveCount").as_u64();
        if !tries.is_some_and(|tries| (3..=10).contains(&tries)) {
            problems.push(format!("{}: redrive after {tries:?} tries", queue.id));
        }
        last.insert(dead);
    }
    for rule in template.of_type("AWS::Events::Rule") {
        for target in each(rule.at("Targets")) {
            match points_to(&target["DeadLetterConfig"]["Arn"]) {
                Some(dead) => {
                    last.insert(dead);
                }
                None => problems.push(format!("{}: what it cannot deliver is lost", rule.id)),
            }
        }
    }
    problems.extend(last.difference(&ids).map(|d| format!("{d}: is no queue")));
    let consumed: BTreeSet<_> = template.consumers().into_iter().map(|c| c.1).collect();
    for queue in &queues {
        let id = queue.id;
        let redrives = !queue.at("RedrivePolicy").is_null();
        let why = queue.whole["Metadata"]["Consumed"].as_str();
        match (redrives, last.contains(id)) {
            (false, false) => problems.push(format!("{id}: no dead letters")),
            (true, true) => problems.push(format!("{id}: dead letters that die again")),
            (false, true) if consumed.contains(id) && why.is_none() => {
                problems.push(format!("{id}: consumed, and nobody says why"));
            }
            _ => {}
        }
        let kept = queue
            .at("MessageRetentionPeriod")
            .as_u64()
            .unwrap_or(345_600);
        if last.contains(id) && kept < 1_209_600 {
            problems.push(format!("{id}: dead letters are gone before anybody looked"));
        }
    }
    problems
}

pub fn partial_failures(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for (function, queue, settings) in template.consumers() {
        let types = texts(&settings["FunctionResponseTypes"]);
        if !types.contains(&"ReportBatchItemFailures") {
            problems.push(format!("{}: one failure of {queue} fails all", function.id));
        }
        if settings["ScalingConfig"]["MaximumConcurrency"].is_null() {
            problems.push(format!(
                "{}: {queue} may take every environment",
                function.id
            ));
        }
    }
    problems
}

pub fn visibility_timeouts(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for (function, queue, _) in template.consumers() {
        let timeout = template.timeout(function);
        let hidden = template.resource(&queue).at("VisibilityTimeout").as_u64();
        if hidden.unwrap_or(30) < 6 * timeout {
            let id = function.id;
            problems.push(format!(
                "{queue}: hidden for {hidden:?} s, and {id} takes {timeout}"
            ));
        }
    }
    problems
}
