// The rooms near a point and what they play, live.

import { ensureSession, isOfNoUse, knownSession, provePage, proveSession, request, startSession } from './http.js';
import { Line } from './line.js';

/**
 * @typedef {import('./messages').NearbyRoom} NearbyRoom
 * @typedef {{lat: number, lon: number, radiusMeters: number}} Circle
 * @typedef {{minimumRooms: number, tracks: import('./messages').Trend[]}} Trends
 * @typedef {{state: 'connecting'|'live'|'waiting'|'refused'|'ended', code?: string, retryAfterMs?: number}} NearbyState
 *   `ended`: refused, and only another session helps
 */

/** @param {string} code */
const endsSession = (code) => code === 'unauthorized' || isOfNoUse(code);

/** The ids of the subscriptions, to the rooms and to what they play: there is one of each on a line. */
const ID = 1;
const TRENDS = 2;
/** The least radius within which the server tells what is played, in metres; and the songs that it names. */
const LEAST_METERS = 1000;
const SONGS = 10;
/** A connection whose session is over is made again after this time. */
const AGAIN_MS = 1000;

export class NearbyLink {
  /** @type {Map<string, NearbyRoom>} */
  #rooms = new Map();
  /** @type {Trends|null} */
  #trends = null;
  /** @type {any} */
  #timer;
  /** @type {any} */
  #trendsTimer;
  /** @type {{id: string, name: string}|undefined} the session of the last attempt */
  #session;
  /** The rooms have been told on this connection. */
  #isLive = false;
  /** A session that was over has been replaced; it is not done twice. */
  #isRenewed = false;
  /** The server takes this page for its own: it has accepted a socket, or said so. */
  #isOwn = false;

  /**
   * Follows the rooms in a circle until {@link close}.
   *
   * @param {Circle} circle
   * @param {(rooms: NearbyRoom[], state: NearbyState, trends: Trends|null) => void} onChange  rooms nearest first; what
   *   they play is null where the server does not tell
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
        this.#isOwn = true;
        this.#isLive = false;
        this.#ask();
      },
      message: (message) => this.#message(message),
      lost: ({ retryAt }) => this.#tell({ state: retryAt === undefined ? 'connecting' : 'waiting' }),
      refused: () => this.#refused(),
      ended: () => {
        // The handshake is refused then, and another session made.
        if (!this.#isRenewed) this.#timer = setTimeout(() => this.line.open(), AGAIN_MS);
        else this.#tell({ state: 'ended', code: 'unauthorized' });
      },
    });
    this.line.open();
  }

  /** Ends the subscription and its connection. */
  close() {
    clearTimeout(this.#timer);
    clearTimeout(this.#trendsTimer);
    this.onChange = () => {};
    this.line.close();
  }

  #ask() {
    this.line.send({ type: 'nearby', id: ID, ...this.circle });
    this.#askTrends();
  }

  #askTrends() {
    clearTimeout(this.#trendsTimer);
    const radiusMeters = Math.max(LEAST_METERS, this.circle.radiusMeters);
    this.line.send({ type: 'trending', id: TRENDS, window: 'hour', limit: SONGS, ...this.circle, radiusMeters });
  }

  /** @param {NearbyState} state */
  #tell(state) {
    const rooms = [...this.#rooms.values()];
    rooms.sort((a, b) => a.distanceMeters - b.distanceMeters || (a.id < b.id ? -1 : 1));
    this.onChange(rooms, state, this.#trends);
  }

  /** @param {import('./messages').ServerMessage} message */
  #message(message) {
    if (message.type === 'nearby' && message.re === ID) {
      this.#rooms = new Map(message.rooms.map((room) => [room.id, room]));
    } else if (message.type === 'nearbyDelta' && message.sub === ID) {
      for (const id of message.left) this.#rooms.delete(id);
      for (const room of [...message.changed, ...message.entered]) this.#rooms.set(room.id, room);
    } else if ((message.type === 'trending' && message.re === TRENDS) || (message.type === 'trendingDelta' && message.sub === TRENDS)) {
      this.#trends = { minimumRooms: message.minimumRooms, tracks: message.tracks };
      // The rooms are told first.
      if (!this.#isLive) return;
    } else {
      if (message.type === 'error' && message.re === ID) this.#denied(message);
      if (message.type === 'error' && message.re === TRENDS) this.#trendsDenied(message);
      return;
    }
    this.#isLive = true;
    this.#tell({ state: 'live' });
  }

  /** @param {{code: string, retryAfterMs?: number}} refusal */
  #denied({ code, retryAfterMs }) {
    this.#tell({ state: endsSession(code) ? 'ended' : 'refused', code, retryAfterMs });
    if (retryAfterMs !== undefined) this.#timer = setTimeout(() => this.#ask(), retryAfterMs);
  }

  /** @param {{retryAfterMs?: number}} refusal of a server that counts nothing, or of too many questions */
  #trendsDenied({ retryAfterMs }) {
    if (retryAfterMs !== undefined) this.#trendsTimer = setTimeout(() => this.#askTrends(), retryAfterMs);
  }

  async #refused() {
    try {
      if (this.#isOwn) await request('GET', '/v1/session', undefined, { timeoutMs: 5000 });
      else await provePage({ timeoutMs: 5000 });
      this.#isOwn = true;
      return {};
    } catch (error) {
      const refusal = /** @type {import('../store/store.js').Refusal} */ (error);
      return refusal.code === 'unauthorized' && !this.#isRenewed ? this.#renew() : this.#ends(refusal);
    }
  }

  /** @param {import('../store/store.js').Refusal} refusal  of what the next attempt needs */
  #ends({ code, retryAfterMs }) {
    if (!endsSession(code)) return { waitMs: retryAfterMs };
    this.#tell({ state: 'ended', code });
    return { isFinal: true };
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
      return this.#ends(/** @type {import('../store/store.js').Refusal} */ (error));
    }
  }
}
