//! What template.yaml promises whoever deploys it: rules over the file as it is, and for each rule a
//! change to the file that breaks it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod access;
mod breaches;
mod metrics;
mod operations;
mod reading;
mod settings;
mod wiring;
mod writes;

use reading::{Template, template};

/// A rule finds what is wrong, each in a sentence that names the resource.
type Rule = fn(&Template) -> Vec<String>;

const RULES: &[(&str, Rule)] = &[
    ("no wildcard without a written reason", access::wildcards),
    (
        "tables are reached by key or index only",
        access::leading_keys,
    ),
    (
        "a role writes only what its function writes",
        writes::only_what_is_written,
    ),
    ("no secret in plain text", access::secrets),
    (
        "every function has a role and logs of its own",
        access::own_role_and_logs,
    ),
    ("every queue has dead letters", wiring::dead_letters),
    (
        "every consumer reports partial failures",
        wiring::partial_failures,
    ),
    (
        "messages stay hidden for six timeouts",
        wiring::visibility_timeouts,
    ),
    (
        "a function that wakes itself is allowed to",
        wiring::recursive_loops,
    ),
    ("limits are those of the code", settings::limits),
    ("a CAPTCHA counts on one site", settings::captchas),
    (
        "warm throughput is what a new table has, or more",
        settings::warm_throughput,
    ),
    ("every alarm has an action", operations::alarms),
    ("the dashboard can be drawn", operations::dashboard),
    (
        "alarms and dashboard read what the code writes",
        metrics::alarms_and_dashboard,
    ),
    ("data outlives mistakes", operations::data),
    ("the runbook knows every alarm", operations::runbook),
];

#[test]
fn the_template_keeps_every_rule() {
    for (name, rule) in RULES {
        let problems = rule(&template());
        assert!(problems.is_empty(), "{name}:\n{}", problems.join("\n"));
    }
}

#[test]
fn every_rule_notices_when_it_is_broken() {
    for (name, rule) in RULES {
        let breaches: Vec<_> = breaches::all().filter(|b| b.rule == *name).collect();
        assert!(!breaches.is_empty(), "{name}: nobody ever broke it");
        for breach in breaches {
            let mut broken = template();
            (breach.change)(&mut broken);
            let problems = rule(&broken);
            assert!(
                problems.iter().any(|p| p.contains(breach.says)),
                "{name}: nobody noticed the breach that says {:?}; found: {problems:?}",
                breach.says
            );
        }
    }
    let known = |rule: &str| RULES.iter().any(|(name, _)| *name == rule);
    assert!(breaches::all().all(|b| known(b.rule)));
}
