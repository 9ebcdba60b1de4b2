// Who is reading: logs in, registers and logs out, for pages that show what is somebody's.

import { account, ask, attempt, button, call, card, el, field, forget, form, inWords, lang, newKey, passwordField, show, t, Trouble, whenLoggedOut } from './page.js?v={{version}}';

const emailField = () => field(t('Email address', 'E-Mail-Adresse'), { id: 'email', type: 'email', autocomplete: 'username', maxlength: 254, spellcheck: 'false' });

/** The account of the session in this browser, if there is one. */
async function reader() {
  const { status, body } = await call('GET', '/me');
  if (status === 401) return undefined;
  if (status !== 200) throw new Trouble(inWords(body));
  return body;
}

let end;

/** `stop` ends what the page does by itself from now on; what it did before ends here. */
export function goOn(stop) {
  rest();
  end = stop;
}

/** Ends what the page does by itself. */
export function rest() {
  end?.();
  end = undefined;
}

/** Nothing goes on, and nothing is shown that was asked before: that was for another session. */
function startAnew() {
  rest();
  forget();
}

/**
 * Runs `page` with the reader's account, after they have logged in; `why` says what for.
 * When the session ends, so does what the page does by itself, and they may log in again.
 */
export function withReader(why, page) {
  const toLogIn = (words, acted) => {
    account();
    show(logIn(words, () => attempt(() => begin(true))), { acted });
  };
  const begin = async (acted) => {
    startAnew();
    const me = await reader();
    if (!me) return toLogIn(why, acted);
    const leave = async () => {
      await call('DELETE', '/sessions/current');
      await begin(true);
    };
    account(el('div', { class: 'row' },
      el('span', {}, t('Logged in as ', 'Angemeldet als '), el('strong', {}, me.email)),
      el('button', { type: 'button', class: 'switch', click: () => attempt(leave) }, t('Log out', 'Abmelden'))));
    await page(me, { acted });
  };
  whenLoggedOut(() => {
    startAnew();
    toLogIn(t('Your session has ended. Log in again to go on here.', 'Ihre Sitzung ist zu Ende. Melden Sie sich wieder an, dann geht es hier weiter.'), true);
  });
  return attempt(() => begin(false));
}

/** For whoever is logged in as somebody who may not see this. */
export const asSomebodyElse = () =>
  button(t('Log in as somebody else', 'Mit einem anderen Konto anmelden'), () =>
    attempt(async () => {
      await call('DELETE', '/sessions/current');
      location.reload();
    }));

/** A refusal is about the password here; nobody's session has ended. */
async function openSession(email, password) {
  const { ok, body } = await call('POST', '/sessions', { email, password });
  if (!ok) throw new Trouble(inWords(body));
}

function logIn(why, done) {
  const enter = async ({ email, password }) => {
    await openSession(email, password);
    done();
  };
  const forgotten = el('p', {}, el('button', { type: 'button', class: 'switch', click: () => show(newLink(done, why), { acted: true }) }, t('I forgot my password', 'Passwort vergessen')));
  const isNew = el('button', { type: 'button', class: 'switch', click: () => show(register(why, done), { acted: true }) }, t('I have no account yet', 'Ich habe noch kein Konto'));
  return card({ headline: t('Log in', 'Anmelden') },
    el('p', {}, why),
    form(t('Log in', 'Anmelden'), [
      emailField(),
      field(t('Password', 'Passwort'), { id: 'password', type: 'password', autocomplete: 'current-password', maxlength: 128 }),
    ], enter),
    el('p', {}, isNew), forgotten);
}

function register(why, done) {
  const key = newKey();
  const enter = async ({ email, password, name }) => {
    await ask('POST', '/accounts', { email, password, name, role: 'buyer', language: lang }, key);
    await openSession(email, password);
    done();
  };
  const back = el('button', { type: 'button', class: 'switch', click: () => show(logIn(why, done), { acted: true }) }, t('I have an account', 'Ich habe ein Konto'));
  return card({ headline: t('Create an account', 'Konto anlegen') },
    el('p', {}, why),
    form(t('Create the account', 'Konto anlegen'), [
      field(t('Your name', 'Ihr Name'), { id: 'name', autocomplete: 'name', maxlength: 100 }),
      emailField(),
      passwordField(t('Choose a password', 'Wählen Sie ein Passwort')),
    ], enter),
    el('p', {}, back));
}

/** Asks for a link by which a password is set. */
function newLink(done, why) {
  const back = () => show(logIn(why, done), { acted: true });
  return card({ headline: t('A new password', 'Ein neues Passwort') },
    linkForm(),
    el('p', {}, el('button', { type: 'button', class: 'switch', click: back }, t('Back to the log-in', 'Zurück zur Anmeldung'))));
}

export const linkForm = () =>
  form(t('Send me a link', 'Link schicken'), [emailField()], async ({ email }) => {
    await ask('POST', '/password-resets', { email });
    show(card({ headline: t('Look into your inbox', 'Sehen Sie in Ihr Postfach'), kind: 'good' },
      el('p', {}, t(`If ${email} has an account, a link is on its way there. It works once, for 30 minutes.`, `Wenn es zu ${email} ein Konto gibt, ist ein Link dorthin unterwegs. Er gilt einmal, 30 Minuten lang.`)),
      el('p', { class: 'quiet' }, t('Nothing after a few minutes? Look among the spam, and check the address for typos.', 'Nach ein paar Minuten nichts da? Sehen Sie im Spam-Ordner nach und prüfen Sie die Adresse auf Tippfehler.'))), { acted: true });
  });
