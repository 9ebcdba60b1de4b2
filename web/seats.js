// The page where seats are chosen: loads the house, keeps it live, and reserves. What is needed
// only later is loaded later.

import { ask, attempt, call, Trouble } from './api.js';
import { el, show as showContent } from './elements.js';
import { arrange } from './seats/arrange.js';
import { House } from './seats/house.js';
import { Shop } from './seats/shop.js';
import { learnFor, t } from './words.js';

const [, showId] = location.pathname.slice(1).split('/');
const later = {
  booking: async () => (await Promise.all([import('./booking.js'), learnFor('booking')]))[0],
  pointing: () => import('./seats/pointing.js'),
  sheet: () => import('./seats/sheet.js'),
};

// Some browsers refuse to keep anything; then the page forgets.
for (const name of /** @type {const} */ (['localStorage', 'sessionStorage'])) {
  try {
    window[name].getItem('');
  } catch {
    const nothing = () => null;
    Object.defineProperty(window, name, { value: { getItem: nothing, setItem: nothing, removeItem: nothing } });
  }
}

/** @param {string} what of the show @param {RequestCache} [cache] */
async function part(what, cache) {
  const response = await fetch(`/api/v1/shows/${showId}/${what}`, { cache }).catch(() => undefined);
  if (!response?.ok) throw new Trouble(response ? t('error.server') : t('error.offline'));
  return response;
}

/** The whole map of what is free. */
const readMap = () => part('availability.bin', 'no-store');

/** @param {House} house @param {Response} map @returns {Promise<number[]>} the places that changed */
const learnMap = async (house, map) =>
  house.read(new Uint8Array(await map.arrayBuffer()), Number(map.headers.get('Onsale-Version')));

async function enter() {
  showContent(el('p', { class: 'quiet' }, t('wait')));
  const told = await ask('GET', `/shows/${showId}`);
  // A version of the layout never changes: the browser keeps it.
  const [map, answer, mine] = await Promise.all([
    readMap(),
    part(`layout?version=${told.version}`),
    // Nobody waits for long to hear what they have.
    call('GET', `/shows/${showId}/holds`, undefined, undefined, { signal: AbortSignal.timeout?.(3_000) }).catch(
      () => undefined,
    ),
  ]);
  const hold = mine?.body.items?.find((/** @type {any} */ it) => /held|paying/.test(it.status));
  const layout = await answer.json();
  if (!layout.sections.some((/** @type {any} */ it) => it.shape)) arrange(layout);
  const house = new House(layout, told.prices);
  await learnMap(house, map);
  await new Shop(showId, told, house, async () => learnMap(house, await readMap()), later).open(hold);
}

attempt(enter);
