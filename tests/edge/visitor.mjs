// A visitor of a waiting room, with cookies and a proof of work of their own.

import { createHmac, hash, randomBytes } from 'node:crypto';

const TRIES = 65_536;

/** Finds the counter that was planted; docs/decisions/0015 has the format. */
export function solve(challenge) {
  const { salt, nonce, cost, keyLength, keyPrefix } = challenge.parameters;
  const input = Buffer.concat([Buffer.from(salt, 'hex'), Buffer.from(nonce, 'hex'), Buffer.alloc(4)]);
  for (let counter = 0; counter < TRIES; counter++) {
    input.writeUInt32BE(counter, input.length - 4);
    let key = hash('sha256', input, 'buffer');
    for (let i = 1; i < cost; i++) key = hash('sha256', key, 'buffer');
    const derivedKey = key.subarray(0, keyLength ?? 32).toString('hex');
    if (derivedKey.startsWith(keyPrefix)) {
      const solved = { challenge, solution: { counter, derivedKey, time: 1 } };
      return Buffer.from(JSON.stringify(solved)).toString('base64');
    }
  }
  throw new Error('the challenge has no solution');
}

/**
 * A challenge of the lowest cost that is solved already, as whoever knows the secret can
 * make one: working for thousands of them would only measure this machine.
 */
export function plantedSolution(workKey, show) {
  const [salt, nonce] = [randomBytes(16), randomBytes(16)];
  const counter = Buffer.alloc(4);
  const derivedKey = hash('sha256', Buffer.concat([salt, nonce, counter]));
  const sign = (message) => createHmac('sha256', workKey).update(message).digest('hex');
  const parameters = {
    algorithm: 'SHA-256',
    cost: 1,
    data: { key: sign('onsale work key id').slice(0, 8), show, visitor: `vis_${randomBytes(16).toString('hex')}` },
    expiresAt: Math.floor(Date.now() / 1_000) + 120,
    keyLength: 32,
    keyPrefix: derivedKey.slice(0, 32),
    nonce: nonce.toString('hex'),
    salt: salt.toString('hex'),
  };
  // The members are in the order in which they are signed.
  const challenge = { parameters, signature: sign(JSON.stringify(parameters)) };
  return Buffer.from(JSON.stringify({ challenge, solution: { counter: 0, derivedKey } })).toString('base64');
}

export class Visitor {
  #cookies = new Map();

  constructor(url, show) {
    this.room = `${url}/room/${show}`;
  }

  ask(action, options) {
    return this.send(`${this.room}/${action}`, options);
  }

  /** Asks anything with the cookies of this visitor, and keeps those that come back. */
  async send(url, { method = 'GET', body, headers = {} } = {}) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...(body && { 'content-type': 'application/json' }), ...headers },
      body: body && JSON.stringify(body),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = line.match(/^([^=]+)=([^;]*)/);
      this.#cookies.set(name, value);
    }
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text && JSON.parse(text) };
  }

  async solved() {
    const { status, body } = await this.ask('challenge');
    if (status !== 200) throw new Error(`no challenge: ${status} ${JSON.stringify(body)}`);
    return solve(body);
  }

  async join(more = {}) {
    return this.ask('join', { method: 'POST', body: { altcha: await this.solved(), ...more } });
  }

  enter() {
    return this.ask('enter', { method: 'POST' });
  }

  leave() {
    return this.ask('leave', { method: 'POST' });
  }

  /** Asks until it is their turn, or they are inside, and returns the states on the way. */
  async wait(patienceMs = 60_000) {
    const states = [];
    for (const end = Date.now() + patienceMs; Date.now() < end;) {
      const { status, body } = await this.ask('status');
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      if (states.at(-1) !== body.state) states.push(body.state);
      if (body.state === 'admitted' || body.state === 'inside') return states;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    throw new Error(`it was never their turn: ${states}`);
  }

  /** `admitted` is a promise: whoever hears it enters. */
  async waitAndEnter() {
    const states = await this.wait();
    return { states, entered: await this.enter() };
  }
}
