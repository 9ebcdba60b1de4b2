// The pass of the waiting room: renewed while the reader does something here, not while the
// page is only open. Who has left it alone gives their place to the next in line.

/** Before the pass ends it is renewed, if there is a reason to. */
const SHARE_LEFT = 0.5,
  LEAST_LEFT_MS = 4_000;

/** @param {string} show @param {() => number} now by the server's clock @param {(isNew?: boolean) => void} over the pass has run out, or there was none */
export function keepPass(show, now, over) {
  let active = true;
  for (const kind of ['pointerdown', 'keydown', 'wheel'])
    addEventListener(
      kind,
      () => {
        active = true;
      },
      { passive: true },
    );

  /** @param {number} [tries] @returns {Promise<unknown>} */
  const renew = async (tries = 0) => {
    let response;
    try {
      response = await fetch(`/room/${show}/enter`, { method: 'POST', headers: { Accept: 'application/json' } });
    } catch {
      /* Tried again below. */
    }
    if (!response || response.status >= 500 || response.status === 429)
      return setTimeout(() => renew(tries + 1), Math.min(1_000 * 2 ** tries, 15_000));
    if (!response.ok) return over(response.status === 401);
    const { expires_at } = await response.json();
    active = false;
    return watch(Date.parse(expires_at));
  };

  /** @param {number} ends */
  const watch = (ends) => {
    const lifetime = ends - now();
    const look = () => {
      const left = ends - now();
      if (active && left < Math.max(lifetime * SHARE_LEFT, LEAST_LEFT_MS)) return renew();
      if (left <= 0) return over();
      return setTimeout(look, Math.min(1_000, Math.max(50, left)));
    };
    look();
  };
  return renew();
}
