// What the pages share: words in the reader's language, elements, the API, forms.
//
// Whatever comes from the API is shown as text, never read as HTML.

export const { lang } = document.documentElement;
/** The sentence in the language of the page. */
export const t = (english, german) => (lang === 'de' ? german : english);
const locale = navigator.languages?.find((it) => it.startsWith(lang)) ?? lang;
const REQUEST_MS = 20_000;

/** The parts of the address after its first word, as they stand in it. */
export const [, ...address] = location.pathname.slice(1).split('/');

// Elements.

const byId = (id) => document.getElementById(id);

/** An element. A function among its attributes listens; what is not there is left out. */
export function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (typeof value === 'function') made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter((it) => it !== undefined && it !== null && it !== false));
  return made;
}

export function card({ badge, headline, kind = '' }, ...children) {
  const title = el('h2', { tabindex: -1 }, headline);
  return el('section', { class: `ticket ${kind}` }, el('div', { class: 'body' }, badge && el('p', { class: 'badge' }, badge), title, children));
}

/** Pairs of a word and what it is. */
export const facts = (...pairs) =>
  el('dl', {}, pairs.filter(Boolean).map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]).flat());

export const button = (label, press, kind = '') => el('button', { type: 'button', class: `button ${kind}`, click: press }, label);
export const link = (label, href, kind = '') => el('a', { class: `button ${kind}`, href }, label);
export const row = (...children) => el('div', { class: 'row' }, children);
export const note = (words) => el('p', { class: 'notice', role: 'alert' }, words);

export function titled(text) {
  byId('title').textContent = text;
  document.title = text;
}

/** Shows these, and says what is new: after something that the reader did, the focus goes there. */
export function show(nodes, { acted } = {}) {
  byId('content').replaceChildren(...[nodes].flat(Infinity).filter(Boolean));
  const headline = byId('content').querySelector('h2');
  if (acted) headline?.focus();
  else if (headline) say(headline.textContent);
}

function say(words) {
  if (byId('said').textContent !== words) byId('said').textContent = words;
}

byId('content').replaceChildren(el('p', { class: 'quiet' }, t('One moment …', 'Einen Moment …')));

export const account = (...children) => byId('account').replaceChildren(...children);

// The API.

/** Something went wrong on the way; its message is for the reader. */
export class Trouble extends Error {}

/** There is no session any more; the reader is asked to log in. */
class LoggedOut extends Trouble {}

/** Nobody waits for this answer any more. */
class Forgotten extends Error {}

let forgotten = 0;
let toLogIn;

/** Whatever has been asked so far is not shown when it comes. */
export const forget = () => { forgotten++; };

/** What is done when an answer says that the session has ended. */
export const whenLoggedOut = (work) => { toLogIn = work; };

const spoken = {
  unauthenticated: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
  email_taken: 'Mit dieser E-Mail-Adresse gibt es schon ein Konto. Melden Sie sich damit an.',
  rate_limited: 'Das war zu oft in kurzer Zeit. Warten Sie ein wenig, dann versuchen Sie es noch einmal.',
  forbidden: 'Das ist mit diesem Konto nicht erlaubt.',
};

/** A refusal in words: the API's own, which are English, unless we have better ones. */
export function inWords({ type = '', detail }) {
  const code = type.replace('urn:onsale:', '');
  const known = lang === 'de' && Object.hasOwn(spoken, code) && spoken[code];
  return known || detail || t('That did not work. Try again.', 'Das hat nicht geklappt. Versuchen Sie es noch einmal.');
}

/** A name for something that should happen once, however often it is sent. */
export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((it) => it.toString(16).padStart(2, '0')).join('');

/** The answer and its JSON, refusals among them. No answer at all is Trouble. */
export async function call(method, path, body, key) {
  const before = forgotten;
  const check = () => { if (forgotten !== before) throw new Forgotten(); };
  const headers = { Accept: 'application/json' };
  if (body) headers['Content-Type'] = 'application/json';
  if (key) headers['Idempotency-Key'] = key;
  let response;
  try {
    response = await fetch(`/api/v1${path}`, { method, headers, body: body && JSON.stringify(body), cache: 'no-store', signal: AbortSignal.timeout?.(REQUEST_MS) });
  } catch {
    check();
    throw new Trouble(t('We cannot reach the server. Check your connection, then try again.', 'Der Server ist nicht erreichbar. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.'));
  }
  const told = (await response.json().catch(() => null)) ?? {};
  check();
  if (response.status >= 500) throw new Trouble(t('The service does not answer at the moment. Try again shortly.', 'Der Dienst antwortet gerade nicht. Versuchen Sie es gleich noch einmal.'));
  return { ok: response.ok, status: response.status, body: told };
}

/** A refusal, to be thrown. */
export const refusal = ({ status, body }) => new (status === 401 ? LoggedOut : Trouble)(inWords(body));

/** What was asked for; a refusal is Trouble. */
export async function ask(method, path, body, key) {
  const answer = await call(method, path, body, key);
  if (!answer.ok) throw refusal(answer);
  return answer.body;
}

/** Whether there is nothing to say of this error: nobody waits, or the reader is asked to log in. */
function isSettled(error) {
  const isOver = error instanceof LoggedOut && toLogIn;
  if (isOver) toLogIn();
  return isOver || error instanceof Forgotten;
}

/** Does this and shows what goes wrong, with a way to try again. */
export async function attempt(work) {
  try {
    await work();
  } catch (error) {
    if (isSettled(error)) return;
    const words = error instanceof Trouble ? error.message : t('This page made a mistake.', 'Diese Seite hat einen Fehler gemacht.');
    show(card({ headline: t('That did not work', 'Das hat nicht geklappt') }, note(words), row(button(t('Try again', 'Noch einmal versuchen'), () => attempt(work)))));
    if (!(error instanceof Trouble)) throw error;
  }
}

// Forms.

/** A labelled input. */
export function field(label, attributes, hint) {
  const hintId = hint && `${attributes.id}-hint`;
  return el('div', { class: 'field' },
    el('label', { for: attributes.id }, label),
    el('input', { name: attributes.id, required: true, 'aria-describedby': hintId, ...attributes }),
    hint && el('p', { class: 'hint', id: hintId }, hint));
}

export const passwordField = (label) => {
  const hint = t('At least 8 characters.', 'Mindestens 8 Zeichen.');
  const made = field(label, { id: 'password', type: 'password', autocomplete: 'new-password', minlength: 8, maxlength: 128 }, hint);
  const input = made.querySelector('input');
  const see = ({ target }) => { input.type = target.checked ? 'text' : 'password'; };
  made.append(box(t('Show the password', 'Passwort anzeigen'), { id: 'seen', change: see }));
  return made;
};

/** A box to tick, and what it stands for. */
export const box = (label, attributes) =>
  el('div', { class: 'check' },
    el('input', { type: 'checkbox', name: attributes.id, ...attributes }),
    el('label', { for: attributes.id }, label));

/**
 * Does what one of these buttons is for, once at a time, and says in `trouble` what is wrong.
 * A button that is disabled meanwhile would lose the focus.
 */
export async function press(buttons, trouble, work) {
  if (buttons.some((it) => it.hasAttribute('aria-disabled'))) return;
  buttons.forEach((it) => it.setAttribute('aria-disabled', 'true'));
  trouble.replaceChildren();
  try {
    await work();
  } catch (error) {
    if (isSettled(error)) return;
    if (!(error instanceof Trouble)) throw error;
    trouble.replaceChildren(note(error.message));
  } finally {
    buttons.forEach((it) => it.removeAttribute('aria-disabled'));
  }
}

/** A form that sends once at a time and says what is wrong where the reader looks. */
export function form(label, fields, submit, kind = '') {
  const trouble = el('div', {});
  const send = el('button', { class: `button ${kind}` }, label);
  const made = el('form', {}, fields, trouble, send);
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    press([send], trouble, () => submit(Object.fromEntries(new FormData(made))));
  });
  return made;
}

// Values.

export const number = (n) => n.toLocaleString(locale);

export function money({ amount, currency }) {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
}

/** A moment by the clocks of a place, or else by those of the reader. */
export function moment(text, timeZone) {
  const parts = { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' };
  try {
    return new Intl.DateTimeFormat(locale, { ...parts, timeZone }).format(new Date(text));
  } catch {
    return new Intl.DateTimeFormat(locale, parts).format(new Date(text));
  }
}

/** A-12-7 as people say it. */
export function place(seat) {
  const [section, line, number] = seat.split('-');
  if (line === 'GA') return t(`${section}, free choice of place`, `${section}, freie Platzwahl`);
  return t(`${section}, row ${line}, seat ${number}`, `${section}, Reihe ${line}, Platz ${number}`);
}

export const places = (seats) => el('span', {}, seats.map((it, i) => [i > 0 && el('br'), place(it.seat ?? it)]).flat());
