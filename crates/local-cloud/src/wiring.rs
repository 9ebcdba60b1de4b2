//! What the SAM template says about table, queues, consumers, rules and schedules.
//! The embedded platform is wired by the file that deploys the cloud, so the two cannot drift.

mod table;
mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_norway::Value;

use crate::bus::{Field, Matcher, Rule};
use crate::queues::{QueueSettings, Redrive};
pub use table::{TableIndex, TableWiring};
use template::Place;

#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    #[error("the template is not YAML: {0}")]
    Yaml(#[from] serde_norway::Error),
    #[error("{resource}: {problem}")]
    Resource { resource: String, problem: String },
}

/// A function that is invoked with batches of one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// The function's folder, such as `expire-holds`.
    pub function: String,
    pub queue: String,
    pub batch_size: u32,
    /// The template's MaximumConcurrency, when it sets one.
    pub concurrency: Option<u32>,
    /// Whether the function names the messages that failed; without it, one failure fails all.
    pub reports_item_failures: bool,
    /// Lambda gives up on an invocation after this time.
    pub timeout: Duration,
}

/// A function that is invoked every so often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub function: String,
    pub every: Duration,
    /// What the function is given; an empty object when the template says nothing.
    pub input: Option<serde_json::Value>,
    /// Lambda gives up on an invocation after this time.
    pub timeout: Duration,
}

/// Everything the local cloud and its runner need to know from the template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wiring {
    pub table: Option<TableWiring>,
    /// By logical id.
    pub queues: BTreeMap<String, QueueSettings>,
    /// The logical ids of the buckets, which are their names in the local cloud.
    pub buckets: BTreeSet<String>,
    /// The folder of every function, by logical id.
    pub functions: BTreeMap<String, String>,
    pub consumers: Vec<Consumer>,
    pub rules: Vec<Rule>,
    pub schedules: Vec<Schedule>,
}

impl Wiring {
    pub fn parse(template: &str) -> Result<Self, WiringError> {
        let template: Value = serde_norway::from_str(template)?;
        let top = Place::top(&template);
        let mut wiring = Self::default();
        for (name, resource) in top.resources()? {
            match resource.need_text("Type")?.as_str() {
                "AWS::DynamoDB::Table" => wiring.add_table(&resource)?,
                "AWS::SQS::Queue" => {
                    wiring.queues.insert(name.to_owned(), queue(&resource)?);
                }
                "AWS::S3::Bucket" => {
                    wiring.buckets.insert(name.to_owned());
                }
                "AWS::Serverless::Function" => wiring.add_function(&top, &resource)?,
                "AWS::Events::Rule" => wiring.rules.push(rule(&resource)?),
                _ => {}
            }
        }
        wiring.check_pointers()?;
        Ok(wiring)
    }

    /// The name of the table, as the functions get it in their environment.
    pub fn table_name(&self) -> Option<&str> {
        self.table.as_ref().map(|table| table.name.as_str())
    }

    fn add_table(&mut self, resource: &Place<'_>) -> Result<(), WiringError> {
        if let Some(first) = &self.table {
            return Err(resource.problem(format!(
                "is a second table beside {}; everything lives in one",
                first.name
            )));
        }
        self.table = Some(TableWiring::read(resource)?);
        Ok(())
    }

    fn add_function(&mut self, top: &Place<'_>, resource: &Place<'_>) -> Result<(), WiringError> {
        let properties = resource.need("Properties")?;
        let function = function_name(&properties)?;
        self.functions
            .insert(resource.resource().to_owned(), function.clone());
        let Some(events) = properties.get("Events") else {
            return Ok(());
        };
        let timeout_s = match properties.get("Timeout") {
            Some(timeout) => timeout.number()?,
            // Three seconds is what Lambda allows when nobody says otherwise.
            None => top.number_or("Globals.Function.Timeout", 3)?,
        };
        let timeout = Duration::from_secs(timeout_s.into());
        for (name, event) in events.entries()? {
            match event.need_text("Type")?.as_str() {
                "SQS" => {
                    let settings = event.need("Properties")?;
                    let consumer = consumer(&function, timeout, &settings)?;
                    self.consumers.push(consumer);
                }
                kind @ ("Schedule" | "ScheduleV2") => {
                    let schedule = schedule(&function, timeout, &event, kind)?;
                    self.schedules.push(schedule);
                }
                "EventBridgeRule" | "CloudWatchEvent" => {
                    return Err(event.problem(format!(
                        "the event {name} invokes the function directly; put an AWS::Events::Rule and a queue between"
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A pointer to a queue that is not there would only show when the first message is lost.
    fn check_pointers(&self) -> Result<(), WiringError> {
        let redrives = self.queues.values().filter_map(|queue| {
            let redrive = queue.redrive.as_ref()?;
            Some((&queue.name, &redrive.dead_letter_queue))
        });
        let consumers = self.consumers.iter().map(|c| (&c.function, &c.queue));
        let rules = self.rules.iter();
        let targets = rules.flat_map(|r| r.target_queues.iter().map(move |q| (&r.name, q)));
        for (resource, queue) in redrives.chain(consumers).chain(targets) {
            if !self.queues.contains_key(queue) {
                return Err(WiringError::Resource {
                    resource: resource.clone(),
                    problem: format!("points to {queue}, which is no queue of this template"),
                });
            }
        }
        Ok(())
    }
}

/// A function is called by its folder: `CodeUri: target/lambda/expire-holds/` is `expire-holds`.
fn function_name(properties: &Place<'_>) -> Result<String, WiringError> {
    let code = properties.need_text("CodeUri")?;
    let folder = code.trim_end_matches('/').rsplit('/').next();
    match folder {
        Some(folder) if !folder.is_empty() && folder != "." => Ok(folder.to_owned()),
        _ => Err(properties.problem(format!("CodeUri {code:?} names no folder"))),
    }
}

fn queue(resource: &Place<'_>) -> Result<QueueSettings, WiringError> {
    let mut settings = QueueSettings::new(resource.resource());
    let Some(properties) = resource.get("Properties") else {
        return Ok(settings);
    };
    settings.visibility_s = properties.number_or("VisibilityTimeout", settings.visibility_s)?;
    settings.delay_s = properties.number_or("DelaySeconds", settings.delay_s)?;
    settings.retention_s = properties.number_or("MessageRetentionPeriod", settings.retention_s)?;
    if let Some(policy) = properties.get("RedrivePolicy") {
        let dead_letters = policy.need("deadLetterTargetArn")?;
        settings.redrive = Some(Redrive {
            dead_letter_queue: dead_letters.need_pointer()?.to_owned(),
            max_receives: policy.need("maxReceiveCount")?.number()?,
        });
    }
    Ok(settings)
}

fn consumer(
    function: &str,
    timeout: Duration,
    settings: &Place<'_>,
) -> Result<Consumer, WiringError> {
    let mut reports_item_failures = false;
    if let Some(types) = settings.get("FunctionResponseTypes") {
        for kind in types.items()? {
            reports_item_failures |= kind.text()? == "ReportBatchItemFailures";
        }
    }
    let concurrency = settings.get("ScalingConfig.MaximumConcurrency");
    Ok(Consumer {
        function: function.to_owned(),
        queue: settings.need("Queue")?.need_pointer()?.to_owned(),
        batch_size: settings.number_or("BatchSize", 10)?,
        concurrency: concurrency.map(|place| place.number()).transpose()?,
        reports_item_failures,
        timeout,
    })
}

fn schedule(
    function: &str,
    timeout: Duration,
    event: &Place<'_>,
    kind: &str,
) -> Result<Schedule, WiringError> {
    let settings = event.need("Properties")?;
    let expression = settings.need_text(match kind {
        "ScheduleV2" => "ScheduleExpression",
        _ => "Schedule",
    })?;
    let every = rate(&expression).ok_or_else(|| {
        event.problem(format!("{expression:?} is not of the form rate(5 minutes)"))
    })?;
    let input = settings.get("Input").map(|input| {
        serde_json::from_str(&input.text()?)
            .map_err(|error| input.problem(format!("the Input of a schedule is not JSON: {error}")))
    });
    Ok(Schedule {
        function: function.to_owned(),
        every,
        input: input.transpose()?,
        timeout,
    })
}

fn rule(resource: &Place<'_>) -> Result<Rule, WiringError> {
    let properties = resource.need("Properties")?;
    let pattern = properties.need("EventPattern")?;
    for (key, _) in pattern.entries()? {
        if !["source", "detail-type", "detail"].contains(&key) {
            return Err(pattern.problem(format!(
                "the pattern uses {key}; the local bus knows source, detail-type and detail"
            )));
        }
    }
    let bus = match properties.get("EventBusName") {
        Some(bus) => bus
            .points_to()
            .map_or_else(|| bus.text(), |id| Ok(id.to_owned()))?,
        None => "default".to_owned(),
    };
    let targets = properties.need("Targets")?.items()?;
    let targets = targets
        .iter()
        .map(|target| Ok(target.need("Arn")?.need_pointer()?.to_owned()));
    Ok(Rule {
        name: resource.resource().to_owned(),
        bus,
        sources: matchers(&pattern, "source")?,
        detail_types: matchers(&pattern, "detail-type")?,
        detail: match pattern.get("detail") {
            Some(detail) => fields(&detail, &[])?,
            None => Vec::new(),
        },
        target_queues: targets.collect::<Result<_, WiringError>>()?,
    })
}

fn matchers(pattern: &Place<'_>, key: &str) -> Result<Vec<Matcher>, WiringError> {
    pattern
        .get(key)
        .map_or_else(|| Ok(Vec::new()), |list| listed(&list))
}

/// A resource that a pattern names has its logical id as its name here.
fn listed(list: &Place<'_>) -> Result<Vec<Matcher>, WiringError> {
    let matcher = |item: &Place<'_>| match (item.get("prefix"), item.points_to()) {
        (Some(prefix), _) => Ok(Matcher::Prefix(prefix.text()?)),
        (None, Some(id)) => Ok(Matcher::Exactly(id.to_owned())),
        (None, None) => Ok(Matcher::Exactly(item.text()?)),
    };
    list.items()?.iter().map(matcher).collect()
}

/// The fields of a pattern with what each may be, however deep.
fn fields(pattern: &Place<'_>, above: &[String]) -> Result<Vec<Field>, WiringError> {
    let mut found = Vec::new();
    for (key, place) in pattern.entries()? {
        let path: Vec<_> = above.iter().cloned().chain([key.to_owned()]).collect();
        match place.items() {
            Ok(_) => found.push((path, listed(&place)?)),
            Err(_) => found.extend(fields(&place, &path)?),
        }
    }
    Ok(found)
}

/// `rate(5 minutes)` as a duration.
fn rate(expression: &str) -> Option<Duration> {
    let inner = expression.strip_prefix("rate(")?.strip_suffix(')')?;
    let (count, unit) = inner.trim().split_once(' ')?;
    let unit_s = match unit.trim() {
        "minute" | "minutes" => 60,
        "hour" | "hours" => 60 * 60,
        "day" | "days" => 24 * 60 * 60,
        _ => return None,
    };
    let count: u64 = count.parse().ok().filter(|count| *count > 0)?;
    Some(Duration::from_secs(count.checked_mul(unit_s)?))
}
