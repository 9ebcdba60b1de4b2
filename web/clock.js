// The time by the server's clock. The reader's own may be wrong by minutes, and a countdown
// by it would promise a sale that has not begun.

let lowest = -Infinity;
let highest = Infinity;

/**
 * Learns from the `Date` of an answer, which is exact to a second: the server's clock was
 * there at some moment between the question and the answer.
 * @param {Response} response
 * @param {number} asked the reader's time when it was asked
 */
export function hear(response, asked) {
  const date = Date.parse(response.headers.get('Date') ?? '');
  if (!date) return;
  const low = date - Date.now();
  const high = date + 1_000 - asked;
  const isNews = low > highest || high < lowest;
  lowest = isNews ? low : Math.max(lowest, low);
  highest = isNews ? high : Math.min(highest, high);
}

/** How far the server is ahead of the reader. A clock that may be right is left alone. */
export const ahead = () => Math.min(Math.max(0, lowest), highest);

/** The time by the server's clock, in milliseconds. */
export const now = () => Date.now() + ahead();
