// Tells the room how long songs are, as they were measured here: by the analysis, else by what was heard to its end.

import { OFF_MS } from './sound.js';

export class Lengths {
  /**
   * What was told, by track.
   *
   * @type {Map<number, number>}
   */
  #told = new Map();

  /**
   * @param {import('./device.js').Device} device
   * @param {() => boolean} isDeck  whether the room hears this device
   */
  constructor(device, isDeck) {
    this.device = device;
    this.isDeck = isDeck;
  }

  /** @param {Iterable<number>} tracks  whose files may have been measured */
  look(tracks) {
    for (const track of tracks) {
      const file = this.device.songOf(track);
      if (file?.waveform && file.durationMs) this.#tell(track, file.durationMs);
    }
  }

  /**
   * A song was heard from its beginning to its end.
   *
   * @param {number} track
   * @param {number} durationMs
   */
  heard(track, durationMs) {
    const file = this.device.songOf(track);
    if (!file || file.waveform || !(durationMs >= 1 && durationMs < Infinity)) return;
    if (Math.abs((file.durationMs ?? 0) - durationMs) > OFF_MS) {
      this.device.library?.remember(file.sourceId, { lufs: /** @type {any} */ (file.lufs), durationMs }).catch(() => {});
    }
    this.#tell(track, durationMs);
  }

  /**
   * @param {number} track
   * @param {number} durationMs
   */
  #tell(track, durationMs) {
    const { store } = this.device, known = store.room?.tracks.get(track);
    const isRight = Math.abs((known?.durationMs ?? 0) - durationMs) <= OFF_MS || this.#told.get(track) === durationMs;
    if (!known || isRight || !this.isDeck()) return;
    this.#told.set(track, durationMs);
    store.send({ type: 'setDuration', track, durationMs }).catch((/** @type {any} */ { retryAfterMs = 0 }) => {
      if (retryAfterMs > 0) setTimeout(() => this.#told.delete(track), retryAfterMs);
    });
  }
}
