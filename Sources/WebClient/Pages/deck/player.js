// What is heard: two audio elements, one of which fades over the other.

import { BROWSER, elementsOf } from './elements.js';
import { Voice, still } from './voice.js';

/**
 * @typedef {import('./voice.js').Ports} Ports
 * @typedef {import('./voice.js').Report} Report
 */

/** A step of a fade. */
const STEP_MS = 20;
/** A sound that is cut off fades out in this time, so that it does not crack. */
const CUT_MS = 60;
/** All sound that is stopped fades out in this time. */
const STOP_MS = 240;
/** A song that gets its level while it plays gets it in this time. */
const LEVEL_MS = 1500;

export class Player {
  /** @type {Voice[]} */
  #voices;
  #now = 0;
  #volume = 1;
  /** @type {any} */
  #timer;
  #asks = 0;

  /**
   * @param {Report} report  about the song that is heard
   * @param {Ports} [ports]
   */
  constructor(report, ports = BROWSER) {
    this.ports = ports;
    this.#voices = elementsOf(ports).map((element) => new Voice(element, ports, report));
  }

  get #voice() {
    return this.#voices[this.#now];
  }

  get #other() {
    return this.#voices[1 - this.#now];
  }

  /** Whether the browser lets the page set the volume; iOS does not. */
  get canSetVolume() {
    const probe = this.ports.element();
    probe.volume = 0.5;
    return probe.volume === 0.5;
  }

  /** The position of what is heard, in ms. */
  get positionMs() {
    return this.#voice.positionMs;
  }

  /** The length of what is heard, in ms; Infinity where it is not known for sure. */
  get durationMs() {
    return this.#voice.durationMs;
  }

  /** Whether something comes out. */
  get isHeard() {
    return this.#voice.isHeard;
  }

  /** The song that is heard, or stands there paused. */
  get key() {
    return this.#voice.key;
  }

  /** Makes both elements playable later: to be called in a tap. */
  unlock() {
    for (const voice of this.#voices) {
      // What sounds, or stands there and is played in the same tap, needs nothing.
      if (!voice.plays && !voice.isTail && !(voice.key && voice === this.#voice)) voice.unlock();
    }
  }

  /**
   * Opens the song that is probably next: where another one still fades out, once that is silent.
   *
   * @param {string} key   the song
   * @param {Blob} file
   */
  prepare(key, file) {
    this.#other.open(key, file);
  }

  /**
   * Whether a song is open, or will be, and would be played without its file.
   *
   * @param {string} key
   */
  isOpen(key) {
    return this.#voices.some((voice) => voice.key === key && !voice.plays);
  }

  /**
   * Plays a song in place of what is heard. Where it fades, what is heard stays as loud until the song begins.
   *
   * @param {string} key
   * @param {Blob|null} file  null where it `isOpen`
   * @param {{positionMs: number, level: number, fadeMs: number, plays: boolean}} how  `plays`: else it stands there
   * @returns {Promise<void>} when it is heard; rejects where the browser wants a tap (`NotAllowedError`), or the file
   *   cannot be played
   */
  async play(key, file, { positionMs, level, fadeMs, plays }) {
    const asks = ++this.#asks;
    const opened = file ?? this.#voices.find((voice) => voice.key === key)?.file;
    if (!opened) throw new Error('not open');
    const voice = this.#free(key), old = this.#voices[1 - this.#voices.indexOf(voice)];
    const fades = fadeMs > 0 && plays && (old.isHeard || old.isTail);
    if (old.plays || old.isTail) old.hold();
    if (!fades) old.hurry(CUT_MS);
    this.#now = this.#voices.indexOf(voice);
    if (voice.isHeard) voice.hold();
    voice.hurry(CUT_MS);
    voice.open(key, opened);
    voice.plays = plays;
    voice.level = still(level);
    voice.fade = still(fades ? 0 : 1);
    voice.seek(positionMs);
    this.#step();
    if (!plays) return voice.placed();
    let isUp = false;
    try {
      isUp = await voice.run();
    } finally {
      if (fades && asks === this.#asks) this.#cross(old, voice, isUp ? fadeMs : CUT_MS);
    }
  }

  /**
   * The element for a song: the one it is open in, else the one that is not heard, or of two that sound the quieter one.
   *
   * @param {string} key
   */
  #free(key) {
    const now = this.#voice, other = this.#other;
    if (now.key === key && !now.plays) return now;
    if (now.isHeard) return other.isTail && other.loudness > now.loudness ? now : other;
    return (other.key === key || now.isTail) && !other.isTail ? other : now;
  }

  /**
   * Fades from one element to the other, in no more time than both songs have.
   *
   * @param {Voice} old
   * @param {Voice} voice
   * @param {number} fadeMs
   */
  #cross(old, voice, fadeMs) {
    const ms = Math.max(CUT_MS, Math.min(fadeMs, old.leftMs, voice.durationMs / 2));
    voice.fade = { from: 0, to: 1, begunAt: this.ports.now(), ms };
    old.hurry(ms);
    this.#step();
  }

  /** Pauses at once. */
  pause() {
    this.#asks++;
    this.#voice.pause();
    // What fades out stops with it.
    if (this.#other.isTail) this.#other.end();
  }

  /** @returns {Promise<unknown>} when it is heard; rejects where the browser wants a tap */
  resume() {
    const voice = this.#voice;
    // One that is about to begin, or fades in, goes on with that.
    if (!voice.plays) {
      this.#asks++;
      voice.fade = still(1);
      this.#step();
    }
    return voice.run();
  }

  /** @param {number} positionMs */
  seek(positionMs) {
    this.#voice.seek(positionMs);
  }

  /** Fades out what is heard, and forgets it. */
  stop() {
    this.#asks++;
    for (const voice of this.#voices) voice.leave(STOP_MS);
    this.#step();
  }

  /**
   * @param {number} volume  0 … 1
   */
  set volume(volume) {
    this.#volume = volume;
    this.#step();
  }

  /**
   * Sets the level of a song, slowly where it is heard.
   *
   * @param {string} key
   * @param {number} level  0 … 1
   */
  setLevel(key, level) {
    for (const voice of this.#voices) if (voice.key === key) voice.setLevel(level, LEVEL_MS);
    this.#step();
  }

  /** Frees the files. */
  close() {
    this.#asks++;
    this.ports.cancel(this.#timer);
    for (const voice of this.#voices) voice.close();
  }

  /** Gives the elements their volumes, step by step until all is as loud as it is to be. */
  #step() {
    this.ports.cancel(this.#timer);
    // A song that has ended before its fade leaves the next one alone.
    if (!this.#other.fadesOut) this.#voice.hasten(CUT_MS);
    const moves = this.#voices.map((voice) => voice.step(this.#volume));
    this.#timer = moves.includes(true) ? this.ports.after(() => this.#step(), STEP_MS) : undefined;
  }
}
