// The draw as the page recomputes it, against the values of the Rust tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitmentOf, drawOf, inHex, readTicket, seedFor, shareOfBand } from '../../web/fairness/draw.js';

const SEED = '05'.repeat(32);
const BEACON = Buffer.from('beacon').toString('hex');
const lot = new Uint8Array(16).fill(1);

test('the draw is that of crates/domain/src/room/draw.rs', async () => {
  // PINNED there, computed with Python's hmac.
  assert.equal(inHex(await drawOf(SEED, BEACON, { bucket: 0, isFan: false, lot })), 'b888d5ac38c0ddc1');
});

test('fans come before everybody else, and each part changes the draw', async () => {
  const base = { bucket: 0, isFan: false, lot };
  const drawn = await drawOf(SEED, BEACON, base);
  assert.equal(inHex(await drawOf(SEED, BEACON, { ...base, isFan: true })), '3888d5ac38c0ddc1');
  for (const other of [
    await drawOf('04'.repeat(32), BEACON, base),
    await drawOf(SEED, '', base),
    await drawOf(SEED, BEACON, { ...base, bucket: 1 }),
    await drawOf(SEED, BEACON, { ...base, lot: new Uint8Array(16).fill(2) }),
  ]) assert.notEqual(other, drawn);
});

test('the share of a band is that of the Rust rules', () => {
  assert.equal(shareOfBand((1n << 63n) | (1n << 62n)), 0.5);
  assert.equal(shareOfBand((1n << 63n) - 1n), 1);
});

test('a commitment is the hash of its purpose and the seed', async () => {
  const { createHash } = await import('node:crypto');
  const expected = createHash('sha256').update('onsale draw seed\0').update(Buffer.from(SEED, 'hex')).digest('hex');
  assert.equal(await commitmentOf(SEED), expected);
});

test('a ticket says its show, bucket, band and lot, and anything else is none', () => {
  const bytes = Buffer.alloc(95);
  bytes[0] = 1;
  bytes.fill(0xab, 2, 18);
  bytes.writeUInt32BE(7, 18);
  bytes[22] = 1;
  bytes.fill(3, 23, 39);
  const ticket = readTicket(bytes.toString('base64url'));
  assert.deepEqual({ ...ticket, lot: [...ticket.lot] }, { show: `shw_${'ab'.repeat(16)}`, bucket: 7, isFan: false, lot: Array(16).fill(3) });
  assert.equal(seedFor(ticket, { opening: 1, later: 2 }), 2);
  bytes[0] = 2;
  assert.equal(readTicket(bytes.toString('base64url')), undefined);
  assert.equal(readTicket('x'), undefined);
});
