// The worker as the runtime sees it. A panic ends the WebAssembly instance and everything
// that is under way in it. Those calls fail here at once, for nobody else would ever end
// them; the next call gets another instance, and objects are made again from what they
// have stored.

import { DurableObject } from 'cloudflare:workers';
import * as edge from './onsale_edge.js';

const state = edge.__worker_init_state();
const underWay = new Set();
let ended = false;

// `worker` sets this while it panics.
Object.defineProperty(state, 'criticalError', {
  set() {
    ended = true;
    for (const fail of underWay) fail(new Error('the instance has panicked'));
    underWay.clear();
  },
});

/** Which instance runs now. If the last one has ended, asking it starts another one. */
const instance = () => {
  if (ended) {
    edge.__worker_init_state();
    ended = false;
  }
  return state.instanceId;
};

/** What a call answers; or that the instance ended meanwhile. */
const answered = (promise) =>
  new Promise((resolve, reject) => {
    underWay.add(reject);
    promise.then(resolve, reject).finally(() => underWay.delete(reject));
  });

const unavailable = () =>
  new Response(
    JSON.stringify({
      type: 'urn:onsale:unavailable',
      title: 'Try again',
      status: 503,
      detail:
        'Something broke here, so the request may or may not have taken effect. ' +
        'Repeat it with the same Idempotency-Key: it happens once.',
    }),
    { status: 503, headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', 'retry-after': '2' } },
  );

const broken = (error) => {
  console.error(error);
  return unavailable();
};

/** Names and values in turn, a line each: one text instead of many steps into WebAssembly. */
const lines = (headers) => {
  let text = '';
  headers.forEach((value, name) => {
    text += `${name}\n${value}\n`;
  });
  return text;
};

export default {
  fetch(request, env, context) {
    try {
      instance();
      const answer = edge.answer(request, request.method, request.url, lines(request.headers), env, context);
      return answer instanceof Promise ? answered(answer).catch(broken) : answer;
    } catch (error) {
      return broken(error);
    }
  },
};

const object = (name) =>
  class extends DurableObject {
    #object;
    #instance;

    async call(method, ...values) {
      const now = instance();
      if (this.#instance !== now) {
        this.#object = new edge[name](this.ctx, this.env);
        this.#instance = now;
      }
      return answered(this.#object[method](...values));
    }

    fetch(request) {
      return this.call('fetch', request);
    }
  };

const objectWithAlarm = (name) =>
  class extends object(name) {
    alarm() {
      return this.call('alarm');
    }
  };

export class RoomController extends objectWithAlarm('RoomController') {}
export class RoomCounter extends objectWithAlarm('RoomCounter') {}
export class RoomReminders extends objectWithAlarm('RoomReminders') {}
export class RoomGate extends object('RoomGate') {}

export class SeatFeed extends objectWithAlarm('SeatFeed') {
  webSocketMessage(socket, message) {
    return this.call('webSocketMessage', socket, message);
  }

  webSocketClose(socket, code, reason, wasClean) {
    return this.call('webSocketClose', socket, code, reason, wasClean);
  }

  webSocketError(socket, error) {
    return this.call('webSocketError', socket, error);
  }
}
