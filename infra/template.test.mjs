// What the CDK synthesises is template.yaml, for every environment. How the file is to be read is
// cfn-lint's to say, so that a mistake of ours in reading it shows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { App } from "aws-cdk-lib";
import { environments, stackName } from "./environments.mjs";
import { OnsaleStack } from "./onsale-stack.mjs";
import { readTemplate, root } from "./template.mjs";

const out = mkdtempSync(join(tmpdir(), "onsale-cdk-"));
const python = process.env.ONSALE_PYTHON ?? join(root, ".tools/venv/bin/python");
const decode = "import json, sys; from cfnlint.decode import decode; print(json.dumps(decode(sys.argv[1])[0]))";
let template;

before(() => {
  template = JSON.parse(execFileSync(python, ["-c", decode, join(root, "template.yaml")], { maxBuffer: 1 << 24 }));
  const cdk = join(import.meta.dirname, "node_modules/.bin/cdk");
  const env = { ...process.env, CDK_DISABLE_VERSION_CHECK: "1", AWS_EC2_METADATA_DISABLED: "true" };
  execFileSync(cdk, ["synth", "--quiet", "--all", "--output", out], { cwd: import.meta.dirname, env, stdio: "pipe" });
});
after(() => rmSync(out, { recursive: true }));

// An environment may change defaults and where the code is, and nothing else.
function same({ Parameters, ...rest }) {
  const parameters = Object.fromEntries(Object.entries(Parameters).map(([name, { Default, ...p }]) => [name, p]));
  const copy = structuredClone({ ...rest, parameters });
  for (const resource of Object.values(copy.Resources)) {
    if (resource.Type === "AWS::Serverless::Function") delete resource.Properties.CodeUri;
  }
  return copy;
}

for (const [environment, values] of Object.entries(environments)) {
  test(`${environment} is template.yaml with defaults of its own`, () => {
    const file = join(out, `${stackName(environment)}.template.json`);
    const synthesised = JSON.parse(readFileSync(file, "utf8"));
    assert.deepEqual(same(synthesised), same(template));
    for (const [name, parameter] of Object.entries(synthesised.Parameters)) {
      assert.deepEqual(parameter.Default, values[name] ?? template.Parameters[name].Default, name);
    }
  });
}

test("a resource that differs is noticed", () => {
  const other = structuredClone(template);
  other.Resources.SagaQueue.Properties.VisibilityTimeout = 1;
  assert.notDeepEqual(same(other), same(template));
});

// As CloudFormation would see it, which says so only once somebody deploys.
function allows({ Type, AllowedValues, AllowedPattern, MinValue = -Infinity, MaxValue = Infinity }, value) {
  if (typeof value !== (Type === "Number" ? "number" : "string")) return false;
  if (AllowedValues && !AllowedValues.includes(value)) return false;
  if (AllowedPattern && !new RegExp(`^(?:${AllowedPattern})$`).test(value)) return false;
  return Type !== "Number" || (value >= MinValue && value <= MaxValue);
}

test("values that the template does not allow are no environment", () => {
  for (const [environment, values] of Object.entries(environments)) {
    for (const [name, value] of Object.entries(values)) {
      assert.ok(allows(template.Parameters[name], value), `${environment}: ${name}`);
    }
  }
  for (const [name, value] of Object.entries({ WarmWriteUnits: 3999, LogRetentionDays: 1, DomainName: "A B", LogLevel: 1 })) {
    assert.ok(!allows(template.Parameters[name], value), name);
  }
  const typo = () => new OnsaleStack(new App(), "typo", { values: { DomainNme: "x" } });
  assert.throws(typo, /no parameter DomainNme/);
});

test("every secret has a name in every environment, except those of a CAPTCHA and of a collector, which are a choice", () => {
  const named = Object.keys(template.Parameters).filter((name) => name.endsWith("SecretName"));
  for (const [environment, values] of Object.entries(environments)) {
    const without = named.filter((name) => !values[name]?.startsWith(`onsale/${environment}/`));
    assert.deepEqual(without, ["CaptchaSecretName", "TraceSecretName"]);
  }
});

// A stack over a folder in which scripts/zips built one function: what is uploaded, and what is said.
function stackWithHolds(name, processor) {
  const codeRoot = join(out, name);
  mkdirSync(join(codeRoot, "target/lambda/holds"), { recursive: true });
  mkdirSync(join(codeRoot, "target/lambda/room"), { recursive: true });
  writeFileSync(join(codeRoot, "target/lambda/processor"), `${processor}\n`);
  writeFileSync(join(codeRoot, "target/lambda/holds/bootstrap"), "a program");
  writeFileSync(join(codeRoot, "target/lambda/holds.zip"), "the zip of it");
  writeFileSync(join(codeRoot, "target/lambda/room/bootstrap"), "a program that nobody packed");
  const app = new App({ outdir: join(out, `${name}.out`), builtinCloudFormationValidation: false });
  const stack = new OnsaleStack(app, name, { values: {}, codeRoot });
  const assembly = app.synth().getStackByName(name);
  const files = readdirSync(assembly.assembly.directory).filter((file) => file.startsWith("asset."));
  const warnings = stack.node.metadata.filter((m) => m.type === "aws:cdk:warning").map((m) => m.data);
  return { code: assembly.template.Resources, files, directory: assembly.assembly.directory, warnings: warnings.join() };
}

test("the zips that were built are uploaded byte for byte, and everybody sees what was not", () => {
  const { code, files, directory, warnings } = stackWithHolds("built", "arm64");
  assert.match(code.HoldsFunction.Properties.CodeUri.Key, /^[0-9a-f]{64}\.zip$/);
  assert.deepEqual(files.map((file) => readFileSync(join(directory, file), "utf8")), ["the zip of it"]);
  assert.equal(code.RoomFunction.Properties.CodeUri, readTemplate().Resources.RoomFunction.Properties.CodeUri);
  assert.match(warnings, /run scripts\/zips arm64: .*target\/lambda\/room\.zip/);
  assert.doesNotMatch(warnings, /target\/lambda\/holds/);
});

test("what was built for another processor, or for this machine, is not deployed", () => {
  for (const processor of ["x86_64", "host"]) {
    const { code, files, warnings } = stackWithHolds(`for-${processor.replace("_", "-")}`, processor);
    assert.equal(code.HoldsFunction.Properties.CodeUri, "target/lambda/holds/");
    assert.deepEqual(files, []);
    assert.match(warnings, /target\/lambda\/holds\.zip/);
  }
});
