"""Runs MiniStack, an AWS emulator, as the emulated cloud needs it:  .tools/venv/bin/python scripts/aws-emulator.py PORT

Every function calls with the credentials of its own role, and MiniStack refuses what that role
does not allow; its log then has a line that begins with AccessDenied. Some things are added. It
evaluates policies without `dynamodb:LeadingKeys`, which is how the template keeps functions to
their own items; here each request names the partition keys it touches. A mail is sent in the name
of its sender's domain, and what comes to this machine over HTTP counts as encrypted. It tells how long queues are only to whoever asks, where the alarms on
dead letters need the metric that SQS publishes. An alarm hears only the metric with its own
dimensions, not all of that name. An alarm that calculates with several metrics, which it
refuses, is made and never rings. And a function that gets new code finishes what it does, as it
does on Lambda, where it would be killed.
"""

import json
import os
import re
import sys
import threading
import time
import types

PORT = sys.argv.pop(1)
os.environ.update(
    GATEWAY_PORT=PORT,
    BIND_HOST="127.0.0.1",
    AUTH="true",
    # Where the functions find the services.
    AWS_ENDPOINT_URL=f"http://127.0.0.1:{PORT}",
    LOG_LEVEL=os.environ.get("LOG_LEVEL", "WARNING"),
)

from ministack import app
from ministack.core import iam_actions, iam_evaluator, lambda_runtime
from ministack.core.responses import set_request_account_id, set_request_region
from ministack.services import cloudwatch, sqs
from ministack.services.cloudformation import provisioners

# ------------------------------------------------------------------ policies

# Partition keys of the table and of its indexes, wherever a condition compares one.
KEY_NAME = re.compile(r"(?:gsi\d)?pk")
COMPARED = re.compile(r"([#\w]+)\s*=\s*(:\w+)")


def keys_of_query(request):
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})
    for name, value in COMPARED.findall(request.get("KeyConditionExpression", "")):
        if KEY_NAME.fullmatch(names.get(name, name)):
            yield values[value]


def keys_of_items(request):
    """The items that a request names, however deep."""
    if isinstance(request, dict):
        for name, value in request.items():
            if name in ("Key", "Item"):
                yield value["pk"]
            elif name == "Keys":
                yield from (key["pk"] for key in value)
            elif name in ("RequestItems", "PutRequest", "DeleteRequest") or isinstance(value, list):
                yield from keys_of_items(value)
            elif isinstance(value, dict) and ("Keys" in value or "TableName" in value):
                yield from keys_of_items(value)
    elif isinstance(request, list):
        for value in request:
            yield from keys_of_items(value)


def leading_keys(request):
    keys = [*keys_of_query(request), *keys_of_items(request)]
    return {"dynamodb:LeadingKeys": [key["S"] for key in keys]} if keys else {}


def identity_of_sender(method, path, body, region, account):
    if path.endswith("/outbound-emails"):
        sender = json.loads(body)["FromEmailAddress"]
        domain = sender.rsplit("@", 1)[1].rstrip("> ")
        return f"arn:aws:ses:{region}:{account}:identity/{domain}"
    return ses_resource(method, path, body, region, account)


class ItemAction(str):
    """The action of one item of a transaction, which is checked for the key of that item."""

    keys: dict


service_context = iam_actions.dynamodb_service_context
transaction_checks = iam_actions.dynamodb_transaction_checks
enforce = iam_evaluator.enforce
condition_key = iam_evaluator._resolve_condition_key
ses_resource = iam_actions._ses_v2_resource_arn


def context_with_keys(body):
    request = json.loads(body or b"{}")
    return {**service_context(body), **leading_keys(request)}


def checks_with_keys(action, body, region, account):
    items = json.loads(body or b"{}").get("TransactItems", [])
    for item in items:
        part = json.dumps({"TransactItems": [item]}).encode()
        for name, table in transaction_checks(action, part, region, account):
            checked = ItemAction(name)
            checked.keys = leading_keys({"TransactItems": [item]})
            yield checked, table


def enforce_and_tell(access_key, action, *args, **named):
    if isinstance(action, ItemAction):
        named["service_context"] = {**named["service_context"], **action.keys}
    denied = enforce(access_key, str(action), *args, **named)
    if denied:
        keys = (named.get("service_context") or {}).get("dynamodb:LeadingKeys", "")
        who = getattr(denied, "principal_arn", access_key)
        print(f"AccessDenied: {who} {action} {named.get('resource_arn')} {keys}", flush=True)
    return denied


iam_actions.dynamodb_service_context = context_with_keys
iam_actions.dynamodb_transaction_checks = lambda *args: list(checks_with_keys(*args))
iam_actions._ses_v2_resource_arn = identity_of_sender
iam_evaluator.enforce = enforce_and_tell
iam_evaluator._resolve_condition_key = lambda key, context: (
    "true" if key.lower() == "aws:securetransport" else condition_key(key, context)
)

# ------------------------------------------------------------------ metrics


evaluate_alarm = cloudwatch._evaluate_alarm
alarm_record = provisioners._cw_metric_alarm_record


def alarm_record_with_metrics(name, properties):
    if properties.get("Metrics"):
        properties = {**properties, "Metrics": None, "Namespace": "Calculated", "MetricName": name}
    return alarm_record(name, properties)


provisioners._cw_metric_alarm_record = alarm_record_with_metrics


def evaluate_with_dimensions(alarm):
    wanted = cloudwatch._dims_key({each["Name"]: each["Value"] for each in alarm.get("Dimensions") or []})
    own = {key: points for key, points in cloudwatch._metrics.items() if key[2] == wanted}
    types.FunctionType(evaluate_alarm.__code__, {**evaluate_alarm.__globals__, "_metrics": own})(alarm)


cloudwatch._evaluate_alarm = evaluate_with_dimensions


def publish_queue_metrics():
    while True:
        time.sleep(2)
        for scope, queue in list(sqs._queues._data.items()):
            set_request_account_id(scope[0])
            set_request_region(scope[1])
            sqs._refresh_counts(queue)
            visible = float(queue["attributes"]["ApproximateNumberOfMessages"])
            name = queue["attributes"]["QueueArn"].rsplit(":", 1)[1]
            cloudwatch.record_metric(
                "AWS/SQS", "ApproximateNumberOfMessagesVisible", visible, "Count", {"QueueName": name}
            )
        cloudwatch._evaluate_all_alarms()


threading.Thread(target=publish_queue_metrics, daemon=True).start()

# ------------------------------------------------------------------ new code

kill_workers = lambda_runtime.kill_workers


def retire_workers(workers):
    workers = list(workers)
    kill_workers([worker for worker in workers if not worker.in_use])
    busy = [worker for worker in workers if worker.in_use]
    if busy:
        threading.Thread(target=kill_when_done, args=(busy,), daemon=True).start()


def kill_when_done(workers):
    last = time.monotonic() + 60
    while time.monotonic() < last and any(worker.in_use for worker in workers):
        time.sleep(0.05)
    kill_workers(workers)


lambda_runtime.kill_workers = retire_workers

app.main()
