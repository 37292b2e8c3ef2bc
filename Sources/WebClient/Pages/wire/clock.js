// Measures the difference between the server's clock and this one.

import { PART } from '../room/room.js';

/** Exchanges in a burst; the one with the least delay counts. */
const BURST = 8;
const PLAYING_MS = 10_000;
const IDLE_MS = 60_000;
/** A shift that is worth drawing positions again. */
const VISIBLE_MS = 20;
/** A difference between two clocks of the machine that only sleep explains. */
const SLEPT_MS = 1000;

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
