// The worker as the runtime sees it. A panic ends the WebAssembly instance, and with it
// everything that is in its memory; the next call gets another instance, and objects are
// made again from what they have stored.

import { DurableObject, WorkerEntrypoint } from 'cloudflare:workers';
import * as edge from './onsale_edge.js';

/** Which instance runs now. Asking starts another one if the last one has ended. */
const instance = () => edge.__worker_init_state().instanceId;

export default class extends WorkerEntrypoint {
  fetch(request) {
    instance();
    return edge.fetch(request, this.env, this.ctx);
  }
}

const object = (name) =>
  class extends DurableObject {
    #object;
    #instance;

    get object() {
      const now = instance();
      if (this.#instance !== now) {
        this.#object = new edge[name](this.ctx, this.env);
        this.#instance = now;
      }
      return this.#object;
    }

    fetch(request) {
      return this.object.fetch(request);
    }
  };

const objectWithAlarm = (name) =>
  class extends object(name) {
    alarm() {
      return this.object.alarm();
    }
  };

export class RoomController extends objectWithAlarm('RoomController') {}
export class RoomCounter extends objectWithAlarm('RoomCounter') {}
export class RoomGate extends object('RoomGate') {}

export class SeatFeed extends objectWithAlarm('SeatFeed') {
  webSocketMessage(socket, message) {
    return this.object.webSocketMessage(socket, message);
  }

  webSocketClose(socket, code, reason, wasClean) {
    return this.object.webSocketClose(socket, code, reason, wasClean);
  }

  webSocketError(socket, error) {
    return this.object.webSocketError(socket, error);
  }
}
