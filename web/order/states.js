// The states of an order in words: a short one for lists, and what happens now.

import { t } from '../words.js';

/** @typedef {{ word: string, headline: string, words: string, kind?: string }} State */

/** @type {Record<string, () => State>} */
const states = {
  pending: () => ({ word: t('order.in_progress'), headline: t('order.pending'), words: t('order.pending_words') }),
  requires_action: () => ({
    word: t('order.waits_for_you'),
    headline: t('order.requires_action'),
    words: t('order.requires_action_words'),
  }),
  authorised: () => ({
    word: t('order.in_progress'),
    headline: t('order.authorised'),
    words: t('order.authorised_words'),
  }),
  confirmed: () => ({
    word: t('order.confirmed_word'),
    headline: t('order.confirmed'),
    words: t('order.confirmed_words'),
    kind: 'good',
  }),
  declined: () => ({
    word: t('order.declined_word'),
    headline: t('order.declined'),
    words: t('order.declined_words'),
    kind: 'bad',
  }),
  cancelling: () => ({
    word: t('order.in_progress'),
    headline: t('order.cancelling'),
    words: t('order.cancelling_words'),
  }),
  cancelled: () => ({
    word: t('order.cancelled_word'),
    headline: t('order.cancelled'),
    words: t('order.cancelled_words'),
  }),
  refunded: () => ({ word: t('order.refunded_word'), headline: t('order.refunded'), words: t('order.refunded_words') }),
  failed: () => ({
    word: t('order.failed_word'),
    headline: t('order.failed'),
    words: t('order.failed_words'),
    kind: 'bad',
  }),
  stuck: () => ({ word: t('order.stuck_word'), headline: t('order.stuck'), words: t('order.stuck_words') }),
};

/** @param {string} status @returns {State} */
export const stateOf = (status) =>
  Object.hasOwn(states, status) ? states[status]() : { word: status, headline: status, words: '' };

/** @type {Record<string, () => string>} */
const reasons = {
  hold_expired: () => t('order.why_expired'),
  seats_lost: () => t('order.why_lost'),
  capture_refused: () => t('order.why_capture'),
  show_cancelled: () => t('order.why_show'),
  charged_back: () => t('order.why_charged_back'),
};

/** Why an order ended, where that was not the buyer's own wish. @param {string} [reason] */
export const whyEnded = (reason = '') => (Object.hasOwn(reasons, reason) ? reasons[reason]() : undefined);
