// The waiting page: takes a place in line, shows it, and goes in when it is time.
//
// Everything shown derives from `view`, and `view.state` decides what is done next (see
// `steps`). One tab leads: it alone calculates and asks the server, and the others show
// what it learns. The place itself is in cookies that no script can read.

const ui = Object.fromEntries([...document.querySelectorAll('[id]')].map((it) => [it.id, it]));
const { show } = ui.room.dataset;
const base = `/room/${show}`;
const name = `onsale-room-${show}`;
const workUrl = new URL(`work.js${new URL(import.meta.url).search}`, import.meta.url);
const query = new URLSearchParams(location.search);
const returnPath = ownPath(query.get('return') ?? '');
const eventTitle = document.title;
const { lang } = document.documentElement;
const locale = navigator.languages?.find((it) => it.startsWith(lang)) ?? lang;
const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;

const TRIES = 65_536;
const REQUEST_MS = 15_000;
const LONGEST_BACK_OFF_MS = 60_000;
const HIDDEN_TURN_POLL_MS = 15_000;
const SILENCE_MS = 3_000;

// What a reload of this tab should know: how many were ahead at `first`, the fan code that
// was used, and whether the visitor has left. Without storage it forgets just that.
let memory = {};
try {
  memory = JSON.parse(sessionStorage.getItem(name)) ?? {};
} catch {}

function remember(change) {
  Object.assign(memory, change);
  try {
    sessionStorage.setItem(name, JSON.stringify(memory));
  } catch {}
}

let view = { state: 'looking', due: 0, first: memory.first, code: memory.code };
if (memory.left) view = { state: 'left', due: Infinity };

/** Changes what is shown, here and in the other tabs. */
function become(state, next) {
  if (!leading) return;
  const { placed, first, code, note, draw } = view;
  view = { placed, first, code, note, draw, due: 0, ...next, state };
  channel?.postMessage({ view });
  render();
}

// What the leading tab does.

let leading = null;
let action = null;
let wake = () => {};
// Kept until it is answered: sent again, the same solution finds the same place.
let solved = null;
let joinedJustNow = false;
let refusals = 0;
let failures = 0;
let clockAhead = 0;

const steps = {
  looking: look,
  working: join,
  refused: () => become('working'),
  prequeue: () => (action?.code ? become('working', { code: action.code }) : look()),
  waiting: look,
  admitted: () => (document.hidden ? look() : enter()),
  turn() {
    if (action?.leave) return leave();
    return Date.now() < view.expires ? enter() : become('looking');
  },
  left: () => become('working'),
  sold_out: look,
  closed: look,
};

async function lead() {
  const me = {};
  leading = me;
  if (view.state === 'working') become('looking');
  while (leading === me) {
    await dueOrAction();
    if (leading !== me) return;
    try {
      const step = steps[view.state]();
      action = null;
      await step;
      failures = 0;
    } catch (error) {
      const due = Date.now() + backOff(++failures, error.retryAfterMs);
      become(view.state, { ...view, trouble: error.message, lost: error.lost, due });
    }
  }
}

/** When the next step is due. A hidden page neither takes nor keeps a turn: nobody is looking. */
function dueAt() {
  const { state, due, seen, expires } = view;
  if (state === 'admitted' && document.hidden) return Math.max(due, seen + HIDDEN_TURN_POLL_MS);
  if (state === 'turn') return document.hidden ? expires : Math.min(due, expires);
  return due;
}

function dueOrAction() {
  return new Promise((resolve) => {
    let timer;
    wake = () => {
      clearTimeout(timer);
      const left = dueAt() - Date.now();
      if (left <= 0 || action || !leading) resolve();
      else if (left < Infinity) timer = setTimeout(wake, left);
    };
    wake();
  });
}

function backOff(failures, retryAfterMs = 0) {
  const longest = Math.min(LONGEST_BACK_OFF_MS, 1_000 * 2 ** failures);
  const wait = longest * (0.5 + Math.random() / 2);
  return Math.max(wait, Math.min(retryAfterMs, 600_000) * (1 + Math.random() / 10));
}

async function look() {
  const { status, body } = await call('GET', '/status');
  if (status !== 200) throw new Trouble(body.detail);
  learn(body);
}

function learn({ state, position, ahead, wait_seconds: wait, waitlist, opens_at, draw, refresh_after_ms = 10_000 }) {
  const now = Date.now();
  if (state === 'open' || state === 'join') {
    if (!joinedJustNow) return become('working', { placed: false, draw });
    joinedJustNow = false;
    return refuse('Your browser did not keep your place. Allow cookies for this site, then try again.');
  }
  if (!(state in words)) throw new Trouble();
  joinedJustNow = false;
  const first = ahead === undefined ? undefined : Math.max(ahead, view.first ?? 0);
  if (first !== memory.first) remember({ first });
  const isTurn = state === 'admitted' && view.state !== state;
  const due = isTurn ? now : now + Math.min(Math.max(refresh_after_ms, 1_000), 600_000);
  const placed = view.placed || /prequeue|waiting|admitted/.test(state);
  const opens = opens_at && localTime(opens_at);
  become(state, { position, ahead, first, wait, opens, placed, seen: now, due, waitlist, draw });
}

function refuse(detail) {
  ui.code.value = '';
  become('refused', { detail, placed: false, code: undefined, due: Infinity });
}

async function join() {
  solved ??= await solveChallenge();
  const code = view.code || ui.code.value.trim() || undefined;
  const { status, body } = await call('POST', '/join', { altcha: solved, fan_code: code });
  solved = null;
  if (status < 300) {
    refusals = 0;
    joinedJustNow = true;
    remember({ code });
    return become('looking', { placed: true, code, first: undefined, note: undefined });
  }
  // A challenge may have run out on the way, so the first refusal is not worth a word.
  if (++refusals < 2) return become('working');
  refusals = 0;
  if (view.placed) become('looking', { note: body.detail, code: undefined });
  else refuse(body.detail);
}

async function solveChallenge() {
  const { status, body: challenge } = await call('GET', '/challenge');
  if (status !== 200) throw new Trouble(challenge.detail);
  const began = performance.now();
  const tell = (tried) => become('working', { tried });
  tell(0);
  let found;
  try {
    found = await solveInWorker(challenge.parameters, tell);
  } catch {
    found = await solveInSlices(challenge.parameters, tell);
  }
  const solution = { ...found, time: Math.round(performance.now() - began) };
  return btoa(JSON.stringify({ challenge, solution }));
}

function solveInWorker(parameters, tell) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workUrl, { type: 'module' });
    worker.onmessage = ({ data: { tried, found } }) => {
      if (tried) return tell(tried);
      worker.terminate();
      resolve(found);
    };
    worker.onerror = reject;
    worker.postMessage(parameters);
  });
}

/** Where there are no workers: between two slices the page can be used. */
async function solveInSlices(parameters, tell) {
  const { solve } = await import(workUrl);
  const slices = solve(parameters);
  for (let step = slices.next(); ; step = slices.next()) {
    if (step.done) return step.value;
    tell(step.value);
    await new Promise((next) => setTimeout(next));
  }
}

async function enter() {
  const { status, body } = await call('POST', '/enter');
  const now = Date.now();
  if (status === 200) {
    const isNew = view.state === 'admitted';
    const expires = localTime(body.expires_at);
    const due = now + Math.max(5_000, ((expires - now) * 2) / 3);
    become('turn', { expires, due });
    if (isNew && returnPath) location.replace(returnPath);
  } else if (status === 425) {
    if (body.state) learn(body);
    else become('waiting', { ...view, due: now + 5_000 });
  } else {
    refuse(body.detail);
  }
}

async function leave() {
  const { status, body } = await call('POST', '/leave');
  if (status >= 300) throw new Trouble(body.detail);
  view = {};
  become('left', { due: Infinity });
}

/** Something that may pass: it is shown, and tried again later. */
class Trouble extends Error {
  constructor(message = 'The room gave an answer that this page does not understand.', more) {
    super(message);
    Object.assign(this, more);
  }
}

/** The answer and its JSON. No answer, a busy server and a failing one are Trouble. */
async function call(method, path, body) {
  const headers = { Accept: 'application/json', ...(body && { 'Content-Type': 'application/json' }) };
  const signal = AbortSignal.timeout?.(REQUEST_MS);
  const kept = view.placed ? '; your place is kept' : '';
  let response;
  try {
    response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body), cache: 'no-store', signal });
  } catch {
    throw new Trouble(`We lost the connection${kept}.`, { lost: true });
  }
  const { status } = response;
  const sent = Date.parse(response.headers.get('Date'));
  if (sent) clockAhead = Date.now() - sent;
  if (status === 429 || status >= 500) {
    const after = response.headers.get('Retry-After');
    const retryAfterMs = after * 1_000 || Date.parse(after) - Date.now() || 0;
    const what = status === 429 ? 'Many people are asking right now' : 'The room does not answer';
    throw new Trouble(`${what}${kept}.`, { retryAfterMs });
  }
  return { status, body: (await response.json().catch(() => null)) ?? {} };
}

/** A time of the server by the clock of this device, which may be wrong by seconds. */
const localTime = (text) => Date.parse(text) + (Math.abs(clockAhead) > 2_000 ? clockAhead : 0);

/** A path on this site, or undefined: nobody is sent anywhere else from here. */
function ownPath(path) {
  const isPath = /^\/(?!\/)[^\\]*$/.test(path);
  return isPath && new URL(path, location).origin === location.origin ? path : undefined;
}

// Which tab leads.

const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : null;
let waitingToLead = null;
let heard = false;

/** Leads until the tab is closed or another one takes over; then waits for the next time. */
async function takeTurnsLeading(steal = false) {
  if (!navigator.locks) return lead();
  waitingToLead?.abort();
  const mine = new AbortController();
  waitingToLead = mine;
  const options = steal ? { steal } : { signal: mine.signal };
  try {
    await navigator.locks.request(name, options, lead);
  } catch { /* Another tab took over, or this one asked anew. */ }
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

function onMessage({ data }) {
  if (leading) {
    if (data.wish) channel.postMessage({ view, free: document.hidden && view.state !== 'working' });
    if (data.action) act(data.action);
    return;
  }
  if (!data.view) return;
  heard = true;
  view = data.view;
  render();
  if (data.free && !document.hidden) takeTurnsLeading(true);
}

/** What the visitor wants, done by the tab that leads. */
function act(wanted) {
  if (!leading) return channel?.postMessage({ action: wanted });
  if (wanted.code && view.state === 'working') view.code = wanted.code;
  else action = wanted;
  wake();
}

// What is shown.

const number = (n) => n.toLocaleString(locale);

/** "about 3 to 6 minutes" */
function inWords({ p50, p90 }) {
  const [unit, seconds, step] = p90 > 5_400 ? ['hours', 3_600, 0.5] : ['minutes', 60, 1];
  const from = Math.round(p50 / seconds / step) * step;
  const to = Math.ceil(p90 / seconds / step) * step;
  if (to <= 1) return 'less than a minute';
  if (from < 1) return `less than ${to} ${unit}`;
  return from < to ? `about ${from} to ${to} ${unit}` : `about ${to} ${unit}`;
}

function clock(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  if (seconds > 172_800) return `${Math.floor(seconds / 86_400)} days`;
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60];
  const shown = parts.slice(seconds < 3_600 ? 1 : 0);
  return shown.map((n) => String(Math.floor(n)).padStart(2, '0')).join(':');
}

const moment = (ms, dateStyle) => new Date(ms).toLocaleString(locale, { dateStyle, timeStyle: 'short' });

const words = {
  looking: () => ({ headline: 'One moment', lead: 'We are looking up your place.' }),
  working: ({ tried = 0 }) => ({
    badge: 'Almost in line',
    headline: 'A short calculation',
    lead: 'Your device solves a small puzzle, which keeps robots out. It takes a few seconds, and you need not do anything.',
    bar: ['Possible answers tried', tried, TRIES],
    fan: true,
  }),
  refused: ({ detail }) => ({
    headline: 'That did not work',
    lead: detail ?? 'The room did not let you in.',
    button: ['Try again', {}],
    fan: true,
  }),
  prequeue({ opens, position, code }) {
    const left = opens - Date.now();
    return {
      badge: 'You are taking part',
      headline: left <= 0 ? 'The sale is opening' : 'You are here in time',
      lead: opens ? `It opens at ${moment(opens, 'medium')}, by your clock.` : 'The sale has not opened yet.',
      next: position
        ? `You are number ${number(position)}. The line begins to move when the sale opens.`
        : 'Everybody who is here before opening takes part in one draw, and the draw decides the order. Arriving earlier gives no advantage, and neither does reloading.',
      stub: opens && ['Opens in', clock(left)],
      fan: !code,
    };
  },
  waiting({ position, ahead, first, wait }) {
    const known = ahead !== undefined;
    const people = ahead === 1 ? '1 person' : known && `${number(ahead)} people`;
    return {
      badge: 'You are in line',
      headline: !known ? 'Your place is being drawn' : ahead ? `${people} ahead of you` : 'You are next',
      lead: wait ? `Your wait: ${inWords(wait)}.` : known ? (ahead ? 'The line stands still for the moment.' : 'You go in as soon as there is room.') : 'This takes a few seconds.',
      bar: known && ['Your way to the front', first - ahead, first || 1],
      next: 'When it is your turn, this page lets you in by itself. You need not reload it.',
      stub: position && ['Your place', number(position)],
    };
  },
  admitted: () => ({ headline: 'It is your turn', lead: 'We are letting you in. This can take a few seconds.' }),
  turn: ({ expires }) => ({
    badge: 'You are in',
    headline: 'It is your turn',
    lead: `You can buy until ${moment(expires)}. While you look at this page, your time is extended by itself.`,
    next: 'If you have what you came for, leave, and the next person goes in.',
    stub: ['Time left', clock(expires - Date.now())],
    link: returnPath && ['Continue', returnPath],
    button: ['Leave', { leave: true }],
  }),
  left: () => ({
    headline: 'You have left',
    lead: 'Your slot goes to the next person in line. If you join again, you go in after those who wait now.',
    button: ['Join again', {}],
  }),
  sold_out: ({ waitlist }) => ({
    headline: 'Sold out',
    lead: waitlist ? 'Tickets that come back are offered to the waitlist.' : 'All tickets are sold.',
    link: waitlist && ['Join the waitlist', `/shows/${show}`],
  }),
  closed: () => ({ headline: 'The room is closed', lead: 'This page looks again now and then.' }),
};

let shownState = null;
let pressed = {};

function text(id, value = '') {
  if (ui[id].textContent !== value) ui[id].textContent = value;
}

function render() {
  const { badge, headline, lead, next, bar, stub, link, button, fan } = words[view.state](view);
  const isNew = shownState !== view.state;
  shownState = view.state;
  if (isNew) remember({ left: view.state === 'left' });
  ui.room.dataset.state = view.state;
  ui.card.hidden = false;
  text('badge', badge);
  text('headline', headline);
  text('lead', lead);
  text('next', next);
  ui.meter.hidden = !bar;
  if (bar) [ui.label.textContent, ui.bar.value, ui.bar.max] = bar;
  ui.stub.hidden = !stub;
  if (stub) [ui.what.textContent, ui.number.textContent] = stub;
  ui.link.hidden = !link;
  if (link) [ui.link.textContent, ui.link.href] = link;
  const hadFocus = document.activeElement === ui.button;
  ui.button.hidden = !button;
  if (button) [ui.button.textContent, pressed] = button;
  ui.fan.hidden = !fan;
  ui.check.hidden = !view.draw;
  const { trouble, note, due } = view;
  ui.notice.hidden = !trouble && !note;
  text('notice', trouble ? `${trouble} Trying again in ${clock(due - Date.now())}.` : note);
  document.title = [title(headline, stub), eventTitle].filter(Boolean).join(' · ');
  announce(headline, lead);
  if (isNew && (view.state === 'turn' || hadFocus) && !document.hidden) ui.headline.focus();
}

/** What somebody in another tab sees. It blinks when their turn has come. */
function title(headline, stub) {
  const { state } = view;
  if (state === 'prequeue' || state === 'waiting') return stub?.join(' ');
  const isDark = state === 'admitted' && document.hidden && !calm && Date.now() % 2_000 < 1_000;
  return /admitted|turn|sold_out/.test(state) && !isDark && headline;
}

let lastSaid = { key: '', lead: '', at: 0 };

/** Tells listeners another state (a turn once in), half as many ahead, or another wait after a minute. */
function announce(headline, lead) {
  const { state, ahead, trouble, note } = view;
  const key = [state, ahead && Math.floor(Math.log2(ahead)), trouble, note].join();
  const news = state === 'waiting' && lead !== lastSaid.lead && Date.now() - lastSaid.at > 60_000;
  const isPassing = !trouble && (state === 'looking' || (state === 'admitted' && !document.hidden));
  if (isPassing || (key === lastSaid.key && !news)) return;
  lastSaid = { key, lead, at: Date.now() };
  text('said', [`${headline}.`, lead, trouble ?? note].join(' '));
}

// The beginning.

ui.code.value = query.get('code') ?? '';
if (ui.code.value) ui.summary.textContent = `Fan code ${ui.code.value}`;
ui.form.addEventListener('submit', (event) => {
  event.preventDefault();
  const code = ui.code.value.trim();
  if (code) act({ code });
  ui.fan.open = false;
});
ui.button.addEventListener('click', () => act(pressed));
ui.check.addEventListener('toggle', async () => {
  if (!ui.check.open) return;
  const { body } = await call('GET', '/fairness').catch(() => ({ body: {} }));
  const { ticket, draw } = body.yours ?? {};
  text('command', ticket ? `onsale verify-draw ${ticket} --draw ${draw} --fairness fairness.json` : 'Not to be had at the moment. Close this and open it again.');
});
document.addEventListener('visibilitychange', () => {
  render();
  if (document.hidden) return;
  wake();
  askToLead();
});
window.addEventListener('online', () => {
  if (view.lost) view.due = Math.min(view.due, Date.now() + 2_000 * Math.random());
  wake();
});
channel?.addEventListener('message', onMessage);
setInterval(render, 1_000);
render();
takeTurnsLeading();
askToLead();
