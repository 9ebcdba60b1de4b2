// wrangler reads the worker's configuration and packs what scripts/edge-build made, as it would to
// deploy it, for every environment that the stack has.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { unstable_readConfig } from "wrangler";
import { environments } from "./environments.mjs";
import { readTemplate, root } from "./template.mjs";

const config = join(root, "edge-worker/wrangler.toml");
const OBJECTS = ["ROOM_CONTROLLER", "ROOM_GATE", "ROOM_COUNTER", "ROOM_REMINDERS", "SEAT_FEED"];

for (const [environment, { DomainName, PublicBaseUrl = `https://${DomainName}` }] of Object.entries(environments)) {
  const read = () => unstable_readConfig({ config, env: environment });

  test(`the worker of ${environment} answers where the stack's mails lead`, () => {
    const { routes, workers_dev } = read();
    assert.deepEqual((routes ?? []).map((r) => `https://${r.pattern}`), [PublicBaseUrl]);
    assert.equal(workers_dev, false, "it has one address");
  });

  test(`the worker of ${environment} has every object and every function's address`, () => {
    const { name, durable_objects, vars } = read();
    assert.equal(name, `onsale-edge-${environment}`);
    assert.deepEqual(durable_objects.bindings.map((b) => b.name), OBJECTS);
    const outputs = Object.keys(readTemplate().Outputs).filter((o) => o.endsWith("Url") && o !== "DashboardUrl");
    const functions = outputs.map((o) => o.slice(0, -3).toLowerCase()).sort();
    assert.deepEqual(Object.keys(JSON.parse(vars.FUNCTION_URLS)).sort(), functions);
    assert.equal(vars.RATE_LIMIT, environment === "dev" ? "off" : "on");
  });

  test(`no log of ${environment} has the addresses that were asked for, which carry tokens`, () => {
    const { observability } = read();
    assert.equal(observability.logs.invocation_logs, false);
    assert.equal(observability.logs.head_sampling_rate, observability.head_sampling_rate);
    assert.ok(!observability.traces?.enabled, "a trace names addresses as well");
  });

  test(`wrangler packs the worker of ${environment}`, () => {
    assert.ok(existsSync(join(root, "edge-worker/build/worker.mjs")), "build it first: scripts/edge-build");
    const urls = '{"accounts":"https://a.example/"}';
    const args = ["deploy", "--dry-run", "--config", config, "--env", environment, "--var", `FUNCTION_URLS:${urls}`];
    const env = { ...process.env, CI: "1", WRANGLER_SEND_METRICS: "false", NO_COLOR: "1" };
    const done = spawnSync(join(import.meta.dirname, "node_modules/.bin/wrangler"), args, { env, encoding: "utf8" });
    assert.equal(done.status, 0, done.stdout + done.stderr);
    assert.match(done.stdout, /onsale_edge_bg\.wasm/);
    // What is handed over when deploying, as the runbook does, takes the place of the file's.
    assert.match(done.stdout, /FUNCTION_URLS \("\(hidden\)"\)/);
    for (const object of OBJECTS) assert.match(done.stdout, new RegExp(`env\\.${object}`));
    assert.doesNotMatch(done.stdout + done.stderr, /WARNING/);
  });
}

test("there is no environment of the worker without a stack", () => {
  const { definedEnvironments } = unstable_readConfig({ config });
  assert.deepEqual(definedEnvironments.toSorted(), Object.keys(environments).toSorted());
});
