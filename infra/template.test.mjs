// What the CDK synthesises is template.yaml, for every environment. How the file is to be read is
// cfn-lint's to say, so that a mistake of ours in reading it shows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

test("values that the template does not allow are no environment", () => {
  for (const [environment, values] of Object.entries(environments)) {
    for (const [name, value] of Object.entries(values)) {
      const parameter = template.Parameters[name];
      if (parameter.AllowedValues) assert.ok(parameter.AllowedValues.includes(value), `${environment}: ${name}`);
      assert.equal(typeof value, parameter.Type === "Number" ? "number" : "string", `${environment}: ${name}`);
    }
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

test("code that was built is uploaded, and everybody sees what was not", () => {
  const codeRoot = join(out, "code");
  mkdirSync(join(codeRoot, "target/lambda/holds"), { recursive: true });
  writeFileSync(join(codeRoot, "target/lambda/holds/bootstrap"), "a program");
  const app = new App({ outdir: join(out, "built"), builtinCloudFormationValidation: false });
  const stack = new OnsaleStack(app, "built", { values: {}, codeRoot });
  const assembly = app.synth().getStackByName("built");
  const { HoldsFunction, RoomFunction } = assembly.template.Resources;
  assert.match(HoldsFunction.Properties.CodeUri.Key, /^[0-9a-f]{64}\.zip$/);
  assert.equal(RoomFunction.Properties.CodeUri, readTemplate().Resources.RoomFunction.Properties.CodeUri);
  const warnings = stack.node.metadata.filter((m) => m.type === "aws:cdk:warning").map((m) => m.data);
  assert.match(warnings.join(), /target\/lambda\/room/);
  assert.doesNotMatch(warnings.join(), /target\/lambda\/holds/);
});
