import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { test } from "node:test";
import { environments } from "./environments.mjs";
import { makeKeys, publicKey } from "./keys.mjs";
import { readTemplate } from "./template.mjs";

const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

// The test vector 1 of RFC 8032, section 7.1.
test("the public key is that of the seed", () => {
  const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex");
  assert.equal(publicKey(seed).toString("hex"), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
});

test("what a private key signs its public key vouches for", () => {
  const { secrets, worker, parameters } = makeKeys("staging", "20260101");
  const pairs = [
    [secrets["onsale/staging/session"].signing_key, parameters.SessionPublicKeys],
    [secrets["onsale/staging/tickets"].signing_key, parameters.TicketPublicKeys],
    [secrets["onsale/staging/quotes"].signing_key, parameters.QuotePublicKeys],
    [worker.PASS_SIGNING_KEY, parameters.PassPublicKeys],
  ];
  const bytes = (text) => Buffer.from(text.split(":").at(-1), "base64url");
  for (const [secret, known] of pairs) {
    const key = createPrivateKey({ key: Buffer.concat([PKCS8, bytes(secret)]), format: "der", type: "pkcs8" });
    const vouching = createPublicKey({ key: Buffer.concat([SPKI, bytes(known)]), format: "der", type: "spki" });
    assert.ok(verify(null, Buffer.from("word"), vouching, sign(null, Buffer.from("word"), key)));
    assert.equal(secret.split(":").slice(0, -1).join(), known.split(":").slice(0, -1).join());
  }
  assert.equal(worker.INTERNAL_KEYS, secrets["onsale/staging/edge"].internal_keys);
});

test("every secret that an environment names is made, with the field that the template reads", () => {
  const text = JSON.stringify(readTemplate());
  const read = [...text.matchAll(/resolve:secretsmanager:\$\{(\w+)\}:SecretString:(\w+)/g)];
  assert.ok(read.length > 10);
  for (const [environment, values] of Object.entries(environments)) {
    const { secrets } = makeKeys(environment, "20260101");
    for (const [, parameter, field] of read) {
      // Who takes the money and who knows people from machines give us theirs.
      if (parameter === "PaymentSecretName" || !(parameter in values)) continue;
      assert.ok(secrets[values[parameter]]?.[field], `${environment}: ${parameter}, ${field}`);
    }
  }
});

test("no key is made twice", () => {
  const all = (keys) => [...Object.values(keys.secrets).flatMap(Object.values), ...Object.values(keys.worker)];
  const [first, second] = [makeKeys("dev", "20260101"), makeKeys("dev", "20260101")].map(all);
  assert.deepEqual(first.filter((key) => second.includes(key)), []);
});
