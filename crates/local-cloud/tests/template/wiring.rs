//! No message is lost, and none comes back while somebody is still at it.

use std::collections::BTreeSet;

use crate::access::statements;
use crate::reading::{Resource, Template, each, points_to, texts};

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

/// Lambda drops the message of a chain that went through a function some sixteen times, unless the
/// function is said to wake itself. One that does not is better stopped.
pub fn recursive_loops(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for function in template.functions() {
        let id = function.id;
        let allowed = function.at("RecursiveLoop").as_str() == Some("Allow");
        match (wakes_itself(template, function), allowed) {
            (true, false) => problems.push(format!("{id}: Lambda cuts its chains of messages")),
            (false, true) => problems.push(format!("{id}: a loop that nobody meant goes on")),
            _ => {}
        }
    }
    problems
}

/// Whether what a function sends can come back to it, by way of others or not.
fn wakes_itself(template: &Template, function: Resource<'_>) -> bool {
    let consumers = template.consumers();
    let (mut reached, mut senders) = (BTreeSet::new(), vec![function]);
    while let Some(sender) = senders.pop() {
        for queue in sends_to(template, sender) {
            let woken = consumers.iter().filter(|consumer| consumer.1 == queue);
            let woken: Vec<_> = woken.map(|consumer| consumer.0).collect();
            if reached.insert(queue) {
                senders.extend(woken);
            }
        }
    }
    let mut own = consumers.iter().filter(|c| c.0.id == function.id);
    own.any(|consumer| reached.contains(&consumer.1))
}

/// The queues that the role of a function allows it to send to, and those that rules fill with
/// what it announces.
fn sends_to(template: &Template, function: Resource<'_>) -> Vec<String> {
    let Some(role) = points_to(function.at("Role")) else {
        return Vec::new();
    };
    let mut queues = Vec::new();
    for statement in statements(&template.resource(&role)) {
        let actions = texts(&statement["Action"]);
        let named = each(&statement["Resource"]).iter().filter_map(points_to);
        if actions.contains(&"sqs:SendMessage") {
            queues.extend(named);
        } else if actions.contains(&"events:PutEvents") {
            queues.extend(named.flat_map(|bus| fed_by(template, &bus)));
        }
    }
    queues
}

fn fed_by(template: &Template, bus: &str) -> Vec<String> {
    let mut queues = Vec::new();
    for rule in template.of_type("AWS::Events::Rule") {
        if points_to(rule.at("EventBusName")).as_deref() == Some(bus) {
            let targets = each(rule.at("Targets")).iter();
            queues.extend(targets.filter_map(|target| points_to(&target["Arn"])));
        }
    }
    queues
}
