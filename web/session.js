// Asks who the reader is, in place on every page: a card that a page puts where it likes.
//
// A name and an email address are enough to buy. An address that has an account already gets
// a link by mail instead, and the page waits for it without losing what is on it.

import { answered, keptKey } from './kept-key.js';
import { reader } from './own.js';
import { ask, call, card, el, field, form, inWords, refusal, row, show, Trouble } from './page.js';
import { lang, learnFor, t } from './words.js';

export { logOut, reader } from './own.js';

// A page loads this module when it needs it, so its words come with it.
await learnFor('session');

/** @typedef {import('./own.js').Account} Account */
/** @typedef {{ why?: string, done: (me: Account) => unknown, known?: boolean }} Question */

/** How often a page asks whether the mailed link was followed. */
const LINK_MS = 3_000;
/** Where this tab keeps the key of a registration that was not answered yet. */
const REGISTER = 'register';

/** A button that looks like a link. @param {string} label @param {() => unknown} press */
const turn = (label, press) => el('button', { type: 'button', class: 'switch', click: press }, label);

const emailField = (value = '') =>
  field(t('session.email'), {
    id: 'email',
    type: 'email',
    autocomplete: 'email',
    maxlength: 254,
    spellcheck: 'false',
    value,
  });

/**
 * A card that asks who the reader is, and calls `done` with their account once there is a
 * session. It changes in place, so a page may put it anywhere, a dialog included.
 * @param {Question} question
 */
export function whoAreYou(question) {
  const holder = el('div', { class: 'who' });
  /** @param {HTMLElement} next */
  const put = (next) => {
    holder.replaceChildren(next);
    next.querySelector('h2')?.focus();
  };
  holder.append(question.known ? logIn(question, put) : introduce(question, put));
  return holder;
}

/** @param {Question} question */
async function enter({ done }) {
  const me = await reader();
  if (!me || me.kept) throw new Trouble(t('session.no_cookies'));
  await done(me);
}

/**
 * A name and an address.
 * @param {Question} question
 * @param {(next: HTMLElement) => void} put
 * @param {string} [typed] the address, where it was typed before
 */
function introduce(question, put, typed) {
  /** @param {Record<string, string>} values */
  const register = async ({ name, email }) => {
    const key = keptKey(REGISTER, JSON.stringify([name, email]));
    const answer = await call('POST', '/accounts', { email, name, role: 'buyer', language: lang }, key);
    answered(REGISTER);
    if (answer.ok) return enter(question);
    if (answer.body.type !== 'urn:onsale:email_taken') throw new Trouble(inWords(answer.body));
    // The link is on its way already.
    put(inbox(question, put, email, t('session.taken', { email })));
  };
  return card(
    { headline: t('session.who') },
    question.why && el('p', {}, question.why),
    form(
      t('session.go_on'),
      [
        field(t('session.name'), { id: 'name', autocomplete: 'name', maxlength: 100 }),
        emailField(typed),
        el('p', { class: 'hint' }, t('session.no_password_needed')),
      ],
      register,
    ),
    row(turn(t('session.have_account'), () => put(logIn(question, put)))),
  );
}

/**
 * By password, or by a link to an address.
 * @param {Question} question
 * @param {(next: HTMLElement) => void} put
 * @param {string} [typed]
 */
function logIn(question, put, typed) {
  /** @param {Record<string, string>} values */
  const byPassword = async ({ email, password }) => {
    const { ok, body } = await call('POST', '/sessions', { email, password });
    if (!ok) throw new Trouble(body.type === 'urn:onsale:unauthenticated' ? t('session.wrong') : inWords(body));
    await enter(question);
  };
  const made = card(
    { headline: t('session.log_in') },
    question.why && el('p', {}, question.why),
    form(
      t('session.log_in'),
      [
        emailField(typed),
        field(t('session.password'), {
          id: 'password',
          type: 'password',
          autocomplete: 'current-password',
          maxlength: 128,
        }),
      ],
      byPassword,
    ),
    row(
      turn(t('session.by_link'), () => put(askLink(question, put, addressIn(made)))),
      turn(t('session.no_account'), () => put(introduce(question, put, addressIn(made)))),
    ),
  );
  return made;
}

/** @param {HTMLElement} card */
const addressIn = (card) => card.querySelector('input')?.value ?? '';

/**
 * @param {Question} question
 * @param {(next: HTMLElement) => void} put
 * @param {string} typed
 */
function askLink(question, put, typed) {
  return card(
    { headline: t('session.link_headline') },
    form(t('session.send_link'), [emailField(typed)], async ({ email }) => {
      await sendLink(email);
      put(inbox(question, put, email, t('session.link_sent', { email })));
    }),
    row(turn(t('session.back'), () => put(logIn(question, put, typed)))),
  );
}

/** @param {string} email */
const sendLink = (email) => ask('POST', '/session-links', { email });

/**
 * Waits for the link that was mailed: once it is followed in this browser the page goes on.
 * @param {Question} question
 * @param {(next: HTMLElement) => void} put
 * @param {string} email
 * @param {string} words
 */
function inbox(question, put, email, words) {
  const made = card(
    { headline: t('session.inbox'), kind: 'good' },
    el('p', {}, words),
    el('p', { class: 'quiet' }, t('session.inbox_waits')),
    row(turn(t('session.with_password'), () => put(logIn(question, put, email)))),
  );
  const timer = setInterval(async () => {
    if (document.hidden) return;
    if (!made.isConnected) return clearInterval(timer);
    const me = await reader().catch(() => undefined);
    if (!me || me.kept || !made.isConnected) return;
    clearInterval(timer);
    await question.done(me);
  }, LINK_MS);
  return made;
}

/** Asks for a link by which a password is set. */
export const linkForm = () =>
  form(t('session.send_link'), [emailField()], async ({ email }) => {
    const answer = await call('POST', '/password-resets', { email });
    if (!answer.ok) throw refusal(answer);
    show(
      card(
        { headline: t('session.inbox'), kind: 'good' },
        el('p', {}, t('session.reset_sent', { email })),
        el('p', { class: 'quiet' }, t('session.spam')),
      ),
      { acted: true },
    );
  });
