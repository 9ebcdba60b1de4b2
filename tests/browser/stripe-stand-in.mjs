// Stripe in a browser of these tests. Stripe's script cannot run here, so a stand-in of our own is
// served in its place, by request interception: it offers the calls that the checkout makes, and
// talks to Stripe's emulator.

export const SECRET_KEY = 'sk_test_12345';
export const CARD = '4242424242424242';

/** Stripe.js as far as the checkout uses it. It runs in the page. */
function standIn() {
  const post = async (path, form) => {
    const response = await fetch(`https://api.stripe.com${path}`, { method: 'POST', body: new URLSearchParams(form) });
    return response.json();
  };
  window.Stripe = (key) => ({
    elements(options) {
      window.given = { key, options };
      const input = document.createElement('input');
      input.setAttribute('aria-label', 'Card number');
      return { create: () => ({ mount: (at) => at.replaceChildren(input) }), submit: async () => ({}), input };
    },
    async createPaymentMethod({ elements, params: { billing_details } }) {
      window.billed = billing_details;
      const card = { type: 'card', 'card[number]': elements.input.value, 'card[exp_month]': '12', 'card[exp_year]': '2050', 'card[cvc]': '123' };
      return { paymentMethod: await post('/v1/payment_methods', card) };
    },
    async handleNextAction({ clientSecret }) {
      window.asked = clientSecret;
      const [intent] = clientSecret.split('_secret_');
      return { paymentIntent: await post(`/v1/payment_intents/${intent}/_authenticate`, { client_secret: clientSecret, success: 'true' }) };
    },
  });
}

/** From now on the pages of this context get the stand-in, and its requests go to the emulator at this address. */
export async function standInForStripe(context, emulator) {
  await context.route('https://js.stripe.com/v3/', (route) => route.fulfill({ contentType: 'text/javascript', body: `(${standIn})()` }));
  await context.route('https://api.stripe.com/**', async (route) => {
    const request = route.request();
    const headers = { Authorization: `Bearer ${SECRET_KEY}`, 'Content-Type': 'application/x-www-form-urlencoded' };
    const answer = await fetch(emulator + new URL(request.url()).pathname, { method: 'POST', headers, body: request.postData() });
    await route.fulfill({ status: answer.status, contentType: 'application/json', headers: { 'Access-Control-Allow-Origin': '*' }, body: await answer.text() });
  });
}
