// What is shown of a room's statistics: counts that are live, and the songs behind them, which are asked for.

import { Counts } from '../room/counts.js';
import { SPANS, rangeOf } from '../room/spans.js';
import { CountWatch } from './count-watch.js';

/**
 * @typedef {import('../wire/messages').Play} Play
 * @typedef {import('../wire/messages').TopTrack} TopTrack
 * @typedef {import('../room/spans.js').SpanName} SpanName
 * @typedef {(method: 'GET', path: string) => Promise<any>} Request
 */

/** Songs that end at the same time are one question; and two questions are at least so far apart. */
const SOON_MS = 300;
const APART_MS = 2000;
/** A question that failed is asked again after this time, where the server says no other. */
const AGAIN_MS = 10_000;
/** Songs in the list of those that were played most. */
const TOP = 10;
/** Songs of a page of plays, and the pages that are read at most. */
const PAGE = 500;
const PAGES = 4;
/** How a server refuses that counts nothing. */
const NO_COUNTS = 'not_found';

export class Counted {
  /** @type {SpanName} */
  #span;
  /** What the lists stand for: the songs of the bars when they were read. */
  #ended = '';
  #askedAt = -Infinity;
  #turn = 0;
  /** The subscription has been answered before. */
  #wasTold = false;
  /** @type {any} */
  #timer;
  #isClosed = false;

  /** Whether something has been read of the span that is shown. */
  isRead = false;
  /** When counts came last, by the server's clock. */
  readAt = 0;
  /** @type {{code: string, retryAfterMs?: number} | null} why what was asked for last is not here */
  refusal = null;
  /** @type {{code: string} | null} why the counts are not live */
  silence = null;
  /** The server counts nothing. */
  isOff = false;
  /** @type {TopTrack[]} */
  tracks = [];
  /** @type {Play[]} the songs of the viewer that were on air, newest first */
  own = [];

  /**
   * Follows what is counted until {@link close}.
   *
   * @param {import('./store.js').Store} store
   * @param {Request} request
   * @param {{offsetMinutes: number, span: SpanName, changed: () => void}} options
   */
  constructor(store, request, { offsetMinutes, span, changed }) {
    this.store = store;
    this.request = request;
    this.changed = changed;
    this.#span = span;
    this.counts = new Counts(offsetMinutes);
    this.watch = new CountWatch(store, offsetMinutes, {
      told: (message) => {
        this.counts.told(message, store.clock.now());
        this.silence = null;
        this.#came();
        // Another connection: what is older than an hour may have been missed.
        if (message.type === 'statistics' && (this.#wasTold || this.refusal)) this.#readIn(0);
        this.#wasTold = true;
        this.look();
      },
      refused: (code) => {
        if (code === NO_COUNTS) this.isOff = true;
        else this.silence = { code };
        this.changed();
      },
    });
    this.#read();
  }

  /** The bars of the span that is shown. */
  get bars() {
    return this.counts.bars(this.#span, this.store.clock.now());
  }

  get span() {
    return this.#span;
  }

  /** @param {SpanName} name */
  show(name) {
    if (name === this.#span) return;
    this.#span = name;
    this.isRead = false;
    this.#read();
    this.changed();
  }

  /** Asks for the songs again if others have ended within the span, or have left it. Called when time has passed, too. */
  look() {
    if (this.isRead && endedIn(this.bars) !== this.#ended) this.#readIn(SOON_MS);
    this.changed();
  }

  /** Asks again: the viewer is another member. */
  again() {
    this.#readIn(0);
  }

  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.watch.close();
  }

  #came() {
    this.readAt = this.store.clock.now();
  }

  /** @param {number} ms */
  #readIn(ms) {
    clearTimeout(this.#timer);
    const wait = Math.max(ms, this.#askedAt + APART_MS - this.store.monotonic());
    this.#timer = setTimeout(() => this.#read(), wait);
  }

  async #read() {
    clearTimeout(this.#timer);
    const { room } = this.store;
    if (!room || this.#isClosed) return;
    const turn = ++this.#turn;
    this.#askedAt = this.store.monotonic();
    const { offsetMinutes } = this.counts;
    const { step } = SPANS[this.#span];
    const { from, to } = rangeOf(this.#span, this.store.clock.now(), offsetMinutes);
    const path = `/v1/rooms/${room.id}/statistics`, range = `from=${from}&to=${to}`;
    try {
      const [counts, top, own] = await Promise.all([
        this.request('GET', `${path}?${range}&step=${step}&offsetMinutes=${offsetMinutes}`),
        this.request('GET', `${path}/tracks?${range}&limit=${TOP}`),
        this.#ownPlays(`${path}/plays?${range}&limit=${PAGE}`),
      ]);
      if (turn !== this.#turn || this.#isClosed) return;
      this.counts.read(counts, this.store.clock.now());
      this.tracks = top.tracks.filter((/** @type {TopTrack} */ track) => track.plays > 0);
      this.own = own;
      this.refusal = null;
      this.isOff = false;
      this.isRead = true;
      this.#ended = endedIn(this.bars);
      this.#came();
    } catch (error) {
      if (turn !== this.#turn || this.#isClosed) return;
      const { code, retryAfterMs } = /** @type {import('./store.js').Refusal} */ (error);
      if (code === NO_COUNTS) this.isOff = true;
      else {
        this.refusal = { code: code ?? 'internal', retryAfterMs };
        // Without a link it is asked again when the link is back.
        if (this.store.link.state === 'live') this.#readIn(retryAfterMs ?? AGAIN_MS);
      }
    }
    this.changed();
  }

  /**
   * The songs that the viewer has added, of those that were on air.
   *
   * @param {string} path
   * @returns {Promise<Play[]>} newest first
   */
  async #ownPlays(path) {
    const member = this.store.room?.you?.member;
    /** @type {Play[]} */
    const own = [];
    if (member === undefined) return own;
    let cursor = '';
    for (let page = 0; page < PAGES; page++) {
      const { plays, next } = await this.request('GET', path + cursor);
      for (const play of plays) if (play.addedBy === member) own.push(play);
      if (!next) break;
      cursor = `&cursor=${encodeURIComponent(next)}`;
    }
    return own;
  }
}

/**
 * What tells whether songs have ended in bars.
 *
 * @param {import('../room/counts.js').Bar[]} bars
 */
function endedIn(bars) {
  let plays = 0, skips = 0, playedMs = 0;
  for (const { counts } of bars) {
    plays += counts.plays ?? 0;
    skips += counts.skips ?? 0;
    playedMs += counts.playedMs ?? 0;
  }
  return `${plays} ${skips} ${playedMs}`;
}
