// The rooms near a point, live.

import { ensureSession, request } from './http.js';
import { Line } from './line.js';

/**
 * @typedef {import('./messages').NearbyRoom} NearbyRoom
 * @typedef {{lat: number, lon: number, radiusMeters: number}} Circle
 * @typedef {{state: 'connecting'|'live'|'waiting'|'refused', code?: string, retryAfterMs?: number}} NearbyState
 */

/** The id of the subscription: there is one on a line. */
const ID = 1;

export class NearbyLink {
  /** @type {Map<string, NearbyRoom>} */
  #rooms = new Map();
  /** @type {any} */
  #timer;

  /**
   * Follows the rooms in a circle until {@link close}.
   *
   * @param {Circle} circle
   * @param {(rooms: NearbyRoom[], state: NearbyState) => void} onChange  nearest first
   */
  constructor(circle, onChange) {
    this.circle = circle;
    this.onChange = onChange;
    this.line = new Line({
      path: async () => {
        await ensureSession();
        return '/v1/socket';
      },
      opened: () => this.#ask(),
      message: (message) => this.#message(message),
      lost: ({ retryAt }) => this.#tell({ state: retryAt === undefined ? 'connecting' : 'waiting' }),
      refused: () => this.#refused(),
      ended: () => this.#tell({ state: 'refused', code: 'unauthorized' }),
    });
    this.line.open();
  }

  /** Ends the subscription and its connection. */
  close() {
    clearTimeout(this.#timer);
    this.onChange = () => {};
    this.line.close();
  }

  #ask() {
    this.line.send({ type: 'nearby', id: ID, ...this.circle });
  }

  /** @param {NearbyState} state */
  #tell(state) {
    const rooms = [...this.#rooms.values()];
    rooms.sort((a, b) => a.distanceMeters - b.distanceMeters || (a.id < b.id ? -1 : 1));
    this.onChange(rooms, state);
  }

  /** @param {import('./messages').ServerMessage} message */
  #message(message) {
    if (message.type === 'nearby' && message.re === ID) {
      this.#rooms = new Map(message.rooms.map((room) => [room.id, room]));
    } else if (message.type === 'nearbyDelta' && message.sub === ID) {
      for (const id of message.left) this.#rooms.delete(id);
      for (const room of [...message.changed, ...message.entered]) this.#rooms.set(room.id, room);
    } else {
      if (message.type === 'error' && message.re === ID) this.#denied(message);
      return;
    }
    this.#tell({ state: 'live' });
  }

  /** @param {{code: string, retryAfterMs?: number}} refusal */
  #denied({ code, retryAfterMs }) {
    this.#tell({ state: 'refused', code, retryAfterMs });
    if (retryAfterMs !== undefined) this.#timer = setTimeout(() => this.#ask(), retryAfterMs);
  }

  async #refused() {
    try {
      await request('GET', '/v1/session', undefined, { timeoutMs: 5000 });
      return {};
    } catch (error) {
      const { code, retryAfterMs } = /** @type {import('../store/store.js').Refusal} */ (error);
      if (code !== 'unauthorized' && code !== 'insecure') return { waitMs: retryAfterMs };
      this.#tell({ state: 'refused', code });
      return { isFinal: true };
    }
  }
}
