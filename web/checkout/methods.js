// Ways to pay: the cards of the sandbox by name, or the form of Stripe (stripe.js) where a key is
// configured.
//
// A way has what it shows, and `chosen`, which names the payment method for the API.

import { ask, el, Trouble } from '../page.js';
import { t } from '../words.js';

/**
 * @typedef {object} Way
 * @property {HTMLElement} shown
 * @property {() => Promise<string>} chosen the name of the payment method
 * @property {() => void} [ready] called once it is shown
 * @property {(action: any) => Promise<string | undefined>} [confirm] lets the bank ask in the page; answers what went wrong
 */

/** @type {Promise<any> | undefined} */
let settings;

/**
 * How this shop is paid. While that is unknown nothing is offered: a card of the sandbox
 * would be refused, or worse, taken for a real one.
 * @returns {Promise<{ provider: string, publishable_key?: string }>}
 */
function paidBy() {
  settings ??= ask('GET', '/payments/settings').catch((error) => {
    settings = undefined;
    throw error;
  });
  return settings;
}

/** Asks it ahead of time. What goes wrong is told when it is needed. */
export const askHowPaid = () => {
  paidBy().catch(() => undefined);
};

/**
 * The way to pay this hold.
 * @param {any} hold
 * @param {any} me
 * @returns {Promise<Way | undefined>} nothing where the shop cannot be paid from a page
 */
export async function wayToPay(hold, me) {
  const { provider, publishable_key } = await paidBy();
  if (provider === 'sandbox') return sandbox();
  if (!publishable_key) return undefined;
  try {
    return await (await import('./stripe.js')).stripe(publishable_key, hold, me);
  } catch (error) {
    throw error instanceof Trouble ? error : new Trouble(t('checkout.no_stripe'));
  }
}

/** @returns {Way} */
function sandbox() {
  /** @type {[string, string, string][]} */
  const cards = [
    ['pm_card_visa', t('checkout.card_works'), t('checkout.card_works_hint')],
    ['pm_card_chargeDeclined', t('checkout.card_declined'), t('checkout.card_declined_hint')],
    ['pm_sandbox_requires_action', '3-D Secure', t('checkout.card_3ds_hint')],
    ['pm_sandbox_capture_fails', t('checkout.card_capture'), t('checkout.card_capture_hint')],
  ];
  const choice = ([value, name, hint] = cards[0], /** @type {number} */ i = 0) =>
    el(
      'div',
      { class: 'choice' },
      el('input', {
        type: 'radio',
        name: 'card',
        id: `card-${i}`,
        value,
        checked: i === 0,
        'aria-describedby': `card-${i}-hint`,
      }),
      el('label', { for: `card-${i}` }, name),
      el('span', { class: 'hint', id: `card-${i}-hint` }, hint),
    );
  const shown = el('fieldset', { class: 'cards' }, el('legend', {}, t('checkout.sandbox')), cards.map(choice));
  return {
    shown,
    chosen: async () => /** @type {HTMLInputElement} */ (shown.querySelector(':checked')).value,
  };
}
