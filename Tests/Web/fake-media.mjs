// Media elements as a browser's, on a clock of the test, and what is heard of them.
import assert from 'node:assert/strict';

/** The largest step of a sound that is cut. */
const STEP = 0.55;

/** Callbacks at times, each with what waits for it. */
export class Clock {
  now = 0;
  #due = [];
  #count = 0;

  after(run, ms) {
    const one = { at: this.now + Math.max(0, ms), count: this.#count++, run };
    let place = this.#due.length;
    while (place > 0 && this.#due[place - 1].at > one.at) place--;
    this.#due.splice(place, 0, one);
    return one;
  }

  cancel(one) {
    const place = this.#due.indexOf(one);
    if (place >= 0) this.#due.splice(place, 1);
  }

  /** Lets what is awaited go on. */
  async settle() {
    for (let i = 0; i < 12; i++) await null;
  }

  /**
   * Lets time pass.
   *
   * @param {number} ms
   * @param {() => void} [look]  after each moment in which something happened
   */
  async run(ms, look = () => {}) {
    const end = this.now + ms;
    await this.settle();
    look();
    while (this.#due.length > 0 && this.#due[0].at <= end) {
      const one = this.#due.shift();
      this.now = one.at;
      one.run();
      await this.settle();
      if (this.#due[0]?.at !== this.now) look();
    }
    this.now = end;
    look();
  }
}

/**
 * A file of music. `claims` is the length that its header tells, where that is not its own; `stays`: a longer one is told
 * only once that time has come. `openMs` is the time until its header is read, `bufferMs` until it can sound; `origin` is
 * where its element's time begins, in s. `isBroken`: no browser plays it; `isCorrupt`: none decodes it, though its header
 * is right.
 */
export class Music {
  constructor(name, seconds = 200, { claims = seconds, openMs = 20, bufferMs = 30, seekMs = 5, origin = 0, stays = false, isBroken = false, isCorrupt = false } = {}) {
    Object.assign(this, { name, seconds, claims, openMs, bufferMs, seekMs, origin, stays, isBroken, isCorrupt });
  }
}

const fault = (name) => Object.assign(new Error(name), { name });

/** An `<audio>` element, as far as the deck uses it and the standard says. */
class Element {
  #media;
  #music = null;
  #src = '';
  #volume = 1;
  #tasks = [];
  #waiting = [];
  #from = null;
  /** Where it was, in s of its own time, and since when it runs. */
  #at = 0;
  #since = null;
  #timer = null;
  paused = true;
  ended = false;
  seeking = false;
  readyState = 0;
  duration = NaN;
  error = null;
  preload = '';
  isFree = false;

  constructor(media) {
    this.#media = media;
  }

  get #now() {
    return this.#media.clock.now;
  }

  get music() {
    return this.#music;
  }

  get volume() {
    return this.#volume;
  }

  set volume(volume) {
    if (!(volume >= 0 && volume <= 1)) throw fault('IndexSizeError');
    this.#volume = this.#media.isFixed ? 1 : volume;
  }

  /** The time in its own file, which tells what is heard. */
  get #place() {
    return this.#at + (this.#since === null ? 0 : (this.#now - this.#since) / 1000);
  }

  get currentTime() {
    if (this.readyState < 1) return this.#from ?? 0;
    // At the end it is where the header says that the end is.
    return this.#music.origin + (this.ended ? Math.max(this.duration - this.#music.origin, this.#place) : this.#place);
  }

  set currentTime(seconds) {
    if (this.readyState < 1) {
      this.#from = seconds;
      return;
    }
    this.#halt();
    this.ended = false;
    this.seeking = true;
    this.readyState = 1;
    this.#at = Math.max(0, Math.min(seconds - this.#music.origin, Math.max(this.duration - this.#music.origin, 0)));
    this.#at = Math.min(this.#at, this.#music.seconds);
    const { isWebKit } = this.#media;
    if (!this.paused && !isWebKit) this.#event('waiting');
    this.#task(() => {
      this.seeking = false;
      this.readyState = 4;
      this.#tell('timeupdate');
      this.#tell('seeked');
      if (!this.paused) this.#begin(!isWebKit);
    }, this.#music.seekMs);
  }

  get seekable() {
    const { origin } = this.#music ?? { origin: 0 }, { duration } = this;
    return { length: this.readyState > 0 ? 1 : 0, start: () => origin, end: () => duration };
  }

  /** Whether sound comes out. */
  get sounds() {
    return this.#since !== null;
  }

  canPlayType(type) {
    return this.#media.isWebKit && type.startsWith('audio/ogg') ? '' : 'maybe';
  }

  get src() {
    return this.#src;
  }

  set src(url) {
    this.#src = url;
    this.load();
  }

  removeAttribute() {
    this.#src = '';
  }

  load() {
    const { clock } = this.#media;
    this.isFree ||= this.#media.inTap;
    if (this.#music && this.readyState === 0 && !this.error) this.#media.hurried += 1;
    for (const task of this.#tasks) clock.cancel(task);
    this.#tasks = [];
    this.#halt();
    this.#refuse(fault('AbortError'));
    Object.assign(this, { paused: true, ended: false, seeking: false, readyState: 0, duration: NaN, error: null });
    this.#music = null;
    this.#from = null;
    this.#at = 0;
    if (!this.#src) return;
    const music = this.#media.urls.get(this.#src);
    this.#music = music ?? new Music('gone');
    if (!music || music.isBroken) {
      this.#task(() => {
        this.error = fault('NotSupportedError');
        this.#refuse(this.error);
        this.#tell('error');
      }, music?.openMs ?? 1);
      return;
    }
    this.#task(() => {
      this.readyState = 1;
      this.duration = music.origin + music.claims;
      this.#tell('durationchange');
      if (this.#from !== null) this.currentTime = this.#from;
      this.#tell('loadedmetadata');
      this.#task(() => {
        if (music.isCorrupt) {
          // What was asked of it before is not answered.
          this.error = fault('decode');
          this.#tell('error');
          return;
        }
        if (!this.seeking) this.readyState = 4;
        this.#tell('canplay');
        if (!this.paused && !this.seeking) this.#begin();
      }, music.bufferMs);
    }, music.openMs);
  }

  play() {
    this.isFree ||= this.#media.inTap || !this.#media.isStrict;
    if (!this.isFree) return Promise.reject(fault('NotAllowedError'));
    if (this.error?.name === 'NotSupportedError') return Promise.reject(this.error);
    const promise = new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
    const wasPaused = this.paused;
    this.paused = false;
    if (this.ended) this.currentTime = 0;
    if (this.readyState > 2) {
      if (wasPaused) this.#begin();
      else this.#task(() => this.#grant(), 0);
    }
    return promise;
  }

  pause() {
    if (this.paused) return;
    this.paused = true;
    this.#halt();
    this.#event('pause');
    const waiting = this.#waiting.splice(0);
    this.#task(() => { for (const one of waiting) one.reject(fault('AbortError')); }, 0);
  }

  /** The system pauses it: a call, headphones that are pulled out. */
  interrupt() {
    this.pause();
  }

  #begin(isTold = true) {
    if (this.#since !== null) return;
    this.#since = this.#now;
    this.#grant();
    if (isTold) this.#event('playing');
    const left = (this.#music.seconds - this.#at) * 1000;
    const step = () => {
      const rest = this.#music.seconds - this.#place;
      // A browser that finds more sound than a header claims tells a new length.
      if (this.#place + (this.#music.stays ? 0 : 2) > this.duration - this.#music.origin && this.#music.claims < this.#music.seconds) {
        this.duration = this.#music.origin + Math.min(this.#music.seconds, this.#place + (this.#music.stays ? 0 : 2.3));
        this.#tell('durationchange');
      }
      this.#tell('timeupdate');
      if (rest > 0.25) this.#timer = this.#media.clock.after(step, 250);
      else this.#timer = this.#media.clock.after(() => this.#end(), Math.max(0, rest * 1000));
    };
    this.#timer = this.#media.clock.after(left > 250 ? step : () => this.#end(), Math.min(250, left));
  }

  #end() {
    this.#halt();
    this.paused = this.ended = true;
    this.#tell('timeupdate');
    this.#tell('pause');
    this.#tell('ended');
  }

  #halt() {
    this.#media.clock.cancel(this.#timer);
    this.#at = this.#place;
    this.#since = null;
  }

  #grant() {
    for (const one of this.#waiting.splice(0)) one.resolve();
  }

  #refuse(error) {
    for (const one of this.#waiting.splice(0)) one.reject(error);
  }

  #task(run, ms) {
    const task = this.#media.clock.after(() => {
      this.#tasks = this.#tasks.filter((one) => one !== task);
      run();
    }, ms);
    this.#tasks.push(task);
  }

  #event(name) {
    this.#task(() => this.#tell(name), 0);
  }

  #tell(name) {
    this[`on${name}`]?.({ type: name });
  }
}

/**
 * The browser's part of a player, and ears: `isStrict` is one that wants a tap, `isFixed` one that lets nobody set volumes,
 * `isWebKit` one that knows no Ogg (it reads the header all the same), and does not tell that it plays on behind a seek.
 */
export class Media {
  urls = new Map();
  inTap = false;
  #count = 0;
  /** How many sources were replaced or taken away while they were opened, which not every browser survives. */
  hurried = 0;
  /** What is heard: at each moment in which something happened, the sounds with their songs, volumes and places. */
  heard = [];

  constructor({ isStrict = false, isFixed = false, isWebKit = false, clock = new Clock() } = {}) {
    Object.assign(this, { isStrict, isFixed, isWebKit, clock });
    const { urls } = this;
    this.ports = {
      elements: [],
      element: () => new Element(this),
      now: () => clock.now,
      after: (run, ms) => clock.after(run, ms),
      cancel: (timer) => clock.cancel(timer),
      url: (file) => {
        urls.set(`blob:${++this.#count}`, file instanceof Music ? file : new Music(file.name));
        return `blob:${this.#count}`;
      },
      free: (url) => urls.delete(url),
    };
  }

  /** Puts it in the place of this process's own, for what asks the browser by itself. */
  install(t) {
    const { element, url, free } = this.ports;
    globalThis.Audio = function Audio() { return element(); };
    t.mock.method(URL, 'createObjectURL', url);
    t.mock.method(URL, 'revokeObjectURL', free);
  }

  tap(run) {
    this.inTap = true;
    try {
      return run();
    } finally {
      this.inTap = false;
    }
  }

  /** What sounds now. */
  get sounds() {
    return this.ports.elements.filter((one) => one.sounds)
      .map((one) => ({ name: one.music.name, volume: one.volume, at: one.currentTime - one.music.origin, element: one }));
  }

  look = () => this.heard.push({ now: this.clock.now, sounds: this.sounds });

  /** Lets time pass, and listens. */
  run(ms) {
    return this.clock.run(ms, this.look);
  }
}

/**
 * An `AudioDecoder` that knows every codec. It gives a loud tone of 1,152 samples for each packet, or as some of WebKit:
 * `nothing`, though it takes all packets; `no word`, not even that it has taken one.
 *
 * @param {'tone' | 'nothing' | 'no word'} gives
 * @param {(config: object) => void} [asked]  for each that is made, as it is configured
 */
export function decoderThatGives(gives, asked = () => {}) {
  return class AudioDecoder extends EventTarget {
    static isConfigSupported = async () => ({ supported: true });
    state = 'unconfigured';
    decodeQueueSize = 0;

    constructor({ output }) {
      super();
      this.output = output;
    }

    configure(config) {
      this.state = 'configured';
      asked(config);
    }

    async decode() {
      this.decodeQueueSize += 1;
      if (gives === 'no word') return;
      await null;
      this.decodeQueueSize -= 1;
      const copyTo = (into) => into.forEach((_, i) => { into[i] = Math.sin(i / 10) / 2; });
      if (gives === 'tone') this.output({ numberOfFrames: 1152, numberOfChannels: 2, sampleRate: 44_100, copyTo, close() {} });
      this.dispatchEvent(new Event('dequeue'));
    }

    flush() {
      return gives === 'no word' ? new Promise(() => {}) : new Promise(setImmediate);
    }

    close() {
      this.state = 'closed';
    }
  };
}

/** How loud it is at a moment. */
export const power = ({ sounds }) => sounds.reduce((sum, { volume }) => sum + volume ** 2, 0);

/** Nothing cracks: no sound jumps, and none stops that is loud, but at its end or where it may. */
export function expectSmooth(moments, { mayStop = () => false, volume = 1, what = '' } = {}) {
  for (let i = 1; i < moments.length; i++) {
    for (const before of moments[i - 1].sounds) {
      const after = moments[i].sounds.find(({ element, name }) => element === before.element && name === before.name);
      if (after) assert.ok(Math.abs(after.volume - before.volume) <= STEP * volume, `${before.name} jumps from ${before.volume} to ${after.volume} at ${moments[i].now}${what}`);
      else if (before.volume > STEP * volume && !mayStop(moments[i].now, before)) assert.fail(`${before.name} stops at ${before.volume} at ${moments[i].now}${what}`);
    }
  }
}

/** Both sound for the whole fade, which is as loud at all times. */
export function expectFade(media, from, to, ms = 4000, off = 60) {
  const both = media.heard.filter(({ sounds }) => [from, to].every((name) => sounds.some((one) => one.name === name)));
  assert.ok(both.length > ms / 40, `${from} and ${to} sound together at ${both.length} moments`);
  const lasts = both.at(-1).now - both[0].now;
  assert.ok(Math.abs(lasts - ms) <= off, `${from} and ${to} sound together for ${lasts} ms`);
  const powers = both.map(power);
  assert.ok(Math.min(...powers) > 0.95 && Math.max(...powers) < 1.05, `the power is ${Math.min(...powers)} to ${Math.max(...powers)}`);
  const levels = both.map(({ sounds }) => sounds.find(({ name }) => name === to).volume);
  assert.ok(levels[0] < 0.05 && levels.at(-1) > 0.95 && levels.every((one, place) => place === 0 || one >= levels[place - 1]));
}
