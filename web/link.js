// Follows the link of a mail: logs in, or proves that the address is the reader's.
//
// A press does it, not the visit: programs that look through mails visit links as well.

import { answered, keptKey } from './kept-key.js';
import { reader, withReader } from './own.js';
import { address, call, card, el, form, inWords, link, refusal, row, show, Trouble } from './page.js';
import { t } from './words.js';

const [token] = address;
const isProof = location.pathname.startsWith('/prove/');

async function use() {
  const path = isProof ? `/me/address-proof/${token}` : `/session-links/${token}`;
  const answer = await call('POST', path, undefined, keptKey(path));
  answered(path);
  if (/^(400|404|410)$/.test(String(answer.status))) return show(old(), { acted: true });
  if (answer.status === 403) throw new Trouble(inWords(answer.body));
  if (!answer.ok) throw refusal(answer);
  // Asking who is reading also removes the tickets of another account from this device.
  show(isProof ? proven() : loggedIn(await reader().catch(() => undefined)), { acted: true });
}

/** @param {import('./own.js').Account} [me] */
const loggedIn = (me) =>
  card(
    { badge: t('link.done'), headline: t('link.logged_in'), kind: 'good' },
    me && el('p', {}, t('link.account_of', { name: me.name, email: me.email })),
    el('p', {}, t('link.logged_in_words')),
    row(
      link(t('link.my_tickets'), '/orders'),
      link(t('link.to_account'), '/account', 'plain'),
      link(t('link.home'), '/', 'plain'),
    ),
  );

const proven = () =>
  card(
    { badge: t('link.done'), headline: t('link.proven'), kind: 'good' },
    el('p', {}, t('link.proven_words')),
    row(link(t('link.my_tickets'), '/orders'), link(t('link.home'), '/', 'plain')),
  );

const old = () =>
  card(
    { headline: t('link.old'), kind: 'bad' },
    el('p', {}, isProof ? t('link.old_proof_words') : t('link.old_words')),
    row(link(isProof ? t('link.to_account') : t('link.to_log_in'), isProof ? '/account' : '/orders')),
  );

/** @param {{ acted?: boolean }} [options] */
const begin = (options) =>
  show(
    card(
      { headline: isProof ? t('link.prove') : t('link.log_in') },
      el('p', {}, isProof ? t('link.prove_words') : t('link.log_in_words')),
      form(isProof ? t('link.prove_button') : t('link.log_in_button'), [], use),
    ),
    options,
  );

// An address is proven by the account that it belongs to.
if (isProof) withReader(t('link.prove_words'), (_me, options) => begin(options));
else begin();
