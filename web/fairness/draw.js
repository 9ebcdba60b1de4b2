// Recomputes a draw from a queue ticket and the published seed, as `onsale verify-draw` and
// crates/domain/src/room/draw.rs do. It asks nobody.

/** @typedef {{ show: string, bucket: number, isFan: boolean, lot: Uint8Array<ArrayBuffer> }} QueueTicket */
/** @typedef {{ commitment: string, seed?: string }} Seed */

const TICKET = /^[\w-]{127}$/;
const FORMAT = 1;
const COMMITMENT = 'onsale draw seed\0';
const DRAW = 'onsale draw\0';
const EVERYBODY = 1n << 63n;

/** @param {string} hex */
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
/** @param {Uint8Array} bytes */
export const hexOf = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
/** @param {(string | Uint8Array)[]} parts */
function joined(...parts) {
  const bytes = parts.map((part) => (typeof part === 'string' ? new TextEncoder().encode(part) : part));
  return Uint8Array.from(bytes.flatMap((it) => [...it]));
}
/** A number in so many bytes, the most significant first. @param {number} n @param {number} size */
const bigEndian = (n, size) => bytesOf(n.toString(16).padStart(size * 2, '0'));

/** What a ticket says, whoever signed it; undefined for anything else. @param {string} text @returns {QueueTicket | undefined} */
export function readTicket(text) {
  if (!TICKET.test(text)) return undefined;
  const binary = atob(`${text.replaceAll('-', '+').replaceAll('_', '/')}=`);
  const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
  if (bytes[0] !== FORMAT || bytes[22] > 1) return undefined;
  const bucket = new DataView(bytes.buffer).getUint32(18);
  return { show: `shw_${hexOf(bytes.subarray(2, 18))}`, bucket, isFan: bytes[22] === 0, lot: bytes.slice(23, 39) };
}

/** What was published before the sale for this seed, which is told in hexadecimal. @param {string} seed */
export async function commitmentOf(seed) {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', joined(COMMITMENT, bytesOf(seed)))));
}

/**
 * The draw of a ticket; small is early. The top bit is the band: fans come first.
 * @param {string} seed in hexadecimal
 * @param {string} beacon in hexadecimal; empty where there is none
 * @param {Pick<QueueTicket, 'bucket' | 'isFan' | 'lot'>} ticket
 */
export async function drawOf(seed, beacon, { bucket, isFan, lot }) {
  const mixed = bytesOf(beacon);
  const key = await crypto.subtle.importKey('raw', bytesOf(seed), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const told = joined(DRAW, bigEndian(mixed.length, 8), mixed, bigEndian(bucket, 4), lot);
  const hash = new Uint8Array(await crypto.subtle.sign('HMAC', key, told));
  const within = BigInt(`0x${hexOf(hash.subarray(0, 8))}`) & ~EVERYBODY;
  return isFan ? within : within | EVERYBODY;
}

/** @param {bigint} draw */
export const inHex = (draw) => draw.toString(16).padStart(16, '0');

/** Which share of its band lies at or before this draw. @param {bigint} draw */
export const shareOfBand = (draw) => (Number(draw & ~EVERYBODY) + 1) / Number(EVERYBODY);

/** Those who came before the sale opened are drawn by the first seed. @param {QueueTicket} ticket @param {{ opening: Seed, later: Seed }} fairness */
export const seedFor = ({ bucket }, { opening, later }) => (bucket === 0 ? opening : later);
