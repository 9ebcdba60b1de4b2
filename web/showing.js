// What the pages of a buyer tell of a show: its title, when and where it is.

import { call, card, el, moment } from './page.js';
import { t } from './words.js';

/** @typedef {{ show: any, title: string, timezone?: string, where: string }} Showing */

/**
 * A show as a buyer is told of it; nothing while it cannot be read.
 * @param {string} showId
 * @returns {Promise<Showing | undefined>}
 */
export async function about(showId) {
  const { ok, body: show } = await call('GET', `/shows/${showId}`);
  if (!ok) return undefined;
  const { event, venue } = show.event ? show : await ofEvent(show.event_id);
  const where = [...new Set([venue.name, venue.address, venue.city])].filter(Boolean).join(', ');
  return { show, title: event.title, timezone: venue.timezone, where };
}

/** @param {string} id */
async function ofEvent(id) {
  const { body: event } = await call('GET', `/events/${id}`);
  return { event, venue: { ...event, name: event.venue } };
}

/** @param {Showing | undefined} known @returns {[string, Children][]} */
export const whenAndWhere = (known) =>
  known
    ? [
        [t('showing.when'), moment(known.show.starts_at, known.timezone)],
        [t('showing.where'), known.where],
      ]
    : [];

/**
 * That there is nothing to see for this reader.
 * @param {string} headline
 * @param {string} words
 * @param {...Children} children
 */
export const nothing = (headline, words, ...children) => card({ headline, kind: 'bad' }, el('p', {}, words), children);
