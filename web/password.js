// Sets a password by the link of a mail: a forgotten one, or the first one of staff.

import { answered, keptKey } from './kept-key.js';
import { address, call, card, el, form, inWords, link, row, show, Trouble } from './page.js';
import { passwordField } from './password-field.js';
import { linkForm } from './session.js';
import { t } from './words.js';

const [token] = address;
const isInvitation = location.pathname.startsWith('/invitation/');

/** @param {Record<string, string>} values */
async function set({ password }) {
  const path = `/password-resets/${token}`;
  const { ok, status, body } = await call('POST', path, { password }, keptKey(path));
  answered(path);
  if (status === 404) return show(isInvitation ? oldInvitation() : oldLink(), { acted: true });
  if (!ok) throw new Trouble(inWords(body));
  show(isInvitation ? welcome() : done(), { acted: true });
}

const done = () =>
  card(
    { badge: t('password.done'), headline: t('password.set'), kind: 'good' },
    el('p', {}, t('password.set_words')),
    row(link(t('password.log_in'), '/orders')),
  );

const welcome = () =>
  card(
    { badge: t('password.done'), headline: t('password.welcome'), kind: 'good' },
    el('p', {}, t('password.welcome_words')),
    el('p', {}, t('password.welcome_device')),
  );

const oldLink = () =>
  card({ headline: t('password.old_link'), kind: 'bad' }, el('p', {}, t('password.old_link_words')), linkForm());

const oldInvitation = () =>
  card(
    { headline: t('password.old_invitation'), kind: 'bad' },
    el('p', {}, t('password.old_invitation_words')),
    linkForm(),
  );

show(
  card(
    { headline: t('password.choose') },
    el('p', {}, isInvitation ? t('password.invited') : t('password.replaces')),
    form(t('password.send'), [passwordField(t('password.new'))], set),
  ),
);
