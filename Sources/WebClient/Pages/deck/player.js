// What is heard: two audio elements that live as long as the page, one of which fades over the other.

/** A step of a fade. */
const STEP_MS = 40;
/** A sound that is cut off fades out in this time, so that it does not crack. */
const CUT_MS = 60;
/** A song that gets its level while it plays gets it in this time. */
const LEVEL_MS = 1500;
/** A file that cannot be opened in this time is given up. */
const OPEN_MS = 10_000;

/**
 * @typedef {{element: HTMLAudioElement, key: string, url: string, level: number, fade: number, plays: boolean,
 *   ready: Promise<void>}} Slot  `level` and `fade` are factors of the volume; `plays`: it is meant to sound
 * @typedef {{ended(): void, paused(): void, playing(): void, stalled(): void, failed(error: unknown): void}} Report
 *   about the song that is heard; `paused` was the system
 */

/**
 * The elements of this page: a browser lets one play by itself that a tap has started once.
 *
 * @type {HTMLAudioElement[]}
 */
const elements = [];

export class Player {
  /** @type {Slot[]} */
  #slots;
  #now = 0;
  #volume = 1;
  /**
   * Fades under way.
   *
   * @type {Map<Slot, any>}
   */
  #fades = new Map();

  /** @param {Report} report */
  constructor(report) {
    this.report = report;
    while (elements.length < 2) elements.push(new Audio());
    this.#slots = elements.map((element) => ({ element, key: '', url: '', level: 1, fade: 1, plays: false, ready: Promise.resolve() }));
    for (const slot of this.#slots) this.#listen(slot);
  }

  get #slot() {
    return this.#slots[this.#now];
  }

  /** Whether the browser lets the page set the volume; iOS does not. */
  get canSetVolume() {
    const probe = new Audio();
    probe.volume = 0.5;
    return probe.volume === 0.5;
  }

  /** The position of what is heard, in ms. */
  get positionMs() {
    return this.#slot.element.currentTime * 1000;
  }

  /** The length of what is heard, in ms; Infinity where it is not known. */
  get durationMs() {
    const { duration } = this.#slot.element;
    return duration > 0 ? duration * 1000 : Infinity;
  }

  /** Whether something comes out. */
  get isHeard() {
    const { element, plays } = this.#slot;
    return plays && !element.paused && !element.seeking && element.readyState > 2;
  }

  /**
   * Makes both elements playable later: to be called in a tap.
   *
   * @param {Blob} silence
   */
  unlock(silence) {
    for (const slot of this.#slots) {
      // What sounds, or stands there and is played in the same tap, needs none.
      if (slot.plays || (slot.key && slot === this.#slot)) continue;
      this.#leave(slot, 0);
      this.#open(slot, 'silence', silence);
      slot.element.play().then(() => slot.key === 'silence' && slot.element.pause(), () => {});
    }
  }

  /**
   * Opens the song that is probably next.
   *
   * @param {string} key   the song
   * @param {Blob} file
   */
  prepare(key, file) {
    const other = this.#slots[1 - this.#now];
    if (other.key === key || this.#slot.key === key || other.plays) return;
    this.#open(other, key, file);
  }

  /**
   * Whether a song is open, and would be played without its file.
   *
   * @param {string} key
   */
  isOpen(key) {
    return this.#slots.some((slot) => slot.key === key && !slot.plays);
  }

  /** The song that is heard, or stands there paused. */
  get key() {
    return this.#slot.key;
  }

  /**
   * Plays a song in place of what is heard.
   *
   * @param {string} key
   * @param {Blob|null} file  null where it `isOpen`
   * @param {{positionMs: number, level: number, fadeMs: number, plays: boolean}} how  `plays`: else it stands there
   * @returns {Promise<void>} when it is heard; rejects where the browser wants a tap (`NotAllowedError`), or the file
   *   cannot be played
   */
  async play(key, file, { positionMs, level, fadeMs, plays }) {
    const old = this.#slot;
    const reuses = old.key === key && !old.plays;
    if (!reuses) this.#now = 1 - this.#now;
    const slot = this.#slot;
    // What still fades out there ends.
    this.#stopFade(slot);
    if (slot.key !== key) {
      if (!file) throw new Error('not open');
      this.#open(slot, key, file);
    }
    slot.level = level;
    slot.plays = plays;
    const fades = fadeMs > 0 && plays && old.plays && !reuses;
    slot.fade = fades ? 0 : 1;
    this.#apply(slot);
    if (!reuses) this.#leave(old, fades ? fadeMs : CUT_MS);
    if (positionMs > 0 || slot.element.currentTime > 0) {
      // A position can be set once the length is known.
      if (slot.element.readyState < 1) await within(slot.ready, OPEN_MS);
      if (slot.key !== key) return;
      slot.element.currentTime = positionMs / 1000;
    }
    if (!slot.plays) return;
    await slot.element.play();
    // It may have been left while it was opened.
    if (fades && slot.plays && slot.key === key && slot === this.#slot) this.#fade(slot, 1, fadeMs);
  }

  /** Pauses at once. */
  pause() {
    const slot = this.#slot;
    slot.plays = false;
    slot.element.pause();
    // What fades out stops with it.
    this.#leave(this.#slots[1 - this.#now], 0);
  }

  /** @returns {Promise<void>} when it is heard; rejects where the browser wants a tap */
  async resume() {
    const slot = this.#slot;
    slot.plays = true;
    slot.fade = 1;
    this.#apply(slot);
    await slot.element.play();
  }

  /** @param {number} positionMs */
  seek(positionMs) {
    this.#slot.element.currentTime = positionMs / 1000;
  }

  /** Fades out what is heard, and forgets it. */
  stop() {
    for (const slot of this.#slots) this.#leave(slot, CUT_MS * 4);
  }

  /**
   * @param {number} volume  0 … 1
   */
  set volume(volume) {
    this.#volume = volume;
    for (const slot of this.#slots) this.#apply(slot);
  }

  /**
   * Sets the level of a song, slowly where it is heard.
   *
   * @param {string} key
   * @param {number} level  0 … 1
   */
  setLevel(key, level) {
    for (const slot of this.#slots) {
      if (slot.key !== key || Math.abs(slot.level - level) < 0.005) continue;
      const from = slot.level, begun = performance.now();
      const step = () => {
        if (slot.key !== key) return;
        const done = slot.plays ? Math.min(1, (performance.now() - begun) / LEVEL_MS) : 1;
        slot.level = from + (level - from) * done;
        this.#apply(slot);
        if (done < 1) setTimeout(step, STEP_MS);
      };
      step();
    }
  }

  /** Frees the files. */
  close() {
    for (const slot of this.#slots) {
      this.#leave(slot, 0);
      slot.element.onended = slot.element.onpause = slot.element.onplaying = slot.element.onwaiting = slot.element.onerror = null;
    }
  }

  /** @param {Slot} slot */
  #apply(slot) {
    slot.element.volume = Math.max(0, Math.min(1, this.#volume * slot.level * slot.fade));
  }

  /**
   * @param {Slot} slot
   * @param {string} key
   * @param {Blob} file
   */
  #open(slot, key, file) {
    const { element } = slot;
    if (slot.url) URL.revokeObjectURL(slot.url);
    slot.key = key;
    slot.url = URL.createObjectURL(file);
    slot.plays = false;
    slot.ready = new Promise((resolve, reject) => {
      element.onloadedmetadata = () => resolve(undefined);
      element.onerror = () => {
        reject(element.error ?? new Error('media'));
        if (slot === this.#slot && slot.plays) this.report.failed(element.error);
      };
    });
    slot.ready.catch(() => {});
    element.preload = 'auto';
    element.src = slot.url;
  }

  /** @param {Slot} slot */
  #listen(slot) {
    const { element } = slot;
    const isHeard = () => slot === this.#slot && slot.plays;
    element.onended = () => { if (isHeard()) this.report.ended(); };
    element.onpause = () => { if (isHeard() && element.paused && !element.ended) this.report.paused(); };
    element.onplaying = () => { if (isHeard()) this.report.playing(); };
    element.onwaiting = () => { if (isHeard()) this.report.stalled(); };
  }

  /**
   * Fades a slot out and closes it.
   *
   * @param {Slot} slot
   * @param {number} fadeMs
   */
  #leave(slot, fadeMs) {
    if (!slot.key) return;
    const wasHeard = slot.plays && !slot.element.paused;
    slot.plays = false;
    const end = () => {
      if (slot.url) URL.revokeObjectURL(slot.url);
      Object.assign(slot, { key: '', url: '', fade: 1 });
      slot.element.pause();
      slot.element.onerror = null;
      slot.element.removeAttribute('src');
      slot.element.load();
    };
    if (wasHeard && fadeMs > 0) this.#fade(slot, 0, fadeMs, end);
    else {
      this.#stopFade(slot);
      end();
    }
  }

  /** @param {Slot} slot */
  #stopFade(slot) {
    clearTimeout(this.#fades.get(slot));
    this.#fades.delete(slot);
  }

  /**
   * Fades by equal power: the sum of both sounds stays as loud.
   *
   * @param {Slot} slot
   * @param {0|1} to
   * @param {number} fadeMs
   * @param {() => void} [end]
   */
  #fade(slot, to, fadeMs, end) {
    this.#stopFade(slot);
    const from = slot.fade, begun = performance.now();
    const step = () => {
      const done = Math.min(1, (performance.now() - begun) / fadeMs);
      slot.fade = to ? Math.sin(done * Math.PI / 2) : from * Math.cos(done * Math.PI / 2);
      this.#apply(slot);
      if (done < 1) this.#fades.set(slot, setTimeout(step, STEP_MS));
      else {
        this.#fades.delete(slot);
        end?.();
      }
    };
    step();
  }
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {number} ms
 * @returns {Promise<T>}
 */
function within(promise, ms) {
  return Promise.race([promise, new Promise((_, reject) => { setTimeout(() => reject(new Error('media')), ms); })]);
}
