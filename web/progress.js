// How an order gets on: by the feed of the edge, or by asking now and then where that is refused.

import { t } from './words.js';

const POLL_MS = 5_000;

/** States that an order leaves only when somebody does something. @param {string} status */
export const isSettled = (status) => /^(confirmed|declined|cancelled|refunded|failed)$/.test(status);

/**
 * Calls `again` when the status is another one. Returns how to stop.
 * @param {string} order
 * @param {string} status
 * @param {() => void} again
 */
export function follow(order, status, again) {
  const stream = new EventSource(`/feed/orders/${order}`);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  stream.addEventListener('status', ({ data }) => {
    if (JSON.parse(data).status !== status) again();
  });
  stream.addEventListener('error', () => {
    if (stream.readyState === EventSource.CLOSED) timer = setTimeout(again, POLL_MS);
  });
  return () => {
    stream.close();
    clearTimeout(timer);
  };
}

/** @type {Record<string, () => string>} */
const reasons = {
  'The card was declined.': () => t('declined.card'),
  'The card has insufficient funds.': () => t('declined.funds'),
  'The card has expired.': () => t('declined.expired'),
  "The card's security code is wrong.": () => t('declined.code'),
  'The card number is wrong.': () => t('declined.number'),
  "The card's limit is reached.": () => t('declined.limit'),
  'The card was not confirmed with the bank.': () => t('declined.unconfirmed'),
  'The card could not be charged just now.': () => t('declined.just_now'),
};

/** Why a card was declined, in the reader's language where we know the sentence. @param {string} [reason] */
export const whyDeclined = (reason = 'The card was declined.') =>
  Object.hasOwn(reasons, reason) ? reasons[reason]() : reason;
