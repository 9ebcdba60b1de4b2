// The proof of work: finds the counter that the server planted. It runs as a Web Worker
// and has its own SHA-256, because WebCrypto answers a promise for every hash and is a
// hundred times slower at inputs this short.

/** The server plants the solution below this counter. */
const TRIES = 65_536;
/** A slow phone needs about 30 ms for so many hashes, so a page that works in slices stays usable. */
const HASHES_PER_SLICE = 8_192;

// SHA-256 takes its constants from the roots of primes: 32 bits after the point. A double
// would have to be a thousand times less exact to get one of them wrong.
/** @param {number} root */
const fraction = (root) => ((root - Math.floor(root)) * 2 ** 32) | 0;
/** @type {number[]} */
const primes = [];
for (let n = 2; primes.length < 64; n++) {
  if (primes.every((prime) => n % prime)) primes.push(n);
}
const K = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const W = new Int32Array(64);

/** Hashes the one block in the first 16 words of W, and leaves the hash in the first 8. */
function hashBlock() {
  for (let i = 16; i < 64; i++) {
    const x = W[i - 15];
    const y = W[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    W[i] = (W[i - 16] + s0 + W[i - 7] + s1) | 0;
  }
  let a = START[0],
    b = START[1],
    c = START[2],
    d = START[3];
  let e = START[4],
    f = START[5],
    g = START[6],
    h = START[7];
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t = (h + s1 + (g ^ (e & (f ^ g))) + K[i] + W[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    h = g;
    g = f;
    f = e;
    e = (d + t) | 0;
    d = c;
    const majority = (a & b) | (c & (a | b));
    c = b;
    b = a;
    a = (t + s0 + majority) | 0;
  }
  W[0] = START[0] + a;
  W[1] = START[1] + b;
  W[2] = START[2] + c;
  W[3] = START[3] + d;
  W[4] = START[4] + e;
  W[5] = START[5] + f;
  W[6] = START[6] + g;
  W[7] = START[7] + h;
}

/** Marks the end of a message of this many whole words in W. @param {number} words */
function pad(words) {
  W.fill(0, words, 15);
  W[words] = 0x80000000;
  W[15] = words * 32;
}

/**
 * The key of a counter, in W: the hash of salt, nonce and counter, hashed again `cost` times in all.
 * @param {Int32Array} start
 * @param {number} counter
 * @param {number} cost
 */
function deriveKey(start, counter, cost) {
  W.set(start);
  W[8] = counter;
  pad(9);
  hashBlock();
  for (let i = 1; i < cost; i++) {
    pad(8);
    hashBlock();
  }
}

/** @typedef {{ algorithm: string, salt: string, nonce: string, cost: number, keyPrefix: string }} Parameters */

/**
 * The solution among the counters from `from` up to, not including, `to`; or null.
 * @param {Parameters} parameters
 * @param {number} from
 * @param {number} to
 */
export function search({ algorithm, salt, nonce, cost, keyPrefix }, from, to) {
  const hex = salt + nonce;
  if (algorithm !== 'SHA-256' || !/^[0-9a-f]{64}$/.test(hex) || !(cost >= 1)) {
    throw new Error('This challenge is of a kind that this page does not know.');
  }
  const start = Int32Array.from(hex.match(/.{8}/g) ?? [], (digits) => parseInt(digits, 16));
  // Comparing the first bytes as a number is enough to rule out nearly every counter.
  const shift = 32 - 4 * Math.min(8, keyPrefix.length);
  const wanted = parseInt(keyPrefix.slice(0, 8), 16);
  for (let counter = from; counter < to; counter++) {
    deriveKey(start, counter, cost);
    if (W[0] >>> shift !== wanted) continue;
    const hexOfWord = (/** @type {number} */ word) => (word >>> 0).toString(16).padStart(8, '0');
    const derivedKey = Array.from(W.subarray(0, 8), hexOfWord).join('');
    if (derivedKey.startsWith(keyPrefix)) return { counter, derivedKey };
  }
  return null;
}

/**
 * Slice after slice: yields how many counters were tried, returns the solution.
 * @param {Parameters} parameters
 */
export function* solve(parameters) {
  const slice = Math.max(1, Math.floor(HASHES_PER_SLICE / parameters.cost));
  for (let from = 0; from < TRIES; from += slice) {
    const found = search(parameters, from, Math.min(from + slice, TRIES));
    if (found) return found;
    yield Math.min(from + slice, TRIES);
  }
  throw new Error('The calculation found no answer.');
}

const worker = /** @type {any} */ (globalThis);
if (typeof worker.WorkerGlobalScope === 'function' && worker instanceof worker.WorkerGlobalScope) {
  worker.onmessage = (/** @type {{ data: Parameters }} */ { data: parameters }) => {
    const slices = solve(parameters);
    let step = slices.next();
    for (; !step.done; step = slices.next()) worker.postMessage({ tried: step.value });
    worker.postMessage({ found: step.value });
  };
}
