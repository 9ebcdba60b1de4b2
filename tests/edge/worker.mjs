// Runs the worker that `scripts/edge-build` made, in workerd, with the bindings it needs.

import { createPublicKey, createPrivateKey, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Miniflare } from 'miniflare';

const build = fileURLToPath(new URL('../../edge-worker/build', import.meta.url));
const files = fileURLToPath(new URL('../../edge-worker/build-assets', import.meta.url));
const COMPATIBILITY_DATE = '2026-07-01';
/** What stands before the 32 bytes of an Ed25519 key in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

export const FUNCTIONS = ['accounts', 'catalog', 'holds', 'room', 'checkout', 'tickets', 'organiser'];

const hex = (bytes = 32) => randomBytes(bytes).toString('hex');

/** Secrets nobody else has, and the key that passes are verified with. */
export function freshSecrets() {
  const seed = randomBytes(32);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  return {
    passKey: createPublicKey(privateKey),
    bindings: {
      ROOM_SECRET: hex(),
      TICKET_KEYS: `1:${hex()}`,
      WORK_KEYS: hex(),
      PASS_SIGNING_KEY: `test:${seed.toString('base64url')}`,
      INTERNAL_KEYS: `test:${hex()}`,
      FAN_KEYS: `1:${hex()}`,
    },
  };
}

/** The same address for every function, as the embedded platform has it. */
export const allAt = (url) => JSON.stringify(Object.fromEntries(FUNCTIONS.map((name) => [name, url])));

/**
 * Starts the worker. `bindings` are variables and secrets; `storage` is a folder that
 * outlives the worker; `script` runs instead of the worker, without objects; `around` is a
 * module that imports the worker and runs in its place; `assets` puts the static files of the
 * pages in front of the worker, as Cloudflare does, where a test looks at pages.
 */
export async function startWorker({ bindings, storage, host = '127.0.0.1', port = 0, script, around, assets = false, log = Boolean(process.env.ONSALE_EDGE_LOG) }) {
  if (!script && !existsSync(`${build}/worker.mjs`)) {
    throw new Error('There is no worker yet. Build it with: scripts/edge-build');
  }
  const object = (className) => ({ className, useSQLite: true });
  const miniflare = new Miniflare({
    modulesRoot: build,
    modules: script ? [{ type: 'ESModule', path: `${build}/script.mjs`, contents: script }] : [
      ...(around ? [{ type: 'ESModule', path: `${build}/around.mjs`, contents: around }] : []),
      { type: 'ESModule', path: `${build}/worker.mjs` },
      { type: 'CompiledWasm', path: `${build}/onsale_edge_bg.wasm` },
    ],
    compatibilityDate: COMPATIBILITY_DATE,
    bindings,
    ...(assets && { assets: { directory: files, binding: 'ASSETS', routerConfig: { has_user_worker: true } } }),
    // Straight to the worker: Miniflare's own socket goes through a worker of its own first.
    unsafeDirectSockets: [{ host, port }],
    durableObjects: script ? {} : {
      ROOM_CONTROLLER: object('RoomController'),
      ROOM_GATE: object('RoomGate'),
      ROOM_COUNTER: object('RoomCounter'),
      ROOM_REMINDERS: object('RoomReminders'),
      SEAT_FEED: object('SeatFeed'),
    },
    durableObjectsPersist: storage ?? false,
    // What the worker logs is shown on demand: tests provoke much of it.
    handleRuntimeStdio: (out, err) => {
      for (const stream of [out, err]) log ? stream.pipe(process.stderr, { end: false }) : stream.resume();
    },
  });
  try {
    await miniflare.ready;
    const url = (await miniflare.unsafeGetDirectURL()).origin;
    return { url, stop: () => miniflare.dispose() };
  } catch (error) {
    await miniflare.dispose();
    throw error;
  }
}
