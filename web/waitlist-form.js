// The form by which one waits for tickets that come back. The page of a show loads it when
// it is sold out.

import { box, call, card, el, field, form, inWords, newKey, Trouble } from './page.js';
import { learnFor, t } from './words.js';

/** A reader without a session says who they are in the place of the form. @param {HTMLElement} place */
async function knowing(place) {
  const [{ whoAreYou }] = await Promise.all([import('./session.js'), learnFor('session')]);
  return new Promise((done) => {
    place.replaceChildren(whoAreYou({ why: t('show.waitlist.why'), done }));
    place.querySelector('h2')?.focus();
  });
}

/**
 * @param {{ id: string, most: number, sections: string[] }} offered
 * @returns {HTMLElement}
 */
export function waitlist({ id, most, sections }) {
  const place = el('div', { class: 'stack' });
  const key = newKey();
  const together = box(t('show.waitlist.together'), { id: 'together', checked: true });
  const ofOne = (/** @type {number} */ quantity) => {
    together.hidden = quantity < 2;
  };
  const quantity = field(
    t('show.waitlist.quantity'),
    {
      id: 'quantity',
      type: 'number',
      min: 1,
      max: most,
      value: Math.min(2, most),
      input: ({ target }) => ofOne(Number(target.value)),
    },
    t('show.waitlist.most', { n: most }),
  );
  ofOne(most);
  const only =
    sections.length > 1 &&
    el(
      'details',
      {},
      el('summary', {}, t('show.waitlist.only')),
      el(
        'fieldset',
        {},
        el('legend', { class: 'unseen' }, t('show.waitlist.only')),
        sections.map((name, i) => box(name, { id: `section-${i}`, value: name })),
      ),
    );

  /** @param {Record<string, string>} values */
  const join = async (values) => {
    const wanted = Object.keys(values)
      .filter((name) => name.startsWith('section-'))
      .map((name) => values[name]);
    const wish = {
      quantity: Number(values.quantity),
      together: 'together' in values,
      ...(wanted.length > 0 && { sections: wanted }),
    };
    let answer = await call('POST', `/shows/${id}/waitlist`, wish, key);
    if (answer.status === 401) {
      await knowing(place);
      place.replaceChildren(body);
      body.querySelector('h2')?.focus();
      answer = await call('POST', `/shows/${id}/waitlist`, wish, key);
    }
    if (!answer.ok) throw new Trouble(inWords(answer.body));
    location.assign(`/shows/${id}/waitlist/${answer.body.waitlist_id}`);
  };
  const body = card(
    { headline: t('show.waitlist.headline') },
    el('p', {}, t('show.waitlist.what')),
    form(t('show.waitlist.join'), [quantity, together, only], join),
  );
  place.append(body);
  return place;
}
