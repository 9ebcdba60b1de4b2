//! Who may do what, and what nobody may read.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::reading::{Resource, Template, at, each, points_to, texts};

/// What functions do to the table. Nobody scans it, nobody changes it.
const TABLE_ACTIONS: [&str; 8] = [
    "dynamodb:BatchGetItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
];

/// The one kind of item of which many share a partition key; all others have a key each.
const LISTED: &str = "SAL#*";

/// A reason is a sentence.
const REASON_LEN: usize = 20;

/// Every statement of every policy of a resource.
pub fn statements<'a>(resource: &Resource<'a>) -> Vec<&'a Value> {
    fn find<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
        if value.get("Effect").is_some() {
            found.push(value);
        }
        match value {
            Value::Array(items) => items.iter().for_each(|v| find(v, found)),
            Value::Object(map) => map.values().for_each(|v| find(v, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    find(&resource.whole["Properties"], &mut found);
    found
}

/// Whatever has a star in it needs a sentence under `Metadata: Wildcards:` of its resource.
pub fn wildcards(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for resource in template.resources() {
        let id = resource.id;
        for grant in ["Policies", "ManagedPolicyArns"] {
            let by_sam = resource.whole["Type"] == "AWS::Serverless::Function";
            if (by_sam || grant == "ManagedPolicyArns") && !resource.at(grant).is_null() {
                problems.push(format!("{id}: {grant} grants what nobody reads here"));
            }
        }
        let mut met = BTreeSet::new();
        if is_public(&resource) {
            met.insert("*");
        }
        for statement in statements(&resource) {
            for turned in ["NotAction", "NotResource", "NotPrincipal"] {
                if statement.get(turned).is_some() {
                    problems.push(format!("{id}: {turned} allows whatever it does not name"));
                }
            }
            for part in ["Action", "Resource", "Principal"] {
                met.extend(
                    texts(&statement[part])
                        .into_iter()
                        .filter(|t| t.contains('*')),
                );
            }
        }
        let reasons = &resource.whole["Metadata"]["Wildcards"];
        for wildcard in &met {
            if reasons[wildcard].as_str().unwrap_or_default().len() < REASON_LEN {
                problems.push(format!("{id}: nobody says why {wildcard}"));
            }
        }
        let given = reasons.as_object().into_iter().flat_map(|r| r.keys());
        for reason in given.filter(|r| !met.contains(r.as_str())) {
            problems.push(format!("{id}: a reason for {reason}, which is not there"));
        }
    }
    problems
}

/// SAM lets everybody call such an address, by permissions that the file does not show.
fn is_public(resource: &Resource<'_>) -> bool {
    let address = resource.at("FunctionUrlConfig");
    !address.is_null() && address["AuthType"] != "AWS_IAM"
}

/// Items are reached by kinds of keys, lists by one index, and whose list it is.
pub fn leading_keys(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for role in template.of_type("AWS::IAM::Role") {
        let id = role.id;
        for statement in statements(&role) {
            let actions = texts(&statement["Action"]);
            if !actions.iter().any(|a| a.starts_with("dynamodb:")) {
                continue;
            }
            for action in actions.iter().filter(|a| !TABLE_ACTIONS.contains(a)) {
                problems.push(format!("{id}: {action} is nothing that a function does"));
            }
            let keys = &statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
            let keys = texts(keys);
            if keys.is_empty() || keys.iter().any(|k| k.starts_with('*')) {
                problems.push(format!("{id}: {actions:?} on any key"));
            }
            for on in each(&statement["Resource"]) {
                let table = points_to(on).as_deref() == Some("Table");
                let index = on["Fn::Sub"].as_str().is_some_and(is_one_index);
                if !table && !index {
                    problems.push(format!("{id}: {on} is neither the table nor one index"));
                }
                if table && actions.contains(&"dynamodb:Query") {
                    let single = keys.iter().filter(|key| **key != LISTED);
                    problems.extend(single.map(|key| format!("{id}: nobody walks {key}")));
                }
                if index && actions != ["dynamodb:Query"] {
                    problems.push(format!("{id}: an index can only be asked, not {actions:?}"));
                }
            }
        }
    }
    problems
}

fn is_one_index(resource: &str) -> bool {
    let index = resource.strip_prefix("${Table.Arn}/index/gsi");
    index.is_some_and(|number| number.len() == 1 && number != "*")
}

/// A setting that is a secret by its name comes from Secrets Manager, or is empty.
pub fn secrets(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, parameter) in template.0["Parameters"].as_object().unwrap() {
        // Stripe's publishable key is sent to every browser.
        let public = name.ends_with("PublicKeys") || name.ends_with("PublishableKey");
        let secret = ["Secret", "Keys", "Key", "Password", "Token"];
        let named = secret.iter().any(|end| name.ends_with(end));
        if (named && !public) || parameter.get("NoEcho").is_some() {
            problems.push(format!("{name}: a parameter is no place for a secret"));
        }
    }
    let own = template.functions();
    let own = own.iter().map(|function| (function.id, function.whole));
    // What every function gets.
    let globals = ("Globals", &template.0["Globals"]["Function"]);
    for (id, function) in own.chain([globals]) {
        let properties = function.get("Properties").unwrap_or(function);
        let variables = at(properties, "Environment.Variables").as_object();
        for (name, value) in variables
            .into_iter()
            .flatten()
            .filter(|(n, _)| is_secret(n))
        {
            let (condition, leaves) = match value["Fn::If"].as_array() {
                Some(parts) => (true, parts[1..].to_vec()),
                None => (false, vec![value.clone()]),
            };
            let resolved = |leaf: &Value| {
                let text = leaf["Fn::Sub"].as_str().or(leaf.as_str());
                text.is_some_and(|t| {
                    t.starts_with("{{resolve:secretsmanager:${") || (condition && t.is_empty())
                })
            };
            if !leaves.iter().all(resolved) {
                problems.push(format!("{id}: {name} is not in Secrets Manager"));
            }
        }
    }
    for text in texts(&template.0).into_iter().filter(|t| looks_secret(t)) {
        let start: String = text.chars().take(12).collect();
        problems.push(format!("{start}… looks like a secret"));
    }
    let outputs = texts(&template.0["Outputs"]);
    if outputs.iter().any(|t| t.contains("{{resolve:")) {
        problems.push("Outputs: a secret would be there for all to read".to_owned());
    }
    problems
}

fn is_secret(variable: &str) -> bool {
    let ends = [
        "_SECRET",
        "_SECRETS",
        "_KEY",
        "_KEYS",
        "_PASSWORD",
        "_TOKEN",
        "_HEADERS",
    ];
    let public = variable.contains("PUBLIC") || variable.ends_with("_PUBLISHABLE_KEY");
    ends.iter().any(|end| variable.ends_with(end)) && !public
}

/// Beginnings of known kinds of secrets, and long runs of letters and digits.
fn looks_secret(text: &str) -> bool {
    let known = [
        "sk_live_",
        "sk_test_",
        "rk_live_",
        "whsec_",
        "AKIA",
        "-----BEGIN",
    ];
    let run = |part: &str| {
        part.len() >= 32
            && part.bytes().any(|b| b.is_ascii_digit())
            && part.bytes().any(|b| b.is_ascii_alphabetic())
    };
    known.iter().any(|k| text.contains(k))
        || text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .any(run)
}

/// Two functions with one role would each have the rights of the other.
pub fn own_role_and_logs(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut roles, mut groups) = (BTreeSet::new(), BTreeSet::new());
    for function in template.functions() {
        let id = function.id;
        let Some(role) = points_to(function.at("Role")) else {
            problems.push(format!("{id}: no role of its own"));
            continue;
        };
        let Some(group) = points_to(function.at("LoggingConfig.LogGroup")) else {
            problems.push(format!("{id}: no log group of its own"));
            continue;
        };
        if template.resource(&group).at("RetentionInDays").is_null() {
            problems.push(format!("{group}: logs are kept for ever"));
        }
        for statement in statements(&template.resource(&role)) {
            let logs = texts(&statement["Action"])
                .iter()
                .any(|a| a.starts_with("logs:"));
            if logs && points_to(&statement["Resource"]).as_ref() != Some(&group) {
                problems.push(format!("{id}: writes the logs of others"));
            }
        }
        if !roles.insert(role.clone()) {
            problems.push(format!("{id}: shares {role}"));
        }
        if !groups.insert(group.clone()) {
            problems.push(format!("{id}: shares {group}"));
        }
    }
    problems
}
