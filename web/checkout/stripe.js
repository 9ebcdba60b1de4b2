// Stripe's Payment Element. It is there before there is a payment: the card becomes a payment
// method here, and our server does the rest. Only this page may load Stripe's script, and only
// from Stripe.

import { el, Trouble } from '../page.js';
import { lang, t } from '../words.js';

const STRIPE = 'https://js.stripe.com/v3/';

/** Stripe's script, once: it has to come from Stripe. @returns {Promise<any>} */
const script = () =>
  new Promise((resolve, reject) => {
    const ready = () => /** @type {any} */ (window).Stripe;
    if (ready()) return resolve(ready());
    const failed = () => reject(new Trouble(t('checkout.no_stripe')));
    const load = () => (ready() ? resolve(ready()) : failed());
    document.head.append(el('script', { src: STRIPE, load, error: failed }));
  });

/**
 * @param {string} key
 * @param {any} hold
 * @param {any} me
 * @returns {Promise<import('./methods.js').Way>}
 */
export async function stripe(key, { total }, me) {
  const client = (await script())(key, { locale: lang });
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'night' : 'stripe';
  const elements = client.elements({
    mode: 'payment',
    amount: total.amount,
    currency: total.currency.toLowerCase(),
    captureMethod: 'manual',
    paymentMethodCreation: 'manual',
    appearance: { theme },
  });
  const shown = el('div', { class: 'element' });
  /** @param {{ error?: { message?: string } }} answer */
  const check = (answer) => {
    if (answer.error) throw new Trouble(answer.error.message ?? t('checkout.no_stripe'));
    return /** @type {any} */ (answer);
  };
  return {
    shown,
    ready: () => elements.create('payment').mount(shown),
    async chosen() {
      check(await elements.submit());
      const billing_details = { name: me.name, email: me.email };
      return check(await client.createPaymentMethod({ elements, params: { billing_details } })).paymentMethod.id;
    },
    async confirm({ client_secret }) {
      return (await client.handleNextAction({ clientSecret: client_secret })).error?.message;
    },
  };
}
