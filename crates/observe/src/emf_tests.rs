//! What CloudWatch finds in the log.

use super::*;

fn emf() -> Emf {
    Emf::new("prod".to_owned(), "drive-saga".to_owned())
}

/// Counts, then reads what is written.
fn told(emf: &Emf, count: impl FnOnce()) -> Vec<Value> {
    metrics::with_local_recorder(emf, count);
    let mut text = Vec::new();
    emf.flush(1_800_000_000_000, &mut text);
    let text = String::from_utf8(text).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_counter_is_told_for_the_stack_and_by_its_label() {
    let documents = told(&emf(), || {
        metrics::counter!("onsale_bookings_total", "status" => "confirmed").increment(2);
        metrics::counter!("onsale_bookings_total", "status" => "confirmed").increment(1);
    });
    assert_eq!(
        documents,
        [json!({
            "_aws": {
                "Timestamp": 1_800_000_000_000_u64,
                "CloudWatchMetrics": [{
                    "Namespace": "Onsale",
                    "Dimensions": [["Stack"], ["Stack", "status"]],
                    "Metrics": [{ "Name": "onsale_bookings_total", "Unit": "Count" }],
                }],
            },
            "Stack": "prod",
            "function": "drive-saga",
            "status": "confirmed",
            "onsale_bookings_total": 3.0,
        })]
    );
}

#[test]
fn a_show_is_a_property_and_never_a_dimension() {
    let documents = told(&emf(), || {
        for show in 0..20 {
            let label = format!("shw_{show}");
            metrics::gauge!("onsale_seats_available", "show" => label).set(f64::from(show));
        }
        let labels = [
            ("method", "GET"),
            ("route", "/api/v1/shows/{show}"),
            ("status", "200"),
        ];
        metrics::counter!("onsale_http_requests_total", &labels).increment(1);
    });
    assert_eq!(documents.len(), 21);
    for document in &documents {
        let dimensions = &document["_aws"]["CloudWatchMetrics"][0]["Dimensions"];
        match document.get("show") {
            Some(_) => assert_eq!(*dimensions, json!([["Stack"]])),
            None => assert_eq!(*dimensions, json!([["Stack"], ["Stack", "status"]])),
        }
    }
}

#[test]
fn what_the_alarms_watch_has_the_stack_as_its_only_dimension() {
    let documents = told(&emf(), || {
        metrics::counter!("onsale_sagas_stuck_total").increment(1);
        metrics::gauge!("onsale_stuck_orders").set(3.0);
        metrics::gauge!("onsale_stuck_orders").set(2.0);
        metrics::gauge!("onsale_orphan_payments").set(0.0);
        metrics::gauge!("onsale_reconcile_alarms").set(0.0);
    });
    let [document] = documents.as_slice() else {
        panic!("one document was expected: {documents:?}");
    };
    let told = &document["_aws"]["CloudWatchMetrics"][0];
    assert_eq!(told["Dimensions"], json!([["Stack"]]));
    assert_eq!(told["Metrics"].as_array().unwrap().len(), 4);
    assert_eq!(document["onsale_sagas_stuck_total"], 1.0);
    assert_eq!(document["onsale_stuck_orders"], 2.0);
    assert_eq!(document["onsale_orphan_payments"], 0.0);
    assert_eq!(document["onsale_reconcile_alarms"], 0.0);
}

#[test]
fn samples_are_told_in_seconds_a_hundred_at_a_time() {
    let documents = told(&emf(), || {
        let waits = metrics::histogram!("onsale_ticket_wait_seconds");
        (0..250).for_each(|n| waits.record(f64::from(n)));
        waits.record(f64::NAN);
        metrics::histogram!("onsale_hold_duration_seconds").record(0.5);
    });
    let counts: Vec<_> = documents
        .iter()
        .map(|d| d["onsale_ticket_wait_seconds"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [100, 100, 50]);
    assert_eq!(documents[0]["onsale_hold_duration_seconds"], 0.5);
    assert_eq!(documents[1].get("onsale_hold_duration_seconds"), None);
    let metrics = &documents[2]["_aws"]["CloudWatchMetrics"][0]["Metrics"];
    assert_eq!(
        *metrics,
        json!([{ "Name": "onsale_ticket_wait_seconds", "Unit": "Seconds" }])
    );
}

#[test]
fn what_was_told_is_forgotten_but_a_counter_that_is_held_goes_on() {
    let emf = emf();
    let mut held = None;
    let first = told(&emf, || {
        let counter = metrics::counter!("onsale_chargebacks_total");
        counter.increment(1);
        held = Some(counter);
        metrics::counter!("onsale_waitlist_joins_total").increment(1);
    });
    assert_eq!(first[0]["onsale_chargebacks_total"], 1.0);
    assert_eq!(lock(&emf.series).len(), 1);
    assert_eq!(told(&emf, || ()), Vec::<Value>::new());
    let second = told(&emf, || held.unwrap().increment(4));
    assert_eq!(second[0]["onsale_chargebacks_total"], 4.0);
    assert_eq!(lock(&emf.series).len(), 0);
}

#[test]
fn a_flood_of_labels_is_cut_off_and_told() {
    let emf = emf();
    let documents = told(&emf, || {
        for n in 0..MAX_SERIES + 7 {
            metrics::counter!("onsale_holds_total", "result" => n.to_string()).increment(1);
        }
    });
    assert_eq!(documents.len(), MAX_SERIES + 1);
    assert_eq!(documents[0][LEFT_OUT], 7.0);
    let samples = told(&emf, || {
        let waits = metrics::histogram!("onsale_ticket_wait_seconds");
        (0..MAX_SAMPLES + 50).for_each(|_| waits.record(1.0));
    });
    assert_eq!(samples.len(), MAX_SAMPLES / VALUES_A_DOCUMENT);
}
