// The reader's account: name, language, password, address, what is stored, and its end.

import { confirm } from './dialog.js';
import { logOut, withReader } from './own.js';
import {
  ask,
  attempt,
  button,
  call,
  card,
  el,
  facts,
  field,
  form,
  inWords,
  link,
  press,
  refusal,
  row,
  say,
  show,
  Trouble,
} from './page.js';
import { passwordField } from './password-field.js';
import { lang, t } from './words.js';

/** @typedef {import('./own.js').Account} Account */

/** @type {[string, string][]} */
const LANGUAGES = [
  ['en', 'English'],
  ['de', 'Deutsch'],
  ['fr', 'Français'],
  ['es', 'Español'],
];

/** @param {Account} me @param {{ acted?: boolean }} [options] */
function look(me, options) {
  show([about(me), secret(me), stored(me)], options);
}

/**
 * A form that says below its button that it is done.
 * @param {string} label
 * @param {any[]} fields
 * @param {(values: Record<string, string>) => Promise<string>} submit what is said then
 */
function told(label, fields, submit) {
  const done = el('p', { class: 'quiet', role: 'status' });
  const made = form(
    label,
    fields,
    async (values) => {
      done.textContent = '';
      done.textContent = await submit(values);
    },
    'plain',
  );
  return [made, done];
}

/** @param {Account} me */
function about(me) {
  return card(
    { headline: t('account.headline') },
    facts([t('session.email'), me.email]),
    proof(me),
    told(
      t('account.save'),
      [field(t('session.name'), { id: 'name', autocomplete: 'name', maxlength: 100, value: me.name })],
      async ({ name }) => {
        await ask('PATCH', '/me', { name });
        return t('account.saved');
      },
    ),
    told(t('account.change_language'), [language(me)], async ({ language }) => {
      await ask('PATCH', '/me', { language });
      location.assign(`/language?to=${language}&back=/account`);
      return t('account.saved');
    }),
    row(
      button(
        t('session.log_out'),
        () =>
          attempt(async () => {
            await logOut();
            location.assign('/');
          }),
        'plain',
      ),
    ),
  );
}

/** @param {Account} me */
const language = (me) =>
  el(
    'div',
    { class: 'field' },
    el('label', { for: 'language' }, t('account.language')),
    el(
      'select',
      { id: 'language', name: 'language' },
      LANGUAGES.map(([code, name]) =>
        el('option', { value: code, lang: code, selected: code === (me.language ?? lang) }, name),
      ),
    ),
  );

/** Whether the address is known to be the reader's. @param {Account} me */
function proof(me) {
  if (me.address_proven === undefined) return undefined;
  if (me.address_proven) return el('p', { class: 'quiet' }, t('account.proven'));
  const trouble = el('div');
  const send = button(
    t('session.send_link'),
    () =>
      press([send], trouble, async () => {
        await ask('POST', '/me/address-proof');
        trouble.replaceChildren(el('p', { role: 'status' }, t('account.proof_sent', { email: me.email })));
      }),
    'plain',
  );
  return [el('p', { class: 'notice' }, t('account.unproven')), row(send), trouble];
}

/** @param {Account} me */
function secret(me) {
  const trouble = el('div');
  const byLink = button(
    t('account.password_link'),
    () =>
      press([byLink], trouble, async () => {
        await ask('POST', '/password-resets', { email: me.email });
        trouble.replaceChildren(el('p', { role: 'status' }, t('account.reset_sent', { email: me.email })));
      }),
    'plain',
  );
  const fields = [
    field(
      t('account.current'),
      { id: 'current', type: 'password', autocomplete: 'current-password', maxlength: 128, required: false },
      t('account.current_hint'),
    ),
    passwordField(t('password.new'), 'fresh'),
  ];
  return card(
    { headline: t('account.password') },
    el('p', {}, t('account.password_words')),
    told(t('password.send'), fields, async ({ current, fresh }) => {
      const change = { new_password: fresh, ...(current && { current_password: current }) };
      const { ok, body } = await call('PUT', '/me/password', change);
      if (!ok) throw new Trouble(/forbidden/.test(body.type ?? '') ? t('account.wrong') : inWords(body));
      return t('account.password_set');
    }),
    row(byLink),
    trouble,
  );
}

/** @param {Account} me */
const stored = (me) =>
  card(
    { headline: t('account.stored') },
    el('p', {}, t('account.export_words')),
    row(el('a', { class: 'button plain', href: '/api/v1/me/export', download: 'onsale.json' }, t('account.export'))),
    el('p', {}, t('account.delete_words')),
    row(button(t('account.delete'), () => sure(me), 'bad')),
  );

/** @param {Account} me */
const sure = (me) =>
  confirm(
    t('account.delete_headline', { email: me.email }),
    [
      el('p', {}, t('account.delete_sure')),
      field(
        t('session.password'),
        { id: 'password', type: 'password', autocomplete: 'current-password', maxlength: 128, required: false },
        t('account.current_hint'),
      ),
    ],
    t('account.delete_yes'),
    end,
  );

/** @param {Record<string, string>} values */
async function end({ password }) {
  const answer = await call('DELETE', '/me', password ? { password } : {});
  if (answer.status === 403) throw new Trouble(t('account.delete_wrong'));
  if (!answer.ok) throw refusal(answer);
  await logOut().catch(() => undefined);
  say(t('account.deleted'));
  show(
    card({ headline: t('account.deleted') }, el('p', {}, t('account.deleted_words')), row(link(t('link.home'), '/'))),
    { acted: true },
  );
  document.getElementById('account')?.remove();
}

withReader(t('account.why'), look);
