// Looks at the DJ's songs one after the other: how their waves look, and how loud they are.

import { watchQuiet } from './quiet.js';

/** @typedef {import('./analysis-worker.js').Answer} Answer */
/** @typedef {import('./analysis-worker.js').Question} Question */
/** @typedef {Extract<Answer, { waveform: Uint8Array }> | Extract<Answer, { failed: string }>} Result */

/**
 * What it needs of a song in the library, which has a `waveform` once somebody has looked at it.
 *
 * @typedef {{ sourceId: string, title: string, size: number, durationMs?: number, lufs?: number | null, waveform?: Uint8Array,
 *   unplayable?: true }} Song
 */

/**
 * What it needs of the library.
 *
 * @typedef {object} Library
 * @property {Map<string, Song>} songs
 * @property {{ permission?: string }} [state]
 * @property {(song: any) => Promise<File>} file
 * @property {(sourceId: string, found: { lufs: number | null, waveform?: Uint8Array, durationMs?: number }) => unknown} remember
 */

/** A worker that says nothing for so long hangs. */
const QUIET_MS = 30_000;
/** The worker ends when it has had nothing to do for so long. */
const IDLE_MS = 30_000;
/** What could not be read, or no worker came: tried again after so long, when it is wanted. */
const AGAIN_MS = 10_000;
/** The longest song that is decoded whole, where packets cannot be decoded. */
const LONGEST_WHOLE_MS = 15 * 60_000;
/** The largest file of that kind, and of those whose length nobody knows. */
const LARGEST_WHOLE = 128 << 20, LARGEST_UNKNOWN = 24 << 20;
/** A phone's system ends a tab that takes much memory: there, this share of each. */
const SHARE_OF_PHONES = 0.5;
/** It is decoded at this rate: less memory, and no long task. */
const WHOLE_RATE = 22_050;
/** Decoding a whole song takes no longer. */
const WHOLE_PATIENCE_MS = 60_000;
/** Samples that go to the worker at once. */
const PIECE = 1 << 18;
/** Failures that say nothing about the song. */
const PASSING = ['unreadable', 'worker', 'closed'];

/** The songs that wait for it, and the worker that looks at them. */
export class Analysis {
  #library;
  #scriptURL;
  #done;
  /** @type {string[]} */
  #wanted = [];
  /**
   * When songs could not be read.
   *
   * @type {Map<string, number>}
   */
  #later = new Map();
  /**
   * Songs of which nothing was found. They are looked at again when they are added anew, and at the next visit: what fails
   * is the browser, which may have learnt more by then.
   *
   * @type {WeakSet<Song>}
   */
  #failed = new WeakSet();
  /**
   * Whether files could be read, when songs were wanted the last time.
   *
   * @type {string | undefined}
   */
  #permission;
  /** @type {Worker | null} */
  #worker = null;
  #isReady = false;
  #isClosed = false;
  /** @type {Song | null} */
  #current = null;
  #idle = 0;
  /**
   * Ends the wait for the worker.
   *
   * @type {(result: Result) => void}
   */
  #give = () => {};

  /**
   * @param {object} options
   * @param {Library} options.library
   * @param {(url: string) => any} options.scriptURL  makes the worker's address acceptable to the browser
   * @param {(song: any) => void} options.done  after the library remembers what was found, or where nothing was: then `waveform` is absent
   */
  constructor({ library, scriptURL, done }) {
    this.#library = library;
    this.#scriptURL = scriptURL;
    this.#done = done;
  }

  /**
   * Says which songs are wanted, the most wanted first, in place of those before. Songs that were looked at are left out.
   * The one that is being looked at is finished.
   *
   * @param {string[]} sourceIds
   */
  want(sourceIds) {
    const permission = this.#library.state?.permission;
    if (permission !== this.#permission) this.#later.clear();
    this.#permission = permission;
    this.#wanted = [...new Set(sourceIds)];
    void this.#run();
  }

  /** How many songs wait, the current one with them, and its title. */
  get state() {
    const waiting = this.#waiting();
    const others = waiting.filter((song) => song.sourceId !== this.#current?.sourceId).length;
    return { waiting: others + (this.#current ? 1 : 0), name: this.#current?.title };
  }

  /** Ends everything. */
  close() {
    this.#isClosed = true;
    this.#wanted = [];
    this.#end();
    this.#give({ failed: 'closed' });
  }

  /** Those that nobody has looked at, most wanted first. */
  #waiting() {
    return this.#wanted.map((id) => this.#library.songs.get(id)).filter((song) => song !== undefined && !song.waveform && !song.unplayable && !this.#failed.has(song))
      .map((song) => /** @type {Song} */ (song));
  }

  async #run() {
    if (this.#current) return;
    for (;;) {
      const now = performance.now();
      const song = this.#waiting().find(({ sourceId }) => now - (this.#later.get(sourceId) ?? -AGAIN_MS) >= AGAIN_MS);
      if (!song || this.#isClosed) break;
      clearTimeout(this.#idle);
      this.#current = song;
      const result = await this.#look(song).catch(() => ({ failed: 'unreadable' }));
      const why = 'failed' in result ? result.failed : '';
      // Without a worker, no other song will do better.
      for (const one of why === 'worker' ? this.#waiting() : [song]) this.#later.set(one.sourceId, performance.now());
      if (!('failed' in result)) await this.#remember(song.sourceId, result);
      else if (!PASSING.includes(why)) this.#failed.add(song);
      const known = this.#library.songs.get(song.sourceId);
      if (known && !PASSING.includes(why) && !this.#isClosed) this.#done(known);
      this.#current = null;
    }
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#end(), IDLE_MS);
  }

  /**
   * @param {string} sourceId
   * @param {Extract<Result, { waveform: Uint8Array }>} found
   */
  async #remember(sourceId, { lufs, waveform, durationMs }) {
    const found = { lufs, waveform, durationMs };
    try {
      await this.#library.remember(sourceId, found);
    } catch {
      // A browser that keeps nothing: not again during this visit.
      const song = this.#library.songs.get(sourceId);
      if (song) Object.assign(song, found);
    }
  }

  /**
   * @param {Song} song
   * @returns {Promise<Result>}
   */
  async #look(song) {
    const file = await this.#library.file(song);
    const result = await this.#ask([{ file, name: file.name }]);
    if (!('failed' in result) || PASSING.includes(result.failed) || result.failed === 'empty') return result;
    const durationMs = song.durationMs ?? result.durationMs, share = globalThis.matchMedia?.('(pointer: coarse)').matches ? SHARE_OF_PHONES : 1;
    if (file.size > (durationMs ? LARGEST_WHOLE : LARGEST_UNKNOWN) * share || (durationMs ?? 0) > LONGEST_WHOLE_MS * share) return result;
    const decoded = await whole(file);
    return decoded && !this.#isClosed ? this.#ask(pieces(decoded)) : result;
  }

  /**
   * Asks the worker, and waits for what it finds. A worker that hangs is ended.
   *
   * @param {Iterable<Question>} questions
   * @returns {Promise<Result>}
   */
  async #ask(questions) {
    const worker = this.#worker ??= this.#start();
    const quiet = watchQuiet(QUIET_MS, () => this.#fail('hangs'));
    let take = () => {};
    const result = new Promise((/** @type {(result: Result) => void} */ resolve) => {
      this.#give = resolve;
      worker.onmessage = ({ data }) => {
        quiet.heard();
        this.#isReady = true;
        if ('taken' in data) take();
        if ('failed' in data || 'waveform' in data) resolve(data);
      };
      // One that was never ready could not be loaded.
      worker.onerror = () => this.#fail(this.#isReady ? 'damaged' : 'worker');
    });
    for (const question of questions) {
      const samples = 'samples' in question ? question.samples : null;
      const taken = new Promise((resolve) => { take = () => resolve(undefined); });
      worker.postMessage(question, samples?.map((one) => one.buffer) ?? []);
      // One piece at a time: the copies of a long song take as much memory as the song.
      if (samples) await Promise.race([taken, result]);
    }
    return result.finally(() => quiet.end());
  }

  #start() {
    this.#isReady = false;
    return new Worker(this.#scriptURL(new URL('./analysis-worker.js', import.meta.url).href), { type: 'module' });
  }

  /** @param {string} why */
  #fail(why) {
    this.#end();
    this.#give({ failed: this.#isReady || why === 'damaged' ? why : 'worker' });
  }

  #end() {
    clearTimeout(this.#idle);
    this.#worker?.terminate();
    this.#worker = null;
  }
}

/**
 * A file decoded whole, by the browser's other decoder.
 *
 * @param {File} file
 * @returns {Promise<AudioBuffer | null>} null where it cannot, or does not come to an end
 */
async function whole(file) {
  try {
    const context = new OfflineAudioContext(1, 1, WHOLE_RATE);
    const decoding = context.decodeAudioData(await file.arrayBuffer());
    return await Promise.race([decoding, new Promise((/** @type {(none: null) => void} */ resolve) => setTimeout(resolve, WHOLE_PATIENCE_MS, null))]);
  } catch {
    return null;
  }
}

/**
 * @param {AudioBuffer} decoded
 * @returns {Generator<Question>}
 */
function* pieces(decoded) {
  const rate = decoded.sampleRate;
  for (let at = 0; at < decoded.length; at += PIECE) {
    const samples = Array.from({ length: decoded.numberOfChannels }, (_, c) => {
      const piece = new Float32Array(Math.min(PIECE, decoded.length - at));
      decoded.copyFromChannel(piece, c, at);
      return piece;
    });
    yield { samples, rate };
  }
  yield { samples: null, rate };
}
