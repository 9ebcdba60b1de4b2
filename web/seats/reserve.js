// Reserves what was chosen, once, whatever happens on the way.
//
// The key is kept before the request is sent: a reply that was lost, or a page that was loaded
// anew, asks again with the same key and finds the same hold.

import { call, newKey, Trouble } from '../page.js';
import { solve } from '../solve.js';

/** @typedef {{ seats: string[] } | { general: { section: string, quantity: number } }} Body */
/** @typedef {{ kind: 'pass' | 'session' | 'lost' | 'busy' } | { kind: 'not_on_sale', at?: string }} NotNow */
/** @typedef {{ kind: 'limit', limit: number } | { kind: 'refused', problem: { type?: string, detail?: string } }} Refused */
/** @typedef {{ kind: 'held', hold: string, amount?: number } | { kind: 'taken', taken: string[] } | NotNow | Refused} Outcome */
/** @typedef {{ working: (tried: number) => void, waiting: (seconds: number) => void }} Progress */

const TRIES = 6,
  LONGEST_WAIT_S = 60;
/** After this long nobody remembers having pressed the button. */
const KEPT_MS = 120_000;
const wait = (/** @type {number} */ ms) => new Promise((next) => setTimeout(next, ms));
const place = (/** @type {string} */ show) => `reserve ${show}`;

/** What was asked for and not answered yet, if that is not long ago. @param {string} show @returns {Body | undefined} */
export function unanswered(show) {
  const { body, at } = JSON.parse(sessionStorage.getItem(place(show)) ?? '{}');
  return Date.now() - at < KEPT_MS ? body : undefined;
}

/** The key for this request: the one it was sent with before, if it was. @param {string} show @param {Body} body */
function keyFor(show, body) {
  const kept = JSON.parse(sessionStorage.getItem(place(show)) ?? '{}');
  const key = JSON.stringify(kept.body) === JSON.stringify(body) ? kept.key : newKey();
  sessionStorage.setItem(place(show), JSON.stringify({ key, body, at: Date.now() }));
  return key;
}

/** @param {string} show */
export const answered = (show) => sessionStorage.removeItem(place(show));

/** @param {import('../page.js').Answer} answer @returns {Outcome} */
function outcomeOf({ status, body }) {
  const code = (body.type ?? '').replace('urn:onsale:', '');
  if (status === 201) return { kind: 'held', hold: body.hold_id, amount: body.total?.amount };
  if (status === 401) return { kind: 'session' };
  if (code === 'pass_required') return { kind: 'pass' };
  if (code === 'seats_taken') return { kind: 'taken', taken: body.taken ?? [] };
  if (code === 'limit_exceeded') return { kind: 'limit', limit: body.limit };
  if (code === 'not_on_sale') return { kind: 'not_on_sale', at: body.on_sale_at };
  return { kind: 'refused', problem: body };
}

/**
 * How long to wait before the same is asked again, in seconds; nothing: this is the answer.
 * @param {import('../page.js').Answer} answer @param {number} tries
 */
function pauseAfter({ status, body, headers }, tries) {
  if (status === 429) return Math.max(1, Number(headers.get('Retry-After')) || 2);
  if (body.type === 'urn:onsale:request_in_flight') return 0.5 * tries;
  return undefined;
}

/**
 * @param {string} show @param {Body} body @param {Progress} progress
 * @returns {Promise<Outcome>}
 */
export async function reserve(show, body, { working, waiting }) {
  const key = keyFor(show, body);
  /** @type {Record<string, string>} */
  let headers = {};
  for (let tries = 1; tries <= TRIES; tries++) {
    /** @type {import('../page.js').Answer} */
    let answer;
    try {
      answer = await call('POST', `/shows/${show}/holds`, body, key, { headers });
      // A reply that was cut off says as little as one that was lost.
      if (answer.ok && !answer.body.hold_id) throw new Trouble('');
    } catch (error) {
      if (!(error instanceof Trouble)) throw error;
      await wait(Math.min(500 * 2 ** tries, 8_000) * (0.5 + Math.random() / 2));
      continue;
    }
    if (answer.status === 428) {
      headers = { 'Onsale-Work': await solve(answer.body.challenge, working) };
      continue;
    }
    const seconds = pauseAfter(answer, tries);
    if (seconds === undefined) {
      const outcome = outcomeOf(answer);
      // A refusal is not remembered by the API either: the key may be used again.
      if (outcome.kind !== 'session' && outcome.kind !== 'pass') answered(show);
      return outcome;
    }
    if (seconds > LONGEST_WAIT_S) return { kind: 'busy' };
    if (seconds >= 1) waiting(seconds);
    await wait(seconds * 1_000);
  }
  return { kind: 'lost' };
}
