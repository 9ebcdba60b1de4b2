// The waiting page: takes a place in line, shows it, and goes in when it is time.
//
// Everything shown derives from `view`, and `view.state` decides what is done next (see
// `steps`). One tab leads: it alone calculates and asks the server, and the others show
// what it learns. The place itself is in cookies that no script can read.

import { hear, now } from './clock.js';
import { buttons, logIn, render, ui } from './room/face.js';
import { solve } from './solve.js';
import { lang, t } from './words.js';

/** @typedef {import('./room/face.js').View} View */
/** @typedef {{ code?: string, leave?: boolean }} Action */

const { show } = ui.room.dataset;
const base = `/room/${show}`;
const name = `onsale-room-${show}`;
const query = new URLSearchParams(location.search);
const seats = ownPath(query.get('return') ?? '') ?? `/shows/${show}/seats`;

const REQUEST_MS = 15_000;
const LONGEST_BACK_OFF_MS = 60_000;
const SILENCE_MS = 3_000;
/** Long enough to hear whose turn it is, and too short to lose a seat by it. */
const GO_ON_MS = 1_500;

// What a reload of this tab should know: how many were ahead at `first`, the fan code that
// was used, and whether the visitor has left. Without storage it forgets just that.
/** @type {{ first?: number, code?: string, left?: boolean }} */
let memory = {};
try {
  memory = JSON.parse(sessionStorage.getItem(name) ?? '{}');
} catch {}

/** @param {typeof memory} change */
function remember(change) {
  Object.assign(memory, change);
  try {
    sessionStorage.setItem(name, JSON.stringify(memory));
  } catch {}
}

/** @type {View} */
let view = {
  state: memory.left ? 'left' : 'looking',
  due: memory.left ? Infinity : 0,
  seats,
  first: memory.first,
  code: memory.code,
};

/** Changes what is shown, here and in the other tabs. @param {string} state @param {Partial<View>} [next] */
function become(state, next) {
  if (!leading) return;
  const { placed, first, code, note, used } = view;
  view = { placed, first, code, note, used, seats, due: 0, ...next, state };
  channel?.postMessage({ view });
  shown();
}

/** Once a second, and whenever there is something new. */
function shown() {
  if (render(view)) remember({ left: view.state === 'left' });
}

// What the leading tab does.

/** @type {object | null} */
let leading = null;
/** @type {Action | null} */
let action = null;
let wake = () => {};
// Kept until it is answered: sent again, the same solution finds the same place.
/** @type {string | null} */
let solved = null;
let joinedJustNow = false;
let refusals = 0;
let failures = 0;

/** @type {Record<string, () => unknown>} */
const steps = {
  looking: look,
  working: join,
  refused: () => become('working'),
  prequeue: () => (action?.code ? become('working', { code: action.code }) : look()),
  waiting: look,
  door: enter,
  admitted: enter,
  turn: goOn,
  inside: () => (action?.leave ? leave() : look()),
  left: () => become('working'),
  sold_out: look,
  closed: look,
};

async function lead() {
  const me = {};
  leading = me;
  if (view.state === 'working') become('looking');
  if (view.state === 'turn') view.due = 0;
  while (leading === me) {
    await dueOrAction();
    if (leading !== me) return;
    try {
      const step = steps[view.state]();
      action = null;
      await step;
      failures = 0;
    } catch (error) {
      const { message, lost, retryAfterMs } = /** @type {Trouble} */ (error);
      become(view.state, { ...view, trouble: message, lost, due: Date.now() + backOff(++failures, retryAfterMs) });
    }
  }
}

/** When the next step is due. A turn that passed while nobody looked is not taken again before somebody does. */
const dueAt = () => (view.used && document.hidden && /door|admitted/.test(view.state) ? Infinity : view.due);

function dueOrAction() {
  return new Promise((resolve) => {
    /** @type {ReturnType<typeof setTimeout>} */
    let timer;
    wake = () => {
      clearTimeout(timer);
      const wait = dueAt() - Date.now();
      if (wait <= 0 || action || !leading) resolve(undefined);
      else if (wait < Infinity) timer = setTimeout(wake, wait);
    };
    wake();
  });
}

/** @param {number} failures @param {number} [retryAfterMs] */
function backOff(failures, retryAfterMs = 0) {
  const longest = Math.min(LONGEST_BACK_OFF_MS, 1_000 * 2 ** failures);
  const wait = longest * (0.5 + Math.random() / 2);
  return Math.max(wait, Math.min(retryAfterMs, 600_000) * (1 + Math.random() / 10));
}

async function look() {
  const { status, body } = await call('GET', '/status');
  if (status !== 200) throw new Trouble(inWords(body));
  learn(body);
}

/** @param {any} told the status of the visitor */
function learn(told) {
  const { state, ahead, opens_at, expires_at, refresh_after_ms = 10_000 } = told;
  if (state === 'open' || state === 'join') {
    if (!joinedJustNow) return become('working', { placed: false });
    joinedJustNow = false;
    return refuse(t('room.no_cookies'));
  }
  if (!(state in steps)) throw new Trouble(t('room.refused'));
  joinedJustNow = false;
  const first = ahead === undefined ? undefined : Math.max(ahead, view.first ?? 0);
  if (first !== memory.first) remember({ first });
  const seen = Date.now();
  const isTurn = state === 'admitted' && view.state !== state;
  const due = isTurn ? seen : seen + Math.min(Math.max(refresh_after_ms, 1_000), 600_000);
  const placed = view.placed || /prequeue|waiting|door|admitted|inside/.test(state);
  become(state, { told, first, opens: Date.parse(opens_at), expires: Date.parse(expires_at), placed, due });
}

/** @param {string} detail @param {boolean} [toLogIn] */
function refuse(detail, toLogIn) {
  ui.code.value = '';
  become('refused', { detail, placed: false, code: undefined, due: Infinity });
  if (toLogIn) logIn(true);
}

async function join() {
  solved ??= await solveChallenge();
  const code = view.code || ui.code.value.trim() || undefined;
  const { status, body } = await call('POST', '/join', { altcha: solved, fan_code: code, captcha: await proof() });
  solved = null;
  if (status < 300) {
    refusals = 0;
    joinedJustNow = true;
    remember({ code });
    return become('looking', { placed: true, code, first: undefined, note: undefined, used: false });
  }
  if (status === 401) return refuse(t('room.account'), true);
  // A challenge may have run out on the way, so the first refusal is not worth a word.
  if (++refusals < 2) return become('working');
  refusals = 0;
  if (view.placed) become('looking', { note: inWords(body), code: undefined });
  else refuse(inWords(body));
}

/** What a CAPTCHA says of the visitor, in rooms that have one. */
async function proof() {
  const { captcha: key } = ui.room.dataset;
  if (!key) return undefined;
  const { captcha } = await import('./room/captcha.js');
  return captcha(key, ui.meter).catch(() => {
    throw new Trouble(t('room.captcha'));
  });
}

async function solveChallenge() {
  const { status, body: challenge } = await call('GET', '/challenge');
  if (status !== 200) {
    // The line may have ended meanwhile: the next look says so.
    become('looking');
    throw new Trouble(inWords(challenge));
  }
  const tell = (/** @type {number} */ tried) => become('working', { tried });
  tell(0);
  return solve(challenge, tell);
}

async function enter() {
  const { status, body } = await call('POST', '/enter');
  const expires = Date.parse(body.expires_at);
  if (status === 200) become('turn', { expires, used: true, due: Date.now() + GO_ON_MS });
  else if (status !== 425) refuse(inWords(body));
  else if (body.state) learn(body);
  else become('door', { ...view, due: Date.now() + 5_000 });
}

/**
 * From the turn to the seats, once somebody looks. Another tab that shows the turn goes on by
 * its button.
 */
function goOn() {
  if (action?.leave) return leave();
  const left = (view.expires ?? 0) - now();
  if (left <= 0) return look();
  if (document.hidden) return become('turn', { ...view, due: Date.now() + left });
  become('turn', { ...view, due: Date.now() + 10_000 });
  location.assign(seats);
}

async function leave() {
  const { status, body } = await call('POST', '/leave');
  if (status >= 300) throw new Trouble(inWords(body));
  view = { state: '', seats, due: 0 };
  become('left', { due: Infinity });
}

/** Something that may pass: it is shown, and tried again later. */
class Trouble extends Error {
  /** @param {string} message @param {{ lost?: boolean, retryAfterMs?: number }} [more] */
  constructor(message, { lost, retryAfterMs } = {}) {
    super(message);
    this.lost = lost;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A refusal in words: those of the server are English. @param {{ detail?: string }} problem */
const inWords = ({ detail }) => (lang === 'en' && detail) || t('room.refused');

/**
 * The answer and its JSON. No answer, a busy server and a failing one are Trouble.
 * @param {string} method @param {string} path @param {object} [body]
 * @returns {Promise<{ status: number, body: any }>}
 */
async function call(method, path, body) {
  const headers = { Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }) };
  const signal = AbortSignal.timeout?.(REQUEST_MS);
  const asked = Date.now();
  let response;
  try {
    response = await fetch(base + path, {
      method,
      headers,
      body: body && JSON.stringify(body),
      cache: 'no-store',
      signal,
    });
  } catch {
    throw new Trouble(view.placed ? t('room.lost.kept') : t('room.lost'), { lost: true });
  }
  hear(response, asked);
  const { status } = response;
  if (status === 429 || status >= 500) {
    const after = response.headers.get('Retry-After') ?? '';
    const retryAfterMs = Number(after) * 1_000 || Date.parse(after) - now() || 0;
    throw new Trouble(status === 429 ? t('room.busy') : t('room.silent'), { retryAfterMs });
  }
  return { status, body: (await response.json().catch(() => null)) ?? {} };
}

/** A path on this site, or undefined: nobody is sent anywhere else from here. @param {string} path */
function ownPath(path) {
  const isPath = /^\/(?!\/)[^\\]*$/.test(path);
  return isPath && new URL(path, location.href).origin === location.origin ? path : undefined;
}

// Which tab leads.

const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : null;
/** @type {AbortController | null} */
let waitingToLead = null;
let heard = false;

/** Leads until the tab is closed or another one takes over; then waits for the next time. @returns {Promise<void>} */
async function takeTurnsLeading(steal = false) {
  if (!navigator.locks) return lead();
  waitingToLead?.abort();
  const mine = new AbortController();
  waitingToLead = mine;
  const options = steal ? { steal } : { signal: mine.signal };
  try {
    await navigator.locks.request(name, options, lead);
  } catch {
    // Another tab took over, or this one asked anew.
  }
  if (mine.signal.aborted) return;
  leading = null;
  wake();
  // What the other tab said meanwhile was not heard.
  channel?.postMessage({ wish: true });
  takeTurnsLeading();
}

/** The tab that somebody looks at should lead: browsers slow the hidden ones down. */
function askToLead() {
  if (leading || !channel) return;
  heard = false;
  channel.postMessage({ wish: true });
  setTimeout(() => {
    if (!heard && !leading && !document.hidden) takeTurnsLeading(true);
  }, SILENCE_MS);
}

/** @param {MessageEvent} message */
function onMessage({ data }) {
  if (leading) {
    if (data.wish) channel?.postMessage({ view, free: document.hidden && view.state !== 'working' });
    if (data.action) act(data.action);
    return;
  }
  if (!data.view) return;
  heard = true;
  view = { ...data.view, seats };
  shown();
  if (data.free && !document.hidden) takeTurnsLeading(true);
}

/** What the visitor wants, done by the tab that leads. @param {Action} wanted */
function act(wanted) {
  if (!leading) return channel?.postMessage({ action: wanted });
  if (wanted.code && view.state === 'working') view.code = wanted.code;
  else action = wanted;
  wake();
}

// The beginning.

buttons({ act, code: query.get('code') ?? '' });
document.addEventListener('visibilitychange', () => {
  shown();
  if (document.hidden) return;
  if (view.state === 'turn') view.due = 0;
  wake();
  askToLead();
});
addEventListener('online', () => {
  if (view.lost) view.due = Math.min(view.due, Date.now() + 2_000 * Math.random());
  wake();
});
// Somebody came back from the seats to a page that the browser had kept.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) become('looking');
  wake();
});
channel?.addEventListener('message', onMessage);
setInterval(shown, 1_000);
shown();
takeTurnsLeading();
askToLead();
