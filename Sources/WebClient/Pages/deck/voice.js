// One audio element: the song that is open in it, how loud it is, and where it is.

/** A file that cannot be opened in this time is given up. */
const OPEN_MS = 10_000;
/** Where a header lies, the position at the end is off by more than this, and the length has been told anew by more. */
const OFF_MS = 500;
/** So long before its claimed end a song goes on that is to be played beyond it. */
const NEAR_S = 1;

/**
 * What sound needs of the browser; `elements` live as long as the page, since a browser lets one play by itself that a tap
 * has started once.
 *
 * @typedef {{elements: HTMLAudioElement[], element(): HTMLAudioElement, now(): number, after(run: () => void, ms: number): any,
 *   cancel(timer: any): void, url(file: Blob): string, free(url: string): void}} Ports
 * @typedef {{ended(lengthMs: number|null): void, paused(): void, playing(): void, stalled(): void, failed(error: unknown): void}} Report
 *   about the song that is meant to sound; `paused` was the system; `lengthMs` is what
 *   was heard, not what a header says; null where it was not heard from its beginning
 */

/**
 * A factor of the volume on its way.
 *
 * @typedef {{from: number, to: number, begunAt: number, ms: number}} Glide
 */

/**
 * @param {number} value
 * @returns {Glide}
 */
export const still = (value) => ({ from: value, to: value, begunAt: 0, ms: 0 });

/** A song that was left is not played. */
const left = () => Object.assign(new Error('left'), { name: 'AbortError' });

/** @param {Glide} glide @param {number} now */
const isOver = ({ begunAt, ms }, now) => now >= begunAt + ms;

/**
 * Glides by equal power: of two that begin together, 0 to 1 and 1 to 0, the squares make 1 at all times.
 *
 * @param {Glide} glide
 * @param {number} now
 */
function valueOf(glide, now) {
  if (isOver(glide, now)) return glide.to;
  const done = Math.sin((now - glide.begunAt) / glide.ms * Math.PI / 2) ** 2;
  return Math.sqrt(glide.from ** 2 + (glide.to ** 2 - glide.from ** 2) * done);
}

/** A song that neither opens nor fails: it is not worth another wait. */
export class Unanswered extends Error {}

export class Voice {
  /** The song that is open, or is opened once the tail has faded out. */
  key = '';
  /** It is meant to sound. */
  plays = false;
  /** @type {Blob|null} */
  file = null;
  /** @type {Glide} */
  level = still(1);
  /** @type {Glide} */
  fade = still(1);
  /**
   * What still sounds of a song that was left.
   *
   * @type {Glide|null}
   */
  #tail = null;
  #url = '';
  /**
   * A position in ms that is taken once the length is known.
   *
   * @type {number|null}
   */
  #from = null;
  /** Settles when the song can be placed, and played. */
  #ready = Promise.resolve();
  /** @type {{resolve(): void, reject(error: unknown): void}|null} */
  #opening = null;
  /** Tells whoever waits for the song to sound that it cannot: a browser does not always refuse what it was asked. */
  #fail = (/** @type {unknown} */ _error) => {};
  /** A position in it was asked for. */
  #isSought = false;
  /** It has begun to sound, since it was asked to. */
  #isUp = false;
  /** Where the element's own time begins, in s. */
  #origin = 0;
  /** The length that the element told first, in s. */
  #told = 0;
  /** Where the song was last, and when: at its end an element tells what a header says. */
  #last = { ms: 0, at: 0, isEnd: false };

  /**
   * @param {HTMLAudioElement} element
   * @param {Ports} ports
   * @param {Report} report
   */
  constructor(element, ports, report) {
    this.element = element;
    this.ports = ports;
    const isMeant = () => this.plays && !this.#tail;
    element.onloadedmetadata = () => {
      if (this.#tail) return;
      this.#origin = element.seekable.length > 0 ? Math.max(0, element.seekable.start(0)) : 0;
      this.#told = element.duration;
      this.#place();
      this.#opening?.resolve();
      this.#opening = null;
    };
    element.ontimeupdate = () => this.#follow();
    element.onended = () => {
      this.#follow();
      if (this.#tail) this.end();
      else if (this.plays) report.ended(this.#isSought ? null : this.positionMs);
    };
    element.onpause = () => { if (isMeant() && element.paused && !element.ended) report.paused(); };
    element.onplaying = () => {
      this.#follow();
      if (isMeant()) report.playing();
    };
    element.onseeked = () => {
      this.#follow();
      // Not every browser says that it stands still for a seek, and plays on behind it.
      if (!isMeant() || !this.#isUp || element.paused) return;
      report.stalled();
      report.playing();
    };
    element.onwaiting = () => { if (isMeant()) report.stalled(); };
    element.onerror = () => {
      if (this.#tail) return;
      const error = element.error ?? new Error('media');
      this.#opening?.reject(error);
      this.#opening = null;
      this.#fail(error);
      // Before it sounds, whoever plays it is told.
      if (this.plays && this.#isUp) report.failed(error);
    };
  }

  /** Whether a song that was left still sounds. */
  get isTail() {
    return this.#tail !== null;
  }

  /** Whether something comes out of the element. */
  get #sounds() {
    const { element } = this;
    return (this.plays || this.isTail) && !element.paused && !element.ended && element.readyState > 2;
  }

  /** Whether its song is heard. */
  get isHeard() {
    return !this.#tail && this.#sounds && !this.element.seeking;
  }

  /** The time since the song's own beginning, in ms. */
  get positionMs() {
    if (this.#tail) return this.#from ?? 0;
    if (this.#from !== null) return this.#from;
    return this.element.ended ? this.#last.ms : this.#toldMs;
  }

  get #toldMs() {
    return Math.max(0, (this.element.currentTime - this.#origin) * 1000);
  }

  /** The length in ms; Infinity where it is not known, or an estimate that moves. */
  get durationMs() {
    return this.#tail ? Infinity : this.#until(this.#origin);
  }

  /** Whether a song that was left is heard. */
  get fadesOut() {
    return this.isTail && this.#sounds;
  }

  /** What is left of what sounds, in ms; Infinity where that is not known. */
  get leftMs() {
    return this.#sounds ? this.#until(this.element.currentTime) : 0;
  }

  /** @param {number} from  in s */
  #until(from) {
    const { duration } = this.element;
    return duration > from && Math.abs(duration - this.#told) * 1000 < OFF_MS ? (duration - from) * 1000 : Infinity;
  }

  /** Notes where the song is; and where it has ended, whatever a header says. */
  #follow() {
    const { element } = this, now = this.ports.now(), last = this.#last, told = this.#toldMs;
    if (element.seeking || last.isEnd) return;
    const heard = last.ms + now - last.at;
    this.#last = { ms: element.ended && told - heard > OFF_MS ? heard : told, at: now, isEnd: element.ended };
  }

  /**
   * Opens a song, now or once the tail has faded out. One that has failed is opened anew.
   *
   * @param {string} key
   * @param {Blob} file
   */
  open(key, file) {
    if (this.key === key && (this.#tail || !this.element.error)) return;
    this.key = key;
    this.file = file;
    this.plays = false;
    this.#from = null;
    this.#opening?.reject(left());
    this.#ready = new Promise((resolve, reject) => { this.#opening = { resolve: () => resolve(undefined), reject }; });
    this.#ready.catch(() => {});
    if (!this.#tail) this.#load();
  }

  /** Makes the element playable later: to be called in a tap, of which a browser takes a load. What is open is opened anew. */
  unlock() {
    const { key, file } = this;
    this.key = '';
    if (file) this.open(key, file);
    else this.element.load();
  }

  #load() {
    const { element, ports } = this;
    if (this.#url) ports.free(this.#url);
    this.#url = ports.url(/** @type {Blob} */ (this.file));
    this.#isUp = this.#isSought = false;
    this.#origin = 0;
    this.#last = { ms: 0, at: ports.now(), isEnd: false };
    element.preload = 'auto';
    element.src = this.#url;
  }

  /** @param {number} positionMs */
  seek(positionMs) {
    // A song that has just been opened is at its beginning.
    if (positionMs === 0 && this.#opening) this.#from = null;
    else this.#from = positionMs;
    this.#place();
  }

  /** Takes the position that is asked for, once that is possible. */
  #place() {
    const { element } = this;
    if (this.#from === null || this.#tail || element.readyState < 1) return;
    const asked = this.#origin + this.#from / 1000, { duration } = element;
    // An element goes to its end, and no further, where a position is beyond what a header claims: the song goes on there.
    const at = asked > duration + OFF_MS / 1000 ? Math.max(this.#origin, duration - NEAR_S) : asked;
    this.#last = { ms: (at - this.#origin) * 1000, at: this.ports.now(), isEnd: false };
    this.#isSought ||= this.#from > 0;
    this.#from = null;
    if (Math.abs(element.currentTime - at) > 0.0005) element.currentTime = at;
  }

  /**
   * Settles when the song has its place.
   *
   * @returns {Promise<void>} rejects where the file cannot be opened
   */
  async placed() {
    if (!this.#tail && this.#from === null) return;
    const { ports } = this;
    /** @type {any} */
    let timer;
    await Promise.race([this.#ready, new Promise((_, reject) => { timer = ports.after(() => reject(new Unanswered('media')), OPEN_MS); })])
      .finally(() => ports.cancel(timer));
  }

  /**
   * Lets the song sound.
   *
   * @returns {Promise<boolean>} whether it does: it may have been paused or left meanwhile; rejects where the browser wants
   *   a tap, or the file cannot be played
   */
  async run() {
    const { key } = this;
    this.plays = true;
    // Within a tap, the element is asked within it.
    if (this.#tail || this.#from !== null) await this.placed();
    if (!this.plays || this.key !== key) return false;
    const { element } = this;
    if (element.error) throw element.error;
    await Promise.race([element.play(), new Promise((_, reject) => { this.#fail = reject; })]);
    if (!this.plays || this.key !== key || this.#tail) return false;
    this.#isUp = true;
    return true;
  }

  /** Is silent at once. */
  pause() {
    this.plays = this.#isUp = false;
    if (this.#tail) this.end();
    else this.element.pause();
  }

  /** Leaves the song, which sounds on as loud as it is until `hurry`. What is to be opened after one left earlier stays. */
  hold() {
    const wasTail = this.#tail;
    this.#tail = still(this.loudness);
    if (!wasTail) this.#forget();
  }

  #forget() {
    this.key = '';
    this.file = null;
    this.#from = null;
    this.plays = this.#isUp = false;
    this.#opening?.reject(left());
    this.#opening = null;
  }

  /**
   * Fades out what sounds of a song that was left; what fades out already does so no later.
   *
   * @param {number} ms
   */
  hurry(ms) {
    const now = this.ports.now(), tail = this.#tail;
    if (!tail) return;
    if (!this.#sounds) this.end();
    else this.#tail = { from: valueOf(tail, now), to: 0, begunAt: now, ms: tail.to === 0 ? Math.min(ms, tail.begunAt + tail.ms - now) : ms };
  }

  /**
   * Ends a fade into the song in this time.
   *
   * @param {number} ms
   */
  hasten(ms) {
    const now = this.ports.now(), { fade } = this;
    if (fade.to > fade.from && fade.begunAt + fade.ms > now + ms) this.fade = { from: valueOf(fade, now), to: fade.to, begunAt: now, ms };
  }

  /**
   * Fades all out.
   *
   * @param {number} ms
   */
  leave(ms) {
    this.hold();
    this.#forget();
    this.hurry(ms);
  }

  /** Ends what sounds of a song that was left, and opens the one that waits for that. */
  end() {
    const { element } = this;
    this.#tail = null;
    element.pause();
    if (this.key) return this.#load();
    if (this.#url) this.ports.free(this.#url);
    this.#url = '';
    this.#isUp = false;
    element.removeAttribute('src');
    element.load();
    return undefined;
  }

  /** Frees the file, and the element for another player. */
  close() {
    const { element } = this;
    this.#forget();
    this.end();
    element.onloadedmetadata = element.ontimeupdate = element.onended = element.onpause = null;
    element.onseeked = element.onplaying = element.onwaiting = element.onerror = null;
  }

  /** How loud the element is to be, without the person's volume. */
  get loudness() {
    const now = this.ports.now();
    return this.#tail ? valueOf(this.#tail, now) : valueOf(this.level, now) * valueOf(this.fade, now);
  }

  /**
   * Sets a level, slowly where it is heard.
   *
   * @param {number} level
   * @param {number} ms
   */
  setLevel(level, ms) {
    if (Math.abs(this.level.to - level) < 0.005) return;
    const now = this.ports.now();
    this.level = this.plays && !this.#tail ? { from: valueOf(this.level, now), to: level, begunAt: now, ms } : still(level);
  }

  /**
   * Gives the element its volume as it is now.
   *
   * @param {number} volume  the person's
   * @returns {boolean} whether it is on its way to another one
   */
  step(volume) {
    const now = this.ports.now();
    if (this.#tail && this.#tail.to === 0 && isOver(this.#tail, now)) this.end();
    this.element.volume = Math.max(0, Math.min(1, volume * this.loudness));
    return (this.#tail ? [this.#tail] : [this.level, this.fade]).some((glide) => !isOver(glide, now));
  }
}
