// The API as a page asks it: answers, refusals in words, and a way to try again.

import { hear } from './clock.js';
import { button, card, note, row, show } from './elements.js';
import { lang, t } from './words.js';

/** @typedef {{ ok: boolean, status: number, body: any, headers: Headers }} Answer */

const REQUEST_MS = 20_000;

/** Something went wrong on the way; its message is for the reader. */
export class Trouble extends Error {}

/** There is no session any more; the reader is asked to log in. */
class LoggedOut extends Trouble {}

/** Nobody waits for this answer any more. */
class Forgotten extends Error {}

let forgotten = 0;
/** @type {(() => void) | undefined} */
let toLogIn;

/** Whatever has been asked so far is not shown when it comes. */
export const forget = () => {
  forgotten++;
};

/** What is done when an answer says that the session has ended. @param {() => void} work */
export const whenLoggedOut = (work) => {
  toLogIn = work;
};

/** What a code means. Pages with forms know more of them. @type {Record<string, () => string>} */
export const spoken = { rate_limited: () => t('error.rate_limited') };

/**
 * A refusal in words: the API's own are English, and more exact than ours.
 * @param {{ type?: string, detail?: string }} problem
 */
export function inWords({ type = '', detail }) {
  if (lang === 'en' && detail) return detail;
  const code = type.replace('urn:onsale:', '');
  return Object.hasOwn(spoken, code) ? spoken[code]() : t('error.other');
}

/**
 * The answer and its JSON, refusals among them. No answer at all is Trouble.
 * @param {string} method
 * @param {string} path after `/api/v1`
 * @param {object} [body]
 * @param {string} [key] the Idempotency-Key
 * @param {{ headers?: Record<string, string>, signal?: AbortSignal }} [more]
 * @returns {Promise<Answer>}
 */
export async function call(
  method,
  path,
  body,
  key,
  { headers: added, signal = AbortSignal.timeout?.(REQUEST_MS) } = {},
) {
  const before = forgotten;
  const check = () => {
    if (forgotten !== before) throw new Forgotten();
  };
  /** @type {Record<string, string>} */
  const headers = { Accept: 'application/json', ...added };
  if (body) headers['Content-Type'] = 'application/json';
  if (key) headers['Idempotency-Key'] = key;
  const asked = Date.now();
  let response;
  try {
    response = await fetch(`/api/v1${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
      cache: 'no-store',
      signal,
    });
  } catch {
    check();
    throw new Trouble(t('error.offline'));
  }
  hear(response, asked);
  const told = (await response.json().catch(() => null)) ?? {};
  check();
  if (response.status >= 500) throw new Trouble(t('error.server'));
  return { ok: response.ok, status: response.status, body: told, headers: response.headers };
}

/** A refusal, to be thrown. @param {Pick<Answer, 'status' | 'body'>} answer */
export const refusal = ({ status, body }) => new (status === 401 ? LoggedOut : Trouble)(inWords(body));

/**
 * What was asked for; a refusal is Trouble. The arguments are those of `call`.
 * @param {Parameters<typeof call>} asked
 */
export async function ask(...asked) {
  const answer = await call(...asked);
  if (!answer.ok) throw refusal(answer);
  return answer.body;
}

/** Whether there is nothing to say of this error: nobody waits, or the reader is asked to log in. @param {unknown} error */
export function isSettled(error) {
  const isOver = error instanceof LoggedOut && toLogIn;
  if (isOver) isOver();
  return isOver || error instanceof Forgotten;
}

/**
 * Does this and shows what goes wrong, with a way to try again.
 * @param {() => unknown} work
 * @param {(nodes: Children) => void} [shown] where it is shown
 */
export async function attempt(work, shown = show) {
  try {
    await work();
  } catch (error) {
    if (isSettled(error)) return;
    const words = error instanceof Trouble ? error.message : t('error.page');
    shown(
      card({ headline: t('error.headline') }, note(words), row(button(t('try_again'), () => attempt(work, shown)))),
    );
    if (!(error instanceof Trouble)) throw error;
  }
}
