//! One way or several to break each rule, and what has to be said then.

mod settings;
mod wiring;

use serde_json::json;

use crate::reading::Template;

pub struct Breach {
    pub rule: &'static str,
    pub says: &'static str,
    pub change: fn(&mut Template),
}

const ACCOUNTS_KEYS: &str = "Properties.Policies.0.PolicyDocument.Statement.1";

pub fn all() -> impl Iterator<Item = Breach> {
    let breach = |(rule, says, change)| Breach { rule, says, change };
    let others = wiring::BREACHES.iter().chain(settings::BREACHES);
    BREACHES.iter().chain(others).copied().map(breach)
}

type Change = fn(&mut Template);

const BREACHES: &[(&str, &str, Change)] = &[
    (
        "no wildcard without a written reason",
        "nobody says why dynamodb:*",
        |t| {
            let action = format!("{ACCOUNTS_KEYS}.Action");
            t.set("AccountsRole", &action, json!("dynamodb:*"));
        },
    ),
    (
        "no wildcard without a written reason",
        "nobody says why *",
        |t| {
            let resource = format!("{ACCOUNTS_KEYS}.Resource");
            t.set("AccountsRole", &resource, json!("*"));
        },
    ),
    (
        "no wildcard without a written reason",
        "nobody says why s3:*",
        |t| t.set("BucketPolicy", "Metadata.Wildcards.s3:*", json!("")),
    ),
    (
        "no wildcard without a written reason",
        "NotAction allows",
        |t| {
            let statement = t.place("AccountsRole", ACCOUNTS_KEYS);
            statement["NotAction"] = json!("iam:PassRole");
        },
    ),
    (
        "no wildcard without a written reason",
        "ManagedPolicyArns grants",
        |t| {
            let arn = json!(["arn:aws:iam::aws:policy/AdministratorAccess"]);
            t.set("AccountsRole", "Properties.ManagedPolicyArns", arn);
        },
    ),
    (
        "no wildcard without a written reason",
        "which is not there",
        |t| {
            t.set(
                "TicketsRole",
                "Metadata.Wildcards.sqs:*",
                json!("Nothing of the kind is allowed."),
            );
        },
    ),
    (
        "no wildcard without a written reason",
        "HoldsFunction: nobody says why *",
        |t| t.remove("HoldsFunction", "Metadata.Wildcards"),
    ),
    (
        "no wildcard without a written reason",
        "ReconcileFunction: nobody says why *",
        |t| {
            let public = json!({ "AuthType": "NONE" });
            t.set("ReconcileFunction", "Properties.FunctionUrlConfig", public);
        },
    ),
    (
        "no wildcard without a written reason",
        "RoomFunction: a reason for *, which is not there",
        |t| {
            let private = json!("AWS_IAM");
            let path = "Properties.FunctionUrlConfig.AuthType";
            t.set("RoomFunction", path, private);
        },
    ),
    (
        "tables are reached by key or index only",
        "on any key",
        |t| t.remove("AccountsRole", &format!("{ACCOUNTS_KEYS}.Condition")),
    ),
    (
        "tables are reached by key or index only",
        "dynamodb:Scan is nothing",
        |t| {
            let action = format!("{ACCOUNTS_KEYS}.Action.0");
            t.set("AccountsRole", &action, json!("dynamodb:Scan"));
        },
    ),
    (
        "tables are reached by key or index only",
        "neither the table nor one index",
        |t| {
            let resource = format!("{ACCOUNTS_KEYS}.Resource");
            let every = json!({ "Fn::Sub": "${Table.Arn}/index/*" });
            t.set("AccountsRole", &resource, every);
        },
    ),
    (
        "tables are reached by key or index only",
        "WriteExportsRole: nobody walks ACC#*",
        |t| {
            let action = "Properties.Policies.0.PolicyDocument.Statement.1.Action";
            let both = json!(["dynamodb:GetItem", "dynamodb:Query"]);
            t.set("WriteExportsRole", action, both);
        },
    ),
    (
        "a role writes only what its function writes",
        "TicketsRole: dynamodb:UpdateItem on ACC",
        |t| {
            let action = "Properties.Policies.0.PolicyDocument.Statement.1.Action";
            let both = json!(["dynamodb:GetItem", "dynamodb:UpdateItem"]);
            t.set("TicketsRole", action, both);
        },
    ),
    (
        "a role writes only what its function writes",
        "ExpireHoldsRole: lacks dynamodb:UpdateItem on BUY",
        |t| {
            let keys = "Properties.Policies.0.PolicyDocument.Statement.2.Condition.ForAllValues:StringLike.dynamodb:LeadingKeys";
            t.set("ExpireHoldsRole", keys, json!(["BLK#*"]));
        },
    ),
    (
        "a role writes only what its function writes",
        "NewRole: nobody says what it writes",
        |t| {
            let role = t.0["Resources"]["HoldsRole"].clone();
            t.0["Resources"]["NewRole"] = role;
        },
    ),
    (
        "no secret in plain text",
        "Globals: OTEL_EXPORTER_OTLP_HEADERS is not",
        |t| {
            let variables = &mut t.0["Globals"]["Function"]["Environment"]["Variables"];
            variables["OTEL_EXPORTER_OTLP_HEADERS"] = json!("authorization=Bearer x");
        },
    ),
    (
        "no secret in plain text",
        "Globals: API_TOKEN is not",
        |t| {
            let variables = &mut t.0["Globals"]["Function"]["Environment"]["Variables"];
            variables["API_TOKEN"] = json!({ "Ref": "TraceEndpoint" });
        },
    ),
    ("no secret in plain text", "WORK_KEYS is not", |t| {
        let value = json!({ "Ref": "WorkSecretName" });
        t.set(
            "HoldsFunction",
            "Properties.Environment.Variables.WORK_KEYS",
            value,
        );
    }),
    (
        "no secret in plain text",
        "SESSION_SIGNING_KEY is not",
        |t| {
            let variable = "Properties.Environment.Variables.SESSION_SIGNING_KEY";
            t.set("AccountsFunction", variable, json!(""));
        },
    ),
    (
        "no secret in plain text",
        "CaptchaSecret: a parameter",
        |t| t.0["Parameters"]["CaptchaSecret"] = json!({ "Type": "String" }),
    ),
    ("no secret in plain text", "looks like a secret", |t| {
        t.0["Parameters"]["StripeApiUrl"]["Default"] = json!("whsec_1");
    }),
    ("no secret in plain text", "looks like a secret", |t| {
        let seed = json!("local:9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        t.0["Parameters"]["PassPublicKeys"]["Default"] = seed;
    }),
    ("no secret in plain text", "for all to read", |t| {
        let value = json!("{{resolve:secretsmanager:onsale/session}}");
        t.0["Outputs"]["TableName"]["Value"] = value;
    }),
    (
        "every function has a role and logs of its own",
        "shares HoldsRole",
        |t| {
            let role = json!({ "Fn::GetAtt": "HoldsRole.Arn" });
            t.set("RoomFunction", "Properties.Role", role);
        },
    ),
    (
        "every function has a role and logs of its own",
        "HoldsFunction: no role",
        |t| t.remove("HoldsFunction", "Properties.Role"),
    ),
    (
        "every function has a role and logs of its own",
        "HoldsFunction: no log group",
        |t| t.remove("HoldsFunction", "Properties.LoggingConfig"),
    ),
    (
        "every function has a role and logs of its own",
        "HoldsLogs: logs are kept for ever",
        |t| t.remove("HoldsLogs", "Properties.RetentionInDays"),
    ),
    (
        "every function has a role and logs of its own",
        "writes the logs of others",
        |t| {
            let group = json!({ "Fn::GetAtt": "HoldsLogs.Arn" });
            let resource = "Properties.Policies.0.PolicyDocument.Statement.0.Resource";
            t.set("AccountsRole", resource, group);
        },
    ),
    (
        "every alarm has an action",
        "OrphanPaymentsAlarm: nobody is told",
        |t| t.set("OrphanPaymentsAlarm", "Properties.AlarmActions", json!([])),
    ),
    (
        "every alarm has an action",
        "StuckSagasAlarm: nobody is told",
        |t| {
            let elsewhere = json!([{ "Ref": "SagaQueue" }]);
            t.set("StuckSagasAlarm", "Properties.AlarmActions", elsewhere);
        },
    ),
    (
        "every alarm has an action",
        "HoldsErrorsAlarm: nobody is told",
        |t| {
            t.set(
                "HoldsErrorsAlarm",
                "Properties.ActionsEnabled",
                json!(false),
            )
        },
    ),
    (
        "every alarm has an action",
        "AlarmTopic: not encrypted",
        |t| {
            t.remove("AlarmTopic", "Properties.KmsMasterKeyId");
        },
    ),
    (
        "every alarm has an action",
        "ExportsDeadLetters: no alarm",
        |t| {
            let resources = t.0["Resources"].as_object_mut().unwrap();
            resources.remove("ExportsDeadLettersAlarm");
        },
    ),
    ("the dashboard can be drawn", "not JSON", |t| {
        let body = t.place("Dashboard", "Properties.DashboardBody.Fn::Sub");
        *body = json!(body.as_str().unwrap().replacen("}},", "},", 1));
    }),
    ("the dashboard can be drawn", "there is no SagaQueu", |t| {
        let body = t.place("Dashboard", "Properties.DashboardBody.Fn::Sub");
        *body = json!(body.as_str().unwrap().replace("{SagaQueue.", "{SagaQueu."));
    }),
    (
        "the dashboard can be drawn",
        "does not show NewAlarm",
        |t| {
            let alarm = t.0["Resources"]["StuckSagasAlarm"].clone();
            t.0["Resources"]["NewAlarm"] = alarm;
        },
    ),
    (
        "alarms and dashboard read what the code writes",
        "StuckSagasAlarm: nobody writes onsale_sagas_stuck",
        |t| {
            let name = "Properties.MetricName";
            t.set("StuckSagasAlarm", name, json!("onsale_sagas_stuck"));
        },
    ),
    (
        "alarms and dashboard read what the code writes",
        "OrphanPaymentsAlarm: onsale_orphan_payments has no dimensions",
        |t| {
            let function = json!([{ "Name": "FunctionName", "Value": "reconcile" }]);
            t.set("OrphanPaymentsAlarm", "Properties.Dimensions", function);
        },
    ),
    (
        "alarms and dashboard read what the code writes",
        "Dashboard: nobody writes onsale_queue_length",
        |t| {
            let body = t.place("Dashboard", "Properties.DashboardBody.Fn::Sub");
            let renamed = body.as_str().unwrap();
            *body = json!(renamed.replace("onsale_queue_size", "onsale_queue_length"));
        },
    ),
    (
        "alarms and dashboard read what the code writes",
        "Dashboard: onsale_bookings_total has no dimensions",
        |t| {
            let body = t.place("Dashboard", "Properties.DashboardBody.Fn::Sub");
            let other = body.as_str().unwrap();
            *body = json!(other.replace("Stack,status}", "Stack,result}"));
        },
    ),
    ("data outlives mistakes", "PointInTimeRecovery", |t| {
        t.remove("Table", "Properties.PointInTimeRecoverySpecification");
    }),
    ("data outlives mistakes", "DeletionProtectionEnabled", |t| {
        t.set(
            "Table",
            "Properties.DeletionProtectionEnabled",
            json!(false),
        );
    }),
    (
        "data outlives mistakes",
        "Table: DeletionPolicy is not Retain",
        |t| t.set("Table", "DeletionPolicy", json!("Delete")),
    ),
    ("data outlives mistakes", "SagaQueue: not encrypted", |t| {
        t.remove("SagaQueue", "Properties.SqsManagedSseEnabled");
    }),
    (
        "the runbook knows every alarm",
        "NewAlarm: docs/OPERATIONS.md has no heading",
        |t| {
            let alarm = t.0["Resources"]["StuckSagasAlarm"].clone();
            t.0["Resources"]["NewAlarm"] = alarm;
        },
    ),
    (
        "the runbook knows every alarm",
        "StuckSagasAlarm: docs/OPERATIONS.md has a heading",
        |t| {
            let resources = t.0["Resources"].as_object_mut().unwrap();
            resources.remove("StuckSagasAlarm");
        },
    ),
];
