// The rooms near a point, live.

import { ensureSession, knownSession, proveSession, request, startSession } from './http.js';
import { Line } from './line.js';

/**
 * @typedef {import('./messages').NearbyRoom} NearbyRoom
 * @typedef {{lat: number, lon: number, radiusMeters: number}} Circle
 * @typedef {{state: 'connecting'|'live'|'waiting'|'refused', code?: string, retryAfterMs?: number}} NearbyState
 */

/** The id of the subscription: there is one on a line. */
const ID = 1;
/** A connection whose session is over is made again after this time. */
const AGAIN_MS = 1000;

export class NearbyLink {
  /** @type {Map<string, NearbyRoom>} */
  #rooms = new Map();
  /** @type {any} */
  #timer;
  /** @type {{id: string, name: string}|undefined} the session of the last attempt */
  #session;
  /** A session that was over has been replaced; it is not done twice. */
  #isRenewed = false;

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
        this.#session = await ensureSession();
        return '/v1/socket';
      },
      opened: () => {
        proveSession();
        this.#ask();
      },
      message: (message) => this.#message(message),
      lost: ({ retryAt }) => this.#tell({ state: retryAt === undefined ? 'connecting' : 'waiting' }),
      refused: () => this.#refused(),
      ended: () => {
        // The handshake is refused then, and another session made.
        if (!this.#isRenewed) this.#timer = setTimeout(() => this.line.open(), AGAIN_MS);
        else this.#tell({ state: 'refused', code: 'unauthorized' });
      },
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
      if (code === 'unauthorized' && !this.#isRenewed) return this.#renew();
      if (code !== 'unauthorized' && code !== 'insecure') return { waitMs: retryAfterMs };
      this.#tell({ state: 'refused', code });
      return { isFinal: true };
    }
  }

  /** The session has expired or was ended: another one of its name is made. */
  async #renew() {
    const known = knownSession();
    // Another tab has made one since: the next attempt has its cookie.
    if (known && known.id !== this.#session?.id) return {};
    try {
      await startSession(known?.name);
      this.#isRenewed = true;
      return {};
    } catch (error) {
      return { waitMs: /** @type {import('../store/store.js').Refusal} */ (error).retryAfterMs };
    }
  }
}
