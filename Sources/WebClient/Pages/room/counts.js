// What is counted of a room: the buckets that were read, and above them the minutes that the server tells live.

import { MINUTE, QUARTER, SPANS, floorTo, rangeOf } from './spans.js';

/**
 * @typedef {import('../wire/messages').Bucket} Bucket
 * @typedef {import('../wire/messages').Observed} Observed
 * @typedef {import('../wire/messages').CountsMessage} CountsMessage
 * @typedef {import('./spans.js').SpanName} SpanName
 * @typedef {{from: number, to: number, counts: Sums, peak: number | null, listenedMs: number}} Bar
 *   `peak` is null where no server saw the room
 * @typedef {Record<string, number>} Sums  a count that is 0 is left out
 */

/** Minutes that count as told: one less than the server tells, as this clock may be behind. They are kept a little longer. */
const LIVE_MINUTES = 59;
const KEPT_MINUTES = 61;

/**
 * Adds buckets up.
 *
 * @param {Iterable<object>} buckets
 * @returns {Sums}
 */
export function sumOf(buckets) {
  /** @type {Sums} */
  const sums = {};
  for (const bucket of buckets) {
    for (const [name, count] of Object.entries(bucket)) if (name !== 'at') sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

export class Counts {
  /** @type {Map<number, Bucket>} */
  #minutes = new Map();
  /** @type {Map<number, Bucket>} */
  #quarters = new Map();
  /** @type {Map<number, Bucket>} */
  #days = new Map();
  /** @type {Record<string, Map<number, Observed>>} what servers saw of listeners, by step */
  #observed = {};
  /** The first minute of which the live ones tell all. */
  #liveFrom = Infinity;
  /** @type {string|undefined} */
  #epoch;

  /** @param {number} offsetMinutes of the time in which days begin */
  constructor(offsetMinutes) {
    this.offsetMinutes = offsetMinutes;
  }

  /**
   * Takes a message of the subscription: its answer, or a delta.
   *
   * @param {CountsMessage} message
   * @param {number} now by the server's clock
   */
  told(message, now) {
    this.#enter(message.epoch);
    if (message.type === 'statistics' || message.whole) {
      this.#liveFrom = minutesAgo(now, LIVE_MINUTES);
      this.#minutes.clear();
    }
    for (const bucket of message.minutes) put(this.#minutes, bucket);
    put(this.#days, message.today);
    this.#settle(now);
  }

  /**
   * Takes the counts that were asked for. What the subscription tells of the same time stays.
   *
   * @param {import('../wire/messages').CountsAnswer} answer
   * @param {number} now by the server's clock
   */
  read(answer, now) {
    this.#enter(answer.epoch);
    const today = floorTo(now, SPANS.week.barMs, this.offsetMinutes);
    const isLive = this.#liveFrom < Infinity;
    const into = { minute: this.#minutes, quarter: this.#quarters, day: this.#days }[answer.step];
    const isTold = (/** @type {number} */ at) => isLive && at >= { minute: this.#liveFrom, quarter: Infinity, day: today }[answer.step];
    for (const at of into.keys()) if (at >= answer.from && at < answer.to && !isTold(at)) into.delete(at);
    for (const bucket of answer.buckets) if (!isTold(bucket.at)) put(into, bucket);
    this.#observed[answer.step] = new Map(answer.observed.map((seen) => [seen.at, seen]));
    this.#settle(now);
  }

  /**
   * The bars of a span that ends now.
   *
   * @param {SpanName} name
   * @param {number} now by the server's clock
   * @returns {Bar[]} ascending
   */
  bars(name, now) {
    this.#settle(now);
    const { step, barMs } = SPANS[name];
    const { from, to } = rangeOf(name, now, this.offsetMinutes);
    const buckets = { minute: this.#minutes, quarter: this.#quarters, day: this.#days }[step];
    const part = { minute: MINUTE, quarter: QUARTER, day: barMs }[step];
    /** @type {Bar[]} */
    const bars = [];
    for (let at = from; at < to; at += barMs) {
      const counted = [], seen = [];
      for (let one = at; one < at + barMs; one += part) {
        const bucket = buckets.get(one), observed = this.#observed[step]?.get(one);
        if (bucket) counted.push(bucket);
        if (observed) seen.push(observed);
      }
      bars.push({
        from: at, to: at + barMs, counts: sumOf(counted),
        peak: seen.length ? Math.max(...seen.map((one) => one.peakListeners)) : null,
        listenedMs: seen.reduce((sum, one) => sum + one.listenedMs, 0),
      });
    }
    return bars;
  }

  /**
   * Counts of another epoch are those of another log.
   *
   * @param {string} epoch
   */
  #enter(epoch) {
    if (this.#epoch !== undefined && this.#epoch !== epoch) {
      for (const buckets of [this.#minutes, this.#quarters, this.#days]) buckets.clear();
      this.#observed = {};
      this.#liveFrom = Infinity;
    }
    this.#epoch = epoch;
  }

  /**
   * Sums the quarters up that lie wholly within the live minutes, so that they stay when their minutes go.
   *
   * @param {number} now
   */
  #settle(now) {
    if (this.#liveFrom === Infinity) return;
    this.#liveFrom = Math.max(this.#liveFrom, minutesAgo(now, LIVE_MINUTES));
    const first = Math.ceil(this.#liveFrom / QUARTER) * QUARTER;
    for (let at = first; at <= now + QUARTER; at += QUARTER) {
      const minutes = [...this.#minutes.values()].filter((one) => one.at >= at && one.at < at + QUARTER);
      put(this.#quarters, /** @type {Bucket} */ ({ at, ...sumOf(minutes) }));
    }
    for (const at of this.#minutes.keys()) if (at < minutesAgo(now, KEPT_MINUTES)) this.#minutes.delete(at);
  }
}

/**
 * The first of the last minutes, the present one included.
 *
 * @param {number} now
 * @param {number} minutes
 */
const minutesAgo = (now, minutes) => (Math.floor(now / MINUTE) - minutes + 1) * MINUTE;

/**
 * Puts a bucket in its place; one without counts is left out.
 *
 * @param {Map<number, Bucket>} buckets
 * @param {Bucket} bucket
 */
function put(buckets, bucket) {
  if (Object.keys(bucket).length > 1) buckets.set(bucket.at, bucket);
  else buckets.delete(bucket.at);
}
