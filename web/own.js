// Pages that show what is somebody's: who is reading, what the page does by itself meanwhile,
// and the end of both. The question who the reader is comes later, from session.js, and only
// where there is no session.

import { attempt, busy, button, call, el, forget, inWords, refusal, show, Trouble, whenLoggedOut } from './page.js';
import { t } from './words.js';

/**
 * kept: the session has ended, and the page shows what this device keeps.
 * @typedef {Api['Account'] & { address_proven?: boolean, kept?: boolean }} Account
 */

// The session.

/**
 * The account of the session in this browser, if there is one.
 * @returns {Promise<Account | undefined>}
 */
export async function reader() {
  const answer = await call('GET', '/me');
  if (answer.status === 401) return undefined;
  // A reply that was cut off names nobody, and removes nobody's tickets.
  if (!answer.ok || !answer.body.account_id) throw new Trouble(inWords(answer.body));
  forgetTickets(answer.body.account_id);
  return answer.headers.has('Onsale-Kept') ? { ...answer.body, kept: true } : answer.body;
}

/**
 * Removes the tickets that this device keeps for days without a network, but for this account's.
 * @param {string} [account]
 */
async function forgetTickets(account) {
  if (!('caches' in globalThis)) return;
  const names = await caches.keys();
  await Promise.all(
    names.filter((it) => it.startsWith('tickets-') && it !== `tickets-${account}`).map((it) => caches.delete(it)),
  );
}

/** Ends the session, and removes what this device keeps for it. */
export async function logOut() {
  await forgetTickets();
  const answer = await call('DELETE', '/sessions/current');
  if (!answer.ok && answer.status !== 401) throw refusal(answer);
  // A page that was still open may have kept them again meanwhile.
  await forgetTickets();
}

// What a page does by itself.

/** @type {(() => void) | undefined} */
let end;

/**
 * `stop` ends what the page does by itself from now on; what it did before ends here.
 * @param {() => void} stop
 */
export function goOn(stop) {
  rest();
  end = stop;
}

/** Ends what the page does by itself. */
export function rest() {
  end?.();
  end = undefined;
}

/** Ends what the page does by itself, and drops answers that are still on their way: they were for another session. */
function startAnew() {
  rest();
  forget();
}

/**
 * Runs `page` with the reader's account, after they have logged in; `why` says what for.
 * When the session ends, so does what the page does by itself, and they may log in again.
 * @param {string} why
 * @param {(me: Account, options: { acted?: boolean }) => unknown} page
 * @param {{ known?: boolean }} [options] known: most readers have an account, so the log-in comes first.
 */
export function withReader(why, page, { known = true } = {}) {
  /** @param {string} words @param {boolean} acted */
  const toLogIn = async (words, acted) => {
    signedIn();
    const { whoAreYou } = await import('./session.js').catch(() => {
      throw new Trouble(t('error.offline'));
    });
    show(whoAreYou({ why: words, known, done: () => attempt(() => begin(true)) }), { acted });
  };
  /** @param {boolean} acted */
  const begin = async (acted) => {
    startAnew();
    const me = await reader();
    if (!me) return toLogIn(why, acted);
    const leave = async () => {
      if (me.kept) return toLogIn(why, true);
      await logOut();
      await begin(true);
    };
    // Below what the page shows, and after it, so that nothing jumps.
    try {
      await page(me, { acted });
    } finally {
      signedIn(me, leave);
    }
  };
  whenLoggedOut(() => {
    startAnew();
    attempt(() => toLogIn(t('session.ended'), true));
  });
  busy();
  return attempt(() => begin(false));
}

/**
 * The line below the page that says who is logged in, or that nobody is any more.
 * @param {Account} [me]
 * @param {() => Promise<void>} [leave]
 */
function signedIn(me, leave) {
  document.getElementById('account')?.remove();
  if (!me || !leave) return;
  document
    .getElementById('main')
    ?.append(
      el(
        'div',
        { id: 'account', class: 'row account' },
        me.kept
          ? el('span', {}, t('session.kept'))
          : el('span', {}, t('session.logged_in_as'), ' ', el('a', { href: '/account' }, me.email)),
        el(
          'button',
          { type: 'button', class: 'switch', click: () => attempt(leave) },
          me.kept ? t('session.log_in') : t('session.log_out'),
        ),
      ),
    );
}

/** For a reader who is logged in with an account that may not see this. */
export const asSomebodyElse = () =>
  button(t('session.other_account'), () =>
    attempt(async () => {
      await logOut();
      location.reload();
    }),
  );
