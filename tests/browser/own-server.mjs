// A platform of a test's own, for settings that the platform of ONSALE_URL does not have.
// ONSALE_BINARY is the program, that of the last release build otherwise.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = process.env.ONSALE_BINARY ?? fileURLToPath(new URL('../../target/release/onsale', import.meta.url));

/** Starts it with these settings on a free port, and returns its URL as `base`. It ends with the test. `said` is what it logs. */
export async function ownServer(t, { env = {}, args = [] } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'onsale-browser-'));
  const data = join(folder, 'onsale');
  const child = spawn(program, ['serve', '--port', '0', '--empty', '--rate-limit', 'off', '--data', data, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  const said = [];
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  t.after(async () => {
    child.kill();
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  const lines = createInterface({ input: child.stdout });
  const ready = new Promise((resolve) => {
    lines.on('line', (line) => {
      const [, found] = line.match(/^Onsale is ready at (\S+)/) ?? [];
      if (found) resolve(found);
    });
  });
  const stopped = ended.then(([code]) => {
    throw new Error(`${program} ended with ${code} before it was ready: ${said.join(' ')}`);
  });
  stopped.catch(() => {});
  return { base: await Promise.race([ready, stopped]), said };
}
