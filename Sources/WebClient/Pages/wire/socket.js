// The link to one room.

import { PART } from '../room/room.js';
import { Refusal } from '../store/store.js';
import { Clock } from './clock.js';
import { ensureSession, forgetSession, knownSession, proveSession, request, startSession } from './http.js';
import { Line } from './line.js';

/** @typedef {import('./messages').ServerMessage} ServerMessage */

/** A room that was kept is shown if the server's is not here by then. */
const RESTORE_MS = 2500;
/** A room is kept for the first time when it has been shown for so long. */
const SAVE_MS = 8000;
/** A question about a refusal that takes longer is given up. */
const ANSWER_MS = 5000;

/** @type {Promise<typeof import('../store/saved.js')>|undefined} */
let savedModule;

/** What keeps rooms: loaded when it is needed, and then there when the page is left. */
function saved() {
  savedModule ??= import('../store/saved.js');
  savedModule.catch(() => { savedModule = undefined; });
  return savedModule;
}

/** Keeps a store in step with one room. */
export class RoomLink {
  /** @type {Line} */
  #line;
  /** @type {Clock} */
  #clock;
  #wasLive = false;
  #savedSeq = -1;
  /** @type {any} */
  #restoreTimer;
  /** @type {any} */
  #saveTimer;
  /** @type {(() => void)|undefined} */
  #unwatch;

  /**
   * @param {import('../store/store.js').Store} store
   * @param {string} reference  the room's code or id
   */
  constructor(store, reference) {
    this.store = store;
    this.reference = reference;
    this.#line = new Line({
      path: () => this.#path(),
      opened: () => {
        proveSession();
        this.store.connected({ send: (message) => this.#line.send(message) });
        this.#clock.start();
      },
      message: (message) => this.#message(message),
      lost: (info) => {
        this.#clock.stop();
        this.store.disconnected(info);
      },
      refused: () => this.#refused(),
      ended: (code) => this.#ended(/** @type {4401|4403|4404} */ (code)),
    });
    this.#clock = new Clock(store, (message) => this.#line.send(message));
  }

  /** Connects, with a session: a new one where this browser has none. */
  open() {
    this.#listen();
    this.#line.open();
  }

  #listen() {
    this.#unwatch ??= this.store.watch(PART.playback, () => this.#clock.playbackChanged());
    document.addEventListener('visibilitychange', this.#seen);
    addEventListener('pagehide', this.#save);
    if (!this.store.room) this.#restoreTimer ??= setTimeout(() => this.#restore(), navigator.onLine ? RESTORE_MS : 0);
  }

  /** Ends the connection and all attempts. */
  close() {
    this.#unwatch?.();
    this.#unwatch = undefined;
    document.removeEventListener('visibilitychange', this.#seen);
    removeEventListener('pagehide', this.#save);
    clearTimeout(this.#restoreTimer);
    clearTimeout(this.#saveTimer);
    this.#clock.stop();
    this.#line.close();
  }

  /** Makes the next attempt now, also where the link has ended. */
  retryNow() {
    this.#wasLive = false;
    this.#listen();
    this.#line.retryNow();
  }

  async #path() {
    this.store.session = await ensureSession();
    const { room } = this.store;
    const path = `/v1/rooms/${encodeURIComponent(room?.id ?? this.reference)}/socket`;
    return room ? `${path}?epoch=${encodeURIComponent(room.epoch)}&seq=${room.seq}` : path;
  }

  /** @param {ServerMessage} message */
  #message(message) {
    if (message.type === 'time') return this.#clock.take(message);
    if (message.type === 'welcome' || message.type === 'snapshot') this.#clock.hint(message.time ?? 0);
    this.store.receive(message);
    if (message.type !== 'snapshot' && message.type !== 'resumed') return;
    this.#wasLive = true;
    clearTimeout(this.#restoreTimer);
    this.#saveTimer ??= setTimeout(this.#save, SAVE_MS);
  }

  /** The page is seen again, or hidden. */
  #seen = () => {
    if (document.visibilityState === 'hidden') {
      this.#clock.stop();
      this.#save();
    } else if (this.#line.isOpen) {
      this.#clock.start();
    }
  };

  /** Keeps the room in this browser, if it has changed. */
  #save = () => {
    const { room } = this.store;
    if (!room || !this.#wasLive || room.seq === this.#savedSeq) return;
    this.#savedSeq = room.seq;
    saved().then((module) => module.saveRoom(room)).catch(() => {});
  };

  /** Shows the room that was kept, where the server does not answer soon. */
  async #restore() {
    clearTimeout(this.#restoreTimer);
    if (this.store.room || this.#wasLive) return;
    const kept = await saved().then((module) => module.savedRoom(this.reference)).catch(() => null);
    if (kept && this.store.link.state !== 'ended') this.store.restore(kept);
  }

  /** Asks for little of the room, to hear why it is refused. */
  #ask() {
    const room = encodeURIComponent(this.store.room?.id ?? this.reference);
    return request('GET', `/v1/rooms/${room}/events?limit=1`, undefined, { timeoutMs: ANSWER_MS });
  }

  /** Asks why a handshake failed: a browser does not tell. */
  async #refused() {
    try {
      await this.#ask();
      return {};
    } catch (error) {
      const { code, retryAfterMs } = error instanceof Refusal ? error : new Refusal('internal');
      if (code === 'offline') this.#restore();
      if (code === 'unauthorized') return this.#unauthorized();
      if (code === 'insecure' || code === 'banned' || code === 'not_found') {
        this.store.disconnected({ code, retryAfterMs });
        return { isFinal: true };
      }
      return { waitMs: retryAfterMs };
    }
  }

  /** An old visitor's session has expired: another one is made. One that was in use here has been ended. */
  async #unauthorized() {
    const name = knownSession()?.name;
    forgetSession();
    if (this.#wasLive) {
      this.store.disconnected({ code: 'unauthorized' });
      return { isFinal: true };
    }
    await startSession(name);
    return {};
  }

  /** @param {4401|4403|4404} code */
  async #ended(code) {
    if (code === 4401) forgetSession();
    this.store.disconnected({ code });
    if (code !== 4403) return;
    const refusal = await this.#ask().catch((error) => error);
    if (refusal?.code === 'banned' && this.store.link.state === 'ended') {
      this.store.disconnected({ code, retryAfterMs: refusal.retryAfterMs });
    }
  }
}
