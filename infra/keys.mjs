// Makes every key of an environment, once:
//
//   node infra/keys.mjs ENVIRONMENT FOLDER
//
// FOLDER/secrets.json      what to put into Secrets Manager, by the name of the secret
// FOLDER/worker.json       the secrets of the worker, for `wrangler secret bulk`
// FOLDER/parameters.txt    the public keys, as parameters of a deployment
//
// A folder that is there is left alone: keys that are lost cannot be made again. Keep it where you
// keep other secrets, or delete it once everything is where it belongs.
import { createPrivateKey, createPublicKey, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { environments } from "./environments.mjs";

// How a private key of Ed25519 begins in DER; its 32 bytes follow.
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

export function publicKey(seed) {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  return createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
}

const digits = () => randomBytes(32).toString("hex");

// A pair under a name of its own, so that it can be told from the one that follows it.
function pair(name) {
  const seed = randomBytes(32);
  const written = (bytes) => `${name}:${bytes.toString("base64url")}`;
  return { secret: written(seed), public: written(publicKey(seed)) };
}

export function makeKeys(environment, day) {
  const values = environments[environment];
  if (!values) throw new Error(`no environment is called ${environment}; there are: ${Object.keys(environments).join(", ")}`);
  const [session, quotes, passes] = ["s", "q", "p"].map((kind) => pair(`${kind}${day}`));
  const seed = randomBytes(32);
  const tickets = { secret: seed.toString("base64url"), public: publicKey(seed).toString("base64url") };
  const edge = { internal_keys: `e${day}:${digits()}`, fan_keys: `1:${digits()}`, work_keys: digits() };
  return {
    secrets: {
      [values.SessionSecretName]: { signing_key: session.secret },
      [values.TicketSecretName]: { signing_key: tickets.secret },
      [values.QuoteSecretName]: { signing_key: quotes.secret },
      [values.ResetSecretName]: { reset_keys: `1:${digits()}` },
      [values.InternalSecretName]: edge,
    },
    worker: {
      ROOM_SECRET: digits(),
      TICKET_KEYS: `1:${digits()}`,
      PASS_SIGNING_KEY: passes.secret,
      INTERNAL_KEYS: edge.internal_keys,
      FAN_KEYS: edge.fan_keys,
      WORK_KEYS: edge.work_keys,
    },
    parameters: {
      SessionPublicKeys: session.public,
      TicketPublicKeys: tickets.public,
      QuotePublicKeys: quotes.public,
      PassPublicKeys: passes.public,
    },
  };
}

function main([environment, folder]) {
  if (!environment || !folder) throw new Error("usage: node infra/keys.mjs ENVIRONMENT FOLDER");
  const day = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const { secrets, worker, parameters } = makeKeys(environment, day);
  mkdirSync(folder, { mode: 0o700 });
  const write = (name, text) => writeFileSync(join(folder, name), text, { mode: 0o600, flag: "wx" });
  write("secrets.json", `${JSON.stringify(secrets, null, 2)}\n`);
  write("worker.json", `${JSON.stringify(worker, null, 2)}\n`);
  write("parameters.txt", Object.entries(parameters).map(([name, value]) => `${name}=${value}\n`).join(""));
  console.log(`keys: ${environment} … written to ${resolve(folder)}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    console.error(`keys: ${error.message}`);
    process.exitCode = 1;
  }
}
