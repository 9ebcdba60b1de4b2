// The time that is left, as people read it.

/**
 * `53:07`, `02:53:07`: the time left as people read it; whole days are told elsewhere.
 * @param {number} ms
 */
export function left(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts
    .slice(seconds < 3_600 ? 1 : 0)
    .map((it) => String(it).padStart(2, '0'))
    .join(':');
}
