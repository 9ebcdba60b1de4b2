//! Alarms, dashboard and runbook name metrics as the code does. CloudWatch accepts any name: an
//! alarm on a metric that nobody writes any more never rings.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::operations::RUNBOOK;
use crate::reading::{Template, each};

const EMF: &str = include_str!("../../../observe/src/emf.rs");
const PROMETHEUS: &str = include_str!("../../../local/src/prometheus.rs");
const NAMESPACE: &str = "Onsale";

/// By name, the sets of labels that the code writes a metric with; `None`: a set that is not
/// spelled out where it is written.
type Emitted = BTreeMap<String, BTreeSet<Option<BTreeSet<String>>>>;

fn emitted() -> &'static Emitted {
    static FOUND: LazyLock<Emitted> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = Emitted::new();
        for folder in ["crates", "functions"] {
            for package in fs::read_dir(root.join(folder)).unwrap() {
                for file in sources(&package.unwrap().path().join("src")) {
                    let text = fs::read_to_string(file).unwrap();
                    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
                    find_metrics(code, &mut found);
                }
            }
        }
        assert!(EMF.contains(&format!("NAMESPACE: &str = \"{NAMESPACE}\"")));
        for (name, _) in named(EMF, "const LEFT_OUT: &str = ") {
            found.entry(name).or_default().insert(Some(BTreeSet::new()));
        }
        found
    });
    &FOUND
}

pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| {
            let path = path.to_string_lossy();
            // Where metrics are explained, some of them are set to zero.
            let explains = path.ends_with("local/src/prometheus.rs");
            path.ends_with(".rs") && !path.ends_with("_tests.rs") && !explains
        })
        .collect()
}

fn find_metrics(code: &str, found: &mut Emitted) {
    for kind in ["counter!(", "gauge!(", "histogram!("] {
        for (name, rest) in named(code, &format!("metrics::{kind}")) {
            let labels = arguments(rest);
            let spelled = !labels.contains('&');
            // The last quoted word before each arrow.
            let arrows = labels.match_indices("=>").map(|(at, _)| &labels[..at]);
            let words = arrows.filter_map(|before| before.rsplit('"').nth(1));
            let labels = words.map(str::to_owned).collect();
            let sets = found.entry(name).or_default();
            sets.insert(spelled.then_some(labels));
        }
    }
}

/// What is left of the arguments of a macro, up to the bracket that closes it.
fn arguments(rest: &str) -> &str {
    let mut depth = 1;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &rest[..at];
        }
    }
    rest
}

/// Every quoted name after a beginning, and what follows it.
fn named<'a>(code: &'a str, beginning: &str) -> Vec<(String, &'a str)> {
    let after = code.split(beginning).skip(1);
    after
        .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split_once('"'))
        .map(|(name, rest)| (name.to_owned(), rest))
        .collect()
}

/// The labels that become dimensions on CloudWatch.
fn dimension_labels() -> BTreeSet<&'static str> {
    let list = EMF.split("const DIMENSIONS").nth(1).unwrap();
    let list = list.split(';').nth(1).unwrap();
    list.split('"').skip(1).step_by(2).collect()
}

/// What is wrong with reading a metric by these dimensions.
fn misread(name: &str, dimensions: &BTreeSet<String>) -> Option<String> {
    let Some(sets) = emitted().get(name) else {
        return Some(format!("nobody writes {name}"));
    };
    let few = dimension_labels();
    let plain = BTreeSet::from(["Stack".to_owned()]);
    let written = sets.iter().flatten().map(|labels| {
        let labels = labels.iter().filter(|l| few.contains(l.as_str())).cloned();
        labels.chain(plain.iter().cloned()).collect()
    });
    let written: BTreeSet<_> = written.chain([plain.clone()]).collect();
    (!written.contains(dimensions))
        .then(|| format!("{name} has no dimensions {dimensions:?}, but {written:?}"))
}

pub fn alarms_and_dashboard(template: &Template) -> Vec<String> {
    let mut problems = Vec::new();
    for alarm in template.of_type("AWS::CloudWatch::Alarm") {
        let several = each(alarm.at("Metrics")).iter();
        let several = several.map(|part| &part["MetricStat"]["Metric"]);
        let metrics = several.chain([&alarm.whole["Properties"]]);
        for metric in metrics.filter(|metric| metric["Namespace"] == NAMESPACE) {
            let name = metric["MetricName"].as_str().unwrap_or_default();
            let dimensions = each(&metric["Dimensions"]).iter();
            let dimensions = dimensions.filter_map(|d| d["Name"].as_str().map(str::to_owned));
            let problem = misread(name, &dimensions.collect());
            problems.extend(problem.map(|p| format!("{}: {p}", alarm.id)));
        }
    }
    for dashboard in template.of_type("AWS::CloudWatch::Dashboard") {
        let body = dashboard
            .at("DashboardBody.Fn::Sub")
            .as_str()
            .unwrap_or_default();
        let names = body.split(|c: char| !c.is_ascii_lowercase() && c != '_');
        let names = names.filter(|word| word.starts_with("onsale_"));
        let unknown = names.filter(|name| !emitted().contains_key(*name));
        problems.extend(unknown.map(|name| format!("{}: nobody writes {name}", dashboard.id)));
        for search in body.split(&format!("SEARCH('{{{NAMESPACE},")).skip(1) {
            let Some((dimensions, rest)) = search.split_once('}') else {
                continue;
            };
            let name = rest.split("MetricName=\\\"").nth(1);
            let name = name.and_then(|name| name.split('\\').next());
            let dimensions = dimensions.split(',').map(str::to_owned).collect();
            let problem = misread(name.unwrap_or_default(), &dimensions);
            problems.extend(problem.map(|p| format!("{}: {p}", dashboard.id)));
        }
    }
    problems
}

/// The rows of the runbook's table: names, and labels.
fn rows() -> Vec<(BTreeSet<String>, BTreeSet<String>)> {
    let quoted = |cell: &str| {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let rows = RUNBOOK
        .lines()
        .filter(|line| line.starts_with("| `onsale_"));
    rows.map(|row| {
        let cells: Vec<_> = row.split('|').collect();
        (quoted(cells[1]), quoted(cells[3]))
    })
    .collect()
}

#[test]
fn the_runbook_lists_every_metric_that_the_code_writes() {
    let listed: BTreeSet<_> = rows().into_iter().flat_map(|(names, _)| names).collect();
    let written: BTreeSet<_> = emitted().keys().cloned().collect();
    assert_eq!(listed, written);
    for (names, listed) in rows() {
        let sets = || names.iter().flat_map(|name| &emitted()[name]);
        if sets().all(Option::is_some) {
            let written: BTreeSet<_> = sets().flatten().flatten().cloned().collect();
            assert_eq!(listed, written, "labels of {names:?}");
        }
    }
}

#[test]
fn prometheus_explains_every_metric_that_the_embedded_platform_writes() {
    let kinds = ["counter", "gauge", "histogram"];
    let explained = kinds.map(|kind| named(PROMETHEUS, &format!("describe_{kind}!(")));
    let explained: BTreeSet<_> = explained.into_iter().flatten().map(|(n, _)| n).collect();
    let mut written: BTreeSet<_> = emitted().keys().cloned().collect();
    written.remove("onsale_metrics_left_out_total");
    assert_eq!(explained, written);
}

#[test]
fn metrics_and_their_labels_are_found_in_code() {
    let mut found = Emitted::new();
    let code = r#"
        metrics::counter!("onsale_a_total", "kind" => kind, "result" => "made").increment(1);
        metrics::gauge!(
            "onsale_b",
            "show" => show.to_string()
        ).set(1.0);
        metrics::histogram!("onsale_c_seconds", &labels).record(1.0);
        metrics::counter!("onsale_d_total").increment(1);
    "#;
    find_metrics(code, &mut found);
    let labels = |name: &str| found[name].first().unwrap().clone().map(Vec::from_iter);
    let words = |words: &[&str]| Some(words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
    assert_eq!(labels("onsale_a_total"), words(&["kind", "result"]));
    assert_eq!(labels("onsale_b"), words(&["show"]));
    assert_eq!(labels("onsale_c_seconds"), None);
    assert_eq!(labels("onsale_d_total"), words(&[]));
    assert_eq!(found.len(), 4);
}
