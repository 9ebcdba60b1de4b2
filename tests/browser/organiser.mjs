// An organiser who sets up shows with a waiting room, and a buyer, through the public API.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

export const url = process.env.ONSALE_URL ?? 'http://127.0.0.1:8787';

/** `base` is another platform than that of the other tests. */
export async function send(method, path, body, token, base = url) {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(base + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text ? JSON.parse(text) : null;
}

export const password = 'correct horse';
export const newEmail = () => `${randomUUID()}@example.org`;

export async function logIn(role, email = newEmail(), base = url) {
  await send('POST', '/api/v1/accounts', { email, password, name: 'Robin', role }, undefined, base);
  return (await send('POST', '/api/v1/sessions', { email, password }, undefined, base)).token;
}

export async function newEvent(title, base = url) {
  const token = await logIn('organiser', newEmail(), base);
  const venue = { name: 'Hall', city: 'Hamburg', timezone: 'Europe/Berlin', sections: [{ name: 'FLOOR', capacity: 1 }] };
  const { venue_id } = await send('POST', '/api/v1/venues', venue, token, base);
  const { event_id } = await send('POST', '/api/v1/events', { title, category: 'concert', venue_id }, token, base);
  return {
    /** A show with one place and this room. */
    async show(room) {
      const starts_at = new Date(Date.now() + 30 * 86_400_000).toISOString();
      const show = { starts_at, currency: 'EUR', prices: { FLOOR: 4500 }, room: { rate_per_second: 100, ...room } };
      return (await send('POST', `/api/v1/events/${event_id}/shows`, show, token, base)).show_id;
    },
    setRoom: (show, room) => send('PUT', `/api/v1/shows/${show}/room`, room, token, base),
  };
}

/** Buys the only place with the pass in this browser context. */
export async function buy(context, show) {
  const token = await logIn('buyer');
  const post = async (path, data) => {
    const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': randomUUID() };
    const response = await context.request.post(`${url}/api/v1/shows/${show}${path}`, { headers, data });
    assert.ok(response.ok(), `${path}: ${response.status()} ${await response.text()}`);
    return response.json();
  };
  const { hold_id } = await post('/holds', { general: { section: 'FLOOR', quantity: 1 } });
  await post(`/holds/${hold_id}/checkout`, { payment_method: 'pm_card_visa' });
}
