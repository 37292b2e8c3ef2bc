// The machine's steps as sound: files, levels, fades, and the song that is opened beforehand.

import { Player } from './player.js';

/**
 * @typedef {import('./deck.js').Deck} Deck
 * @typedef {import('./deck.js').Song} Song
 * @typedef {import('./player.js').Report} Report
 */

/** Songs are played as loud as this; quieter ones stay as they are: nothing can clip. */
const TARGET_LUFS = -23;
/** A song whose loudness is not known yet is taken for one of this. */
const USUAL_LUFS = -14;
/** Two lengths of a song are the same if they differ by no more. */
export const OFF_MS = 1000;
/** ReplayGain's reference. */
const REPLAY_GAIN_LUFS = -18;

export class Sound {
  /** @type {Player} */
  #player;
  #asks = 0;

  /**
   * @param {import('./device.js').Device} device
   * @param {Report & {refused(wants: 'gesture'|'permission'): void}} report  `refused`: the browser wants a tap
   * @param {import('./voice.js').Ports} [ports]
   */
  constructor(device, report, ports) {
    this.device = device;
    this.report = report;
    this.#player = new Player(report, ports);
    this.canSetVolume = this.#player.canSetVolume;
  }

  get heard() {
    return { positionMs: this.#player.positionMs, isHeard: this.#player.isHeard };
  }

  /** 0 … 1 */
  set volume(/** @type {number} */ volume) {
    this.#player.volume = volume;
  }

  /** Makes the elements playable later: to be called in a tap. */
  unlock() {
    this.#player.unlock();
  }

  stop() {
    this.#asks++;
    this.#player.stop();
  }

  close() {
    this.#asks++;
    this.#player.close();
  }

  /**
   * The position of a song in ms, where it is heard.
   *
   * @param {Song|null} song
   */
  positionOf(song) {
    return song && this.#player.isHeard && this.has(song) ? this.#player.positionMs : null;
  }

  /**
   * The time until a song is to fade into the next one, in ms.
   *
   * @param {Song|null} song
   */
  fadesIn(song) {
    const positionMs = this.positionOf(song);
    if (!song || positionMs === null) return Infinity;
    const lengthMs = this.lengthOf(song);
    const fadeMs = Math.min(this.device.fadeMs, lengthMs / 2);
    return fadeMs <= 0 ? Infinity : lengthMs - positionMs - fadeMs;
  }

  /**
   * Whether a song is the one that is open and played, or stands there.
   *
   * @param {Song} song
   */
  has(song) {
    return this.#player.key === String(song.track);
  }

  /**
   * The length of a song in ms: as it was measured here, else as its element tells. Infinity where neither is known, or the
   * file's own headers say something else.
   *
   * @param {Song} song
   */
  lengthOf(song) {
    const file = this.device.songOf(song.track);
    if (file?.waveform && file.durationMs) return file.durationMs;
    const told = this.has(song) ? this.#player.durationMs : Infinity;
    return Math.abs(told - (file?.durationMs ?? told)) <= OFF_MS ? told : Infinity;
  }

  /**
   * @param {Exclude<import('./deck.js').Step, {do: 'send'}>} step
   * @param {Deck} deck
   */
  step(step, deck) {
    if (step.do === 'play') this.#play(step.song, step.fade, deck);
    else if (step.do === 'resume') this.#resume(deck);
    else if (step.do === 'seek') this.#player.seek(step.positionMs);
    else if (step.do === 'pause') this.#player.pause();
    else this.stop();
  }

  /**
   * @param {Song} song
   * @param {boolean} fade
   * @param {Deck} deck
   */
  async #play(song, fade, deck) {
    const asks = ++this.#asks;
    const key = String(song.track);
    const file = this.device.songOf(song.track);
    try {
      if (!file || !this.device.library) throw new Error('gone');
      const blob = this.#player.isOpen(key) ? null : await this.device.library.file(file);
      if (asks !== this.#asks) return;
      await this.#player.play(key, blob, {
        // A song that begins is heard from its beginning, however long its file took to open.
        positionMs: song.positionMs === 0 ? 0 : deck.position(this.device.now()),
        level: this.#levelOf(file), fadeMs: fade ? this.device.fadeMs : 0, plays: song.playing,
      });
    } catch (error) {
      if (asks === this.#asks) this.#failed(error);
    }
  }

  /** @param {Deck} deck */
  async #resume(deck) {
    const { song } = deck;
    if (song && this.#player.key !== String(song.track)) return this.#play(song, false, deck);
    const asks = this.#asks;
    await this.#player.resume().catch((error) => { if (asks === this.#asks) this.#failed(error); });
  }

  /** @param {any} error */
  #failed(error) {
    // A newer step has taken the place of this one.
    if (error?.name === 'AbortError') return;
    const wants = error?.name === 'NotAllowedError' ? 'gesture' : error?.why === 'permission' ? 'permission' : null;
    if (wants) this.report.refused(wants);
    else this.report.failed(error);
  }

  /**
   * Opens the song that is probably next.
   *
   * @param {Deck} deck
   */
  prepare(deck) {
    const { next } = deck;
    const file = next === undefined ? undefined : this.device.songOf(next);
    const key = String(next);
    if (!file || this.#player.isOpen(key)) return;
    this.device.library?.file(file).then((blob) => { if (deck.next === next) this.#player.prepare(key, blob); }, () => {});
  }

  /**
   * Sets the levels of the song that is heard and of the next one.
   *
   * @param {Deck} deck
   */
  level(deck) {
    for (const track of [deck.song?.track, deck.next]) {
      const file = track === undefined ? undefined : this.device.songOf(track);
      if (file) this.#player.setLevel(String(track), this.#levelOf(file));
    }
  }

  /** @param {import('./library.js').Song} file */
  #levelOf(file) {
    if (!this.device.levelled) return 1;
    const lufs = file.lufs ?? (file.gainDb === undefined ? USUAL_LUFS : REPLAY_GAIN_LUFS - file.gainDb);
    return Math.min(1, 10 ** ((TARGET_LUFS - lufs) / 20));
  }
}
