"""What `scripts/cloud` and its tests do with the stack on the emulated cloud:

    cloud-stack.py deploy            creates the stack, or updates it to what is built now
    cloud-stack.py deploy-again      the same code once more under another hash, as a new version has it
    cloud-stack.py delete            stops the worker, deletes the stack, and lists what is left, one name a line
    cloud-stack.py send QUEUE TEXT   puts a message into a queue, named as in the template
    cloud-stack.py count QUEUE       how many messages are in it
    cloud-stack.py retry-after QUEUE SECONDS   when a message comes back that nobody finished
    cloud-stack.py kill FUNCTION     kills the processes of a function, and says how many
    cloud-stack.py code FUNCTION     the hash of its code
    cloud-stack.py invoke FUNCTION JSON   calls a function, and says what it answers
    cloud-stack.py alarms QUEUE      the names of the alarms about this queue that ring
    cloud-stack.py logs GROUP WORD   the lines of a log group with this word in them
    cloud-stack.py metrics           what functions told CloudWatch in their logs, a function and a metric a line
    cloud-stack.py read-as FUNCTION KEY   reads an item with the credentials of a function, and says
                                     `allowed` or the error

It reads AWS_ENDPOINT_URL, and from ONSALE_CLOUD a folder for what it has to remember.
"""

import hashlib
import io
import json
import os
import pathlib
import platform
import re
import signal
import sys
import time
import zipfile

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

STACK = "onsale-emulated"
CODE_BUCKET = "onsale-code"
# The one that the template has mails sent from, unless told otherwise.
DOMAIN = "onsale.example"
TEMPLATE = pathlib.Path("template.yaml")
ZIPS = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "lambda"
FOLDER = pathlib.Path(os.environ.get("ONSALE_CLOUD", "target/cloud"))
ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}

config = Config(retries={"max_attempts": 3}, connect_timeout=5, read_timeout=60)


def client(service):
    return boto3.client(service, config=config)


def say(text):
    print(f"cloud: {text}", file=sys.stderr, flush=True)


# ------------------------------------------------------------------ deploying


def another_version(zipped):
    """The same files and one more, as the code of another version has other bytes."""
    buffer = io.BytesIO(zipped)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(zipfile.ZipInfo(f"version-{time.time_ns()}"), b"")
    return buffer.getvalue()


def packaged_template(change):
    """The template with its code in a bucket, as `sam package` would have it."""
    s3 = client("s3")
    if CODE_BUCKET not in [bucket["Name"] for bucket in s3.list_buckets()["Buckets"]]:
        region = {"LocationConstraint": os.environ["AWS_REGION"]}
        s3.create_bucket(Bucket=CODE_BUCKET, CreateBucketConfiguration=region)

    def upload(found):
        name = found.group(1)
        zipped = change((ZIPS / f"{name}.zip").read_bytes())
        key = f"{name}-{hashlib.sha256(zipped).hexdigest()}.zip"
        s3.put_object(Bucket=CODE_BUCKET, Key=key, Body=zipped)
        return f"CodeUri: s3://{CODE_BUCKET}/{key}"

    text, count = re.subn(r"CodeUri: target/lambda/([\w-]+)/", upload, TEMPLATE.read_text())
    if not count:
        sys.exit("cloud: the template has no functions")
    # Larger than a request takes, as on AWS.
    s3.put_object(Bucket=CODE_BUCKET, Key="template.yaml", Body=text.encode())
    return f"{os.environ['AWS_ENDPOINT_URL']}/{CODE_BUCKET}/template.yaml"


def put_secret(name, value):
    secrets = client("secretsmanager")
    try:
        secrets.create_secret(Name=name, SecretString=json.dumps(value))
    except secrets.exceptions.ResourceExistsException:
        secrets.put_secret_value(SecretId=name, SecretString=json.dumps(value))


def parameters():
    keys = json.loads((FOLDER / "keys.json").read_text())
    chosen = dict(keys["parameters"])
    for parameter, value in keys["secrets"].items():
        chosen[parameter] = f"{STACK}/{parameter}"
        put_secret(chosen[parameter], value)
    chosen["PaymentSecretName"] = f"{STACK}/payments"
    put_secret(
        chosen["PaymentSecretName"],
        {"secret_key": os.environ["STRIPE_SECRET_KEY"], "webhook_secrets": os.environ["STRIPE_WEBHOOK_SECRETS"]},
    )
    chosen.update(
        Architecture=ARCHITECTURES[platform.machine()],
        PaymentProvider="stripe",
        StripeApiUrl=os.environ["STRIPE_API_URL"],
        StripePublishableKey=os.environ["STRIPE_PUBLISHABLE_KEY"],
        PublicBaseUrl=os.environ["ONSALE_URL"],
    )
    return [{"ParameterKey": name, "ParameterValue": value} for name, value in chosen.items()]


def deploy(change=lambda zipped: zipped):
    stacks = client("cloudformation")
    mails = client("sesv2")
    try:
        mails.create_email_identity(EmailIdentity=DOMAIN)
    except mails.exceptions.AlreadyExistsException:
        pass
    known = [stack["StackName"] for stack in stacks.list_stacks()["StackSummaries"]
             if stack["StackStatus"] != "DELETE_COMPLETE"]
    request = dict(
        StackName=STACK,
        TemplateURL=packaged_template(change),
        Parameters=parameters(),
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
    )
    done = "stack_update_complete" if STACK in known else "stack_create_complete"
    if STACK in known:
        stacks.update_stack(**request)
    else:
        stacks.create_stack(**request)
    try:
        stacks.get_waiter(done).wait(StackName=STACK, WaiterConfig={"Delay": 1, "MaxAttempts": 300})
    except Exception:
        for event in reversed(stacks.describe_stack_events(StackName=STACK)["StackEvents"]):
            if "FAILED" in event["ResourceStatus"]:
                say(f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason')}")
        raise
    bindings = json.loads((FOLDER / "keys.json").read_text())["bindings"]
    bindings["FUNCTION_URLS"] = json.dumps(function_urls(stacks))
    # With it the checkout page may load Stripe's script.
    bindings["ONSALE_STRIPE_PUBLISHABLE_KEY"] = os.environ["STRIPE_PUBLISHABLE_KEY"]
    lines = [f"{name}={value}\n" for name, value in bindings.items()]
    (FOLDER / "edge.bindings").write_text("".join(lines))


def function_urls(stacks):
    """Where each function answers, named as the worker names them."""
    outputs = stacks.describe_stacks(StackName=STACK)["Stacks"][0]["Outputs"]
    urls = {}
    for output in outputs:
        url = re.fullmatch(r"https://(\w+)\.lambda-url\..*", output["OutputValue"])
        if url:
            # MiniStack answers for the host of the URL, or under this path.
            name = output["OutputKey"].removesuffix("Url").lower()
            urls[name] = f"{os.environ['AWS_ENDPOINT_URL']}/_aws/lambda-url/{url.group(1)}"
    return urls


# ------------------------------------------------------------------ the deployed stack


def resource(logical_id):
    detail = client("cloudformation").describe_stack_resource(StackName=STACK, LogicalResourceId=logical_id)
    return detail["StackResourceDetail"]["PhysicalResourceId"]


def send(queue, text):
    client("sqs").send_message(QueueUrl=resource(queue), MessageBody=text)


def count(queue):
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    told = client("sqs").get_queue_attributes(QueueUrl=resource(queue), AttributeNames=names)["Attributes"]
    print(sum(int(told[name]) for name in names))


def retry_after(queue, seconds):
    client("sqs").set_queue_attributes(QueueUrl=resource(queue), Attributes={"VisibilityTimeout": seconds})


def alarms(queue):
    name = resource(queue).rsplit("/", 1)[-1]
    for alarm in client("cloudwatch").describe_alarms(StateValue="ALARM")["MetricAlarms"]:
        if any(dimension["Value"] == name for dimension in alarm.get("Dimensions", [])):
            print(alarm["AlarmName"])


def processes_of(function):
    """Every process that serves this function, each with its environment."""
    wanted = {"AWS_LAMBDA_FUNCTION_NAME": resource(function), "AWS_ENDPOINT_URL": os.environ["AWS_ENDPOINT_URL"]}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().decode(errors="replace").split("\0")
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
        environment = dict(variable.split("=", 1) for variable in variables if "=" in variable)
        if wanted.items() <= environment.items():
            yield int(process.name), environment


def kill(function):
    """In the middle of whatever it does."""
    killed = 0
    for process, _ in processes_of(function):
        try:
            os.kill(process, signal.SIGKILL)
            killed += 1
        except ProcessLookupError:
            pass
    print(killed)


def read_as(function, key):
    """The credentials of its role are in the environment of a function that runs."""
    _, own = next(processes_of(function), (None, None))
    if own is None:
        sys.exit(f"cloud: {function} does not run")
    table = boto3.client(
        "dynamodb",
        config=config,
        aws_access_key_id=own["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=own["AWS_SECRET_ACCESS_KEY"],
        aws_session_token=own["AWS_SESSION_TOKEN"],
    )
    try:
        table.get_item(TableName=resource("Table"), Key={"pk": {"S": key}, "sk": {"S": key}})
        print("allowed")
    except ClientError as refusal:
        print(refusal.response["Error"]["Code"])


def lines_of(group, word):
    told = client("logs").filter_log_events(logGroupName=group, filterPattern=f'"{word}"')
    return [event["message"] for event in told["events"]]


def logs(group, word):
    for line in lines_of(resource(group), word):
        print(line)


def metrics():
    told = set()
    for group in client("logs").describe_log_groups()["logGroups"]:
        for line in lines_of(group["logGroupName"], "CloudWatchMetrics"):
            document = json.loads(line)
            for described in document["_aws"]["CloudWatchMetrics"]:
                told.update(f"{document['function']} {metric['Name']}" for metric in described["Metrics"])
    for line in sorted(told):
        print(line)


def code(function):
    print(client("lambda").get_function_configuration(FunctionName=resource(function))["CodeSha256"])


def invoke(function, payload):
    told = client("lambda").invoke(FunctionName=resource(function), Payload=payload.encode())
    answer = told["Payload"].read().decode()
    if "FunctionError" in told:
        sys.exit(f"cloud: {function} failed: {answer}")
    print(json.loads(answer))


def stop_worker():
    """As long as there are rooms it asks functions by itself, also those that are half gone."""
    process = int((FOLDER / "edge.pid").read_text())
    try:
        os.kill(process, signal.SIGTERM)
        while pathlib.Path(f"/proc/{process}/cmdline").read_bytes():
            time.sleep(0.1)
    except (FileNotFoundError, ProcessLookupError):
        pass
    # What it asked last is answered meanwhile.
    time.sleep(2)


def keys_in_use():
    """Keys of ours. One that is deleted is listed for some more days, and can do nothing."""
    kms = client("kms")
    described = [kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"] for key in kms.list_keys()["Keys"]]
    return [key["KeyId"] for key in described
            if key["KeyManager"] == "CUSTOMER" and key["KeyState"] != "PendingDeletion"]


def delete():
    stop_worker()
    stacks, mails = client("cloudformation"), client("sesv2")
    stacks.delete_stack(StackName=STACK)
    stacks.get_waiter("stack_delete_complete").wait(StackName=STACK, WaiterConfig={"Delay": 1, "MaxAttempts": 120})
    left = {
        "table": client("dynamodb").list_tables()["TableNames"],
        "bucket": [b["Name"] for b in client("s3").list_buckets()["Buckets"] if b["Name"] != CODE_BUCKET],
        "queue": client("sqs").list_queues().get("QueueUrls", []),
        "function": [f["FunctionName"] for f in client("lambda").list_functions()["Functions"]],
        "source": [m["UUID"] for m in client("lambda").list_event_source_mappings()["EventSourceMappings"]],
        "bus": [b["Name"] for b in client("events").list_event_buses()["EventBuses"] if b["Name"] != "default"],
        "rule": [r["Name"] for r in client("events").list_rules()["Rules"]],
        "role": [r["RoleName"] for r in client("iam").list_roles()["Roles"]],
        "log group": [g["logGroupName"] for g in client("logs").describe_log_groups()["logGroups"]],
        "topic": [t["TopicArn"] for t in client("sns").list_topics()["Topics"]],
        "dashboard": [d["DashboardName"] for d in client("cloudwatch").list_dashboards()["DashboardEntries"]],
        "alarm": [a["AlarmName"] for a in client("cloudwatch").describe_alarms()["MetricAlarms"]],
        "key": keys_in_use(),
        "set of mails": mails.list_configuration_sets().get("ConfigurationSets", []),
    }
    for kind, names in left.items():
        for name in names:
            print(f"{kind} {name}")


COMMANDS = {
    "deploy": deploy,
    "deploy-again": lambda: deploy(another_version),
    "delete": delete,
    "send": send,
    "count": count,
    "retry-after": retry_after,
    "kill": kill,
    "code": code,
    "invoke": invoke,
    "alarms": alarms,
    "logs": logs,
    "metrics": metrics,
    "read-as": read_as,
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
