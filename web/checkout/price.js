// What the places cost: each of them, all together, and why where prices follow demand.

import { el, money, place } from '../page.js';
import { t } from '../words.js';

/** @typedef {import('../page.js').Money} Money */

/** @param {any} hold */
export const costs = ({ seats, total, pricing }) => [
  el(
    'table',
    { class: 'costs' },
    el('caption', { class: 'unseen' }, t('checkout.costs')),
    el(
      'tbody',
      {},
      seats.map((/** @type {any} */ it) =>
        el(
          'tr',
          {},
          el('th', { scope: 'row' }, place(it.seat), it.face_value && el('small', {}, t('checkout.face_value'))),
          el('td', {}, money(it.price)),
        ),
      ),
    ),
    el(
      'tfoot',
      {},
      el(
        'tr',
        {},
        el('th', { scope: 'row' }, t('checkout.total'), el('small', {}, t('checkout.all_in'))),
        el('td', {}, money(total)),
      ),
    ),
  ),
  pricing?.mode === 'dynamic' && why(seats, pricing),
];

/** @param {any[]} seats @param {any} pricing */
function why(seats, { sections }) {
  const bought = new Set(seats.filter((it) => !it.face_value).map((it) => it.seat.split('-')[0]));
  const told = sections.filter((/** @type {any} */ it) => bought.has(it.section));
  return (
    told.length > 0 &&
    el(
      'details',
      {},
      el('summary', {}, t('checkout.why_price')),
      el('p', { class: 'quiet' }, t('checkout.why_price_words')),
      told.map(reasons),
    )
  );
}

/** @param {any} section */
function reasons({ section, base, price, reasons: { occupancy, demand, time, bound } }) {
  const part = (/** @type {number} */ share) =>
    signed({ amount: Math.round(base.amount * share), currency: base.currency });
  /** @type {[string, number][]} */
  const parts = [
    [t('checkout.by_occupancy'), occupancy],
    [t('checkout.by_demand'), demand],
    [t('checkout.by_time'), time],
    [t('checkout.by_bound'), bound],
  ];
  const line = (/** @type {string} */ label, /** @type {string} */ sum) =>
    el('tr', {}, el('th', { scope: 'row' }, label), el('td', {}, sum));
  return el(
    'table',
    { class: 'costs' },
    el('caption', {}, section),
    el(
      'tbody',
      {},
      line(t('checkout.base'), money(base)),
      parts
        .filter(([, share]) => Math.round(base.amount * share) !== 0)
        .map(([label, share]) => line(label, part(share))),
      line(t('checkout.price_now'), money(price)),
    ),
  );
}

/** @param {Money} sum */
const signed = (sum) => `${sum.amount > 0 ? '+' : '−'}${money({ ...sum, amount: Math.abs(sum.amount) })}`;
