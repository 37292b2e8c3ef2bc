// The link to one room, and the time of the server at its other end.

import { PART } from '../room/room.js';
import { Refusal } from '../store/store.js';
import { ensureSession, forgetSession, isOfNoUse, knownSession, provePage, proveSession, request, startSession } from './http.js';
import { Line } from './line.js';

/** @typedef {import('./messages').ServerMessage} ServerMessage */

/** A room that was kept is shown if the server's is not here by then. */
const RESTORE_MS = 2500;
/** A room is kept for the first time when it has been shown for so long. */
const SAVE_MS = 8000;
/** A question about a refusal that takes longer is given up. */
const ANSWER_MS = 5000;
/** So many refusals in turn without a reason are no matter of one moment. */
const REFUSALS = 4;

/** Exchanges in a burst; the one with the least delay counts. */
const BURST = 8;
const PLAYING_MS = 10_000;
const IDLE_MS = 60_000;
/** A shift that is worth drawing positions again. */
const VISIBLE_MS = 20;
/** A difference between two clocks of the machine that only sleep explains. */
const SLEPT_MS = 1000;

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
  /** The server takes this page for its own: it has accepted a socket, or said so. */
  #isOwn = false;
  /** Handshakes in turn that failed while the server answered requests. */
  #refusals = 0;
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
        this.#isOwn = true;
        this.#refusals = 0;
        this.store.connected({ send: (message) => this.#line.send(message) });
        this.#clock.start();
      },
      message: (message) => this.#message(message),
      lost: (info) => {
        this.#clock.stop();
        this.store.disconnected({ ...info, isBlocked: this.#refusals >= REFUSALS });
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
    this.#restoreTimer = this.#saveTimer = undefined;
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
    const session = await ensureSession();
    if (session.id !== this.store.session?.id) {
      this.store.session = session;
      this.store.touch(PART.you);
    }
    const { room, position } = this.store;
    const path = `/v1/rooms/${encodeURIComponent(room?.id ?? this.reference)}/socket`;
    return position ? `${path}?epoch=${encodeURIComponent(position.epoch)}&seq=${position.seq}` : path;
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

  /**
   * Whether the viewer is banned still.
   *
   * @returns {Promise<import('../store/store.js').Refusal | null>} the ban, null where there is none any more
   */
  banned() {
    return this.#ask().then(() => null, (refusal) => {
      if (refusal?.code === 'banned') return refusal;
      if (refusal?.code === 'not_found' || refusal?.code === 'unauthorized') return null;
      throw refusal;
    });
  }

  /** Asks for what no room has, which costs nothing, to hear why it is refused. */
  #ask() {
    const room = encodeURIComponent(this.store.room?.id ?? this.reference);
    return request('GET', `/v1/rooms/${room}/events?after=${Number.MAX_SAFE_INTEGER}&limit=1`, undefined, { timeoutMs: ANSWER_MS });
  }

  /** Asks why a handshake failed: a browser does not tell. */
  async #refused() {
    try {
      await this.#ask();
      if (!this.#isOwn) await provePage({ timeoutMs: ANSWER_MS });
      this.#isOwn = true;
      this.#refusals += 1;
      return {};
    } catch (error) {
      this.#refusals = 0;
      const refusal = error instanceof Refusal ? error : new Refusal('internal');
      if (refusal.code === 'offline') this.#restore();
      return refusal.code === 'unauthorized' ? this.#unauthorized() : this.#denied(refusal);
    }
  }

  /** @param {Refusal} refusal  of what the next attempt needs */
  #denied({ code, retryAfterMs, reason }) {
    if (!isOfNoUse(code) && code !== 'banned' && code !== 'not_found') return { waitMs: retryAfterMs };
    this.store.disconnected({ code, retryAfterMs, reason });
    return { isFinal: true };
  }

  /** An old visitor's session has expired: another one is made. One that was in use here has been ended. */
  async #unauthorized() {
    const known = knownSession();
    // Another tab has made one since: the next attempt has its cookie.
    if (known && known.id !== this.store.session?.id) return {};
    if (this.#wasLive) {
      forgetSession();
      this.store.disconnected({ code: 'unauthorized' });
      return { isFinal: true };
    }
    return startSession(known?.name).then(() => ({}), (refusal) => this.#denied(refusal));
  }

  /** @param {4401|4403|4404} code */
  async #ended(code) {
    if (code === 4401 && knownSession()?.id === this.store.session?.id) forgetSession();
    this.store.disconnected({ code });
    if (code !== 4403) return;
    const refusal = await this.#ask().catch((error) => error);
    if (refusal?.code === 'banned' && this.store.link.state === 'ended') {
      this.store.disconnected({ code, retryAfterMs: refusal.retryAfterMs, reason: refusal.reason });
    }
  }
}

/** Measures the difference between the server's clock and this one. */
export class Clock {
  #left = 0;
  #asked = 0;
  #bestDelay = Infinity;
  #bestOffset = 0;
  #burstAt = -Infinity;
  #skew = 0;
  /** @type {any} */
  #timer;

  /**
   * @param {import('../store/store.js').Store} store
   * @param {(message: object) => void} send
   */
  constructor(store, send) {
    this.store = store;
    this.send = send;
    this.#skew = Date.now() - store.monotonic();
  }

  /**
   * A first estimate: a time that the server has just sent.
   *
   * @param {number} time
   */
  hint(time) {
    const { clock } = this.store;
    if (clock.errorMs === Infinity && time) clock.offset = time - clock.monotonic();
  }

  /** A connection is open, or the page is seen again: measures now, and from then on now and then. */
  start() {
    this.#mendSleep();
    this.#begin();
  }

  /** No connection, or nobody looks. */
  stop() {
    clearTimeout(this.#timer);
    this.#left = 0;
  }

  /** What is on air has changed: the next burst may be due earlier. */
  playbackChanged() {
    if (this.#burstAt > -Infinity && !isHidden()) this.#schedule();
  }

  /**
   * Takes the answer to one exchange.
   *
   * @param {{re?: number, t1: number, t2: number, t3: number}} answer
   */
  take({ re, t1, t2, t3 }) {
    if (!this.#left || re !== this.#asked) return;
    const t4 = this.store.monotonic();
    const delay = Math.max(0, t4 - t1 - (t3 - t2));
    if (delay < this.#bestDelay) {
      this.#bestDelay = delay;
      this.#bestOffset = (t2 - t1 + (t3 - t4)) / 2;
    }
    this.#left -= 1;
    if (this.#left) this.#ask();
    else this.#set(this.#bestOffset, this.#bestDelay / 2);
  }

  #begin() {
    if (isHidden()) return this.stop();
    this.#left = BURST;
    this.#bestDelay = Infinity;
    this.#burstAt = this.store.monotonic();
    this.#schedule();
    this.#ask();
  }

  /** Sets the time of the next burst: it is due even where answers are missing. */
  #schedule() {
    clearTimeout(this.#timer);
    const due = this.store.room?.playback.status === 'playing' ? PLAYING_MS : IDLE_MS;
    const wait = Math.max(0, this.#burstAt + due - this.store.monotonic());
    this.#timer = setTimeout(() => this.#begin(), wait);
  }

  #ask() {
    // Below zero: commands have the numbers above.
    this.#asked -= 1;
    this.send({ type: 'time', id: this.#asked, t1: this.store.monotonic() });
  }

  /**
   * @param {number} offset
   * @param {number} errorMs
   */
  #set(offset, errorMs) {
    const { clock } = this.store;
    const shift = Math.abs(offset - clock.offset);
    clock.offset = offset;
    clock.errorMs = errorMs;
    if (shift > VISIBLE_MS) this.store.touch(PART.playback);
  }

  /** In some browsers the monotonic clock stands while the machine sleeps; the wall clock tells for how long. */
  #mendSleep() {
    const skew = Date.now() - this.store.monotonic();
    if (Math.abs(skew - this.#skew) > SLEPT_MS) this.#set(this.store.clock.offset + skew - this.#skew, SLEPT_MS);
    this.#skew = skew;
  }
}

function isHidden() {
  return globalThis.document?.visibilityState === 'hidden';
}
