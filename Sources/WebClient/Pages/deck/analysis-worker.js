// Reads a file from its first to its last packet, and says how it looks and how loud it is. One file at a time.

import { sourceOf } from './source.js';
import { open } from './demux/open.js';
import { Refused } from './demux/window.js';
import { Loudness } from './loudness.js';
import { Peaks } from './peaks.js';
import { watchQuiet } from './quiet.js';

/**
 * What the page asks: for a file, or for samples that it decoded itself, piece by piece, the last one without samples.
 *
 * @typedef {{ file: File, name: string } | { samples: Float32Array[] | null, rate: number }} Question
 */

/**
 * What it hears: `ready` once, `progress` now and then (seconds of music), `taken` for each piece of samples, then one of the
 * last two. `why`: `format`, `codec` (another decoder may do), `size`, `damaged`, `unreadable` (the file is gone), `empty`.
 *
 * @typedef {{ ready: true } | { progress: number } | { taken: true } | { waveform: Uint8Array, lufs: number | null, durationMs: number, by: 'webcodecs' | 'pcm' } | { failed: string, durationMs?: number }} Answer
 */

/** Packets that wait at the decoder. */
const MOST_QUEUED = 32;
/** A decoder that is waited for and gives nothing for so long is given up, in ms. */
const QUIET_MS = 3000;
/** A decoder that fails is made anew so many times. */
const MOST_FAILURES = 50;
/** Silence that stands for packets that a decoder lost, in seconds. */
const LONGEST_GAP = 10;
/** Samples that are taken at once. */
const PIECE = 1 << 14;
const PROGRESS_MS = 1000;

const worker = /** @type {{ postMessage(answer: Answer, transfer?: Transferable[]): void, onmessage: ((event: MessageEvent<Question>) => void) | null }} */ (/** @type {unknown} */ (self));

/** Takes the samples of one file as they come. */
class Meter {
  #peaks = new Peaks();
  /** @type {Loudness | null} */
  #loudness = null;
  #told = performance.now();
  rate = 0;
  /** Samples that came, with those that are no music. */
  frames = 0;

  /**
   * @param {{ start: number, end?: number, length?: number }} [trim]
   * @param {number} [rate]  of the trim, in Hz
   */
  constructor(trim, rate) {
    this.trim = trim;
    this.trimRate = rate;
  }

  /** Samples of the trim's rate in samples of the music's. */
  #scaled(/** @type {number} */ samples) {
    return Math.round(samples * this.rate / (this.trimRate || this.rate));
  }

  /**
   * @param {Float32Array[]} channels
   * @param {number} rate
   */
  add(channels, rate) {
    this.rate ||= rate;
    this.#loudness ??= new Loudness(rate, channels.length);
    const frames = channels[0].length, start = this.trim ? this.#scaled(this.trim.start) : 0;
    for (let at = Math.min(frames, Math.max(0, start - this.frames)); at < frames; at += PIECE) {
      const piece = channels.map((one) => one.subarray(at, at + PIECE));
      this.#peaks.add(piece);
      this.#loudness.add(piece);
    }
    this.frames += frames;
    if (performance.now() - this.#told < PROGRESS_MS) return;
    this.#told = performance.now();
    worker.postMessage({ progress: this.frames / this.rate });
  }

  /**
   * Silence up to a time, where samples are missing.
   *
   * @param {number} seconds
   * @param {number} channels
   */
  fill(seconds, channels) {
    const missing = Math.min(Math.round(seconds * this.rate) - this.frames, LONGEST_GAP * this.rate);
    if (missing > 0) this.add(Array.from({ length: channels }, () => new Float32Array(missing)), this.rate);
  }

  /**
   * @param {'webcodecs' | 'pcm'} by
   * @returns {Answer}
   */
  finish(by) {
    const { start = 0, end = 0, length = Infinity } = this.trim ?? {};
    const frames = Math.min(this.frames - this.#scaled(start) - this.#scaled(end), this.#scaled(length));
    if (!(frames > 0)) return { failed: 'empty' };
    return { waveform: this.#peaks.finish(frames), lufs: this.#loudness?.finish() ?? null, durationMs: Math.max(1, Math.round(frames / this.rate * 1000)), by };
  }
}

/**
 * @param {File} file
 * @param {string} name
 * @returns {Promise<Answer>}
 */
async function analyse(file, name) {
  /** @type {number | undefined} */
  let durationMs;
  try {
    const media = await open(sourceOf(file, name));
    durationMs = media.durationMs;
    const meter = new Meter(media.trim, media.config?.sampleRate);
    if (media.config) await decode(media.config, media.packets, meter);
    else for await (const { samples, rate } of /** @type {AsyncIterable<{ samples: Float32Array[], rate: number }>} */ (media.packets)) meter.add(samples, rate);
    return meter.finish(media.config ? 'webcodecs' : 'pcm');
  } catch (error) {
    const isGone = error instanceof DOMException && ['NotReadableError', 'NotFoundError'].includes(error.name);
    return { failed: error instanceof Refused ? error.message : isGone ? 'unreadable' : 'damaged', durationMs };
  }
}

/**
 * Whether a codec's decoder has given samples: a browser may say that it has one, which takes all packets and gives nothing.
 *
 * @type {Map<string, boolean>}
 */
const gives = new Map();

/**
 * @param {AudioDecoderConfig} config
 * @param {AsyncIterable<import('./demux/window.js').Packet>} packets
 * @param {Meter} meter
 */
async function decode(config, packets, meter) {
  const { codec } = config;
  const isMute = () => {
    if (!gives.has(codec)) gives.set(codec, false);
    return new Refused('codec');
  };
  if (typeof AudioDecoder !== 'function' || gives.get(codec) === false) throw new Refused('codec');
  let failures = 0, channels = 1, count = 0, frames = 0, wake = () => {}, heard = () => {};
  /** @type {<T>(said: Promise<T>) => Promise<T>} rejects where the decoder says nothing */
  const waitFor = (said) => {
    /** @type {ReturnType<typeof watchQuiet>} */
    let quiet;
    return Promise.race([said, new Promise((/** @type {(never: never) => void} */ _, reject) => {
      quiet = watchQuiet(QUIET_MS, () => reject(isMute()));
      heard = quiet.heard;
    })]).finally(() => quiet.end());
  };
  if (!await waitFor(AudioDecoder.isConfigSupported(config).then((one) => one.supported, () => false))) throw new Refused('codec');
  /** @type {Float32Array[]} */
  let planes = [];
  const make = () => {
    const made = new AudioDecoder({
      output(data) {
        const { numberOfFrames, numberOfChannels, sampleRate } = data;
        heard();
        channels = numberOfChannels;
        if (planes.length !== channels || planes[0].length < numberOfFrames) planes = Array.from({ length: channels }, () => new Float32Array(numberOfFrames));
        const taken = planes.map((plane) => plane.subarray(0, numberOfFrames));
        // Firefox has empty ones, and copies nothing of them.
        if (numberOfFrames > 0) taken.forEach((plane, planeIndex) => data.copyTo(plane, { planeIndex, format: 'f32-planar' }));
        data.close();
        meter.add(taken, sampleRate);
        frames += numberOfFrames;
      },
      error() {
        wake();
      },
    });
    made.addEventListener('dequeue', () => {
      heard();
      wake();
    });
    made.configure(config);
    return made;
  };
  let decoder = make();
  try {
    for await (const { data, timestampUs, durationUs } of /** @type {AsyncIterable<{ data: Uint8Array, timestampUs: number, durationUs?: number }>} */ (packets)) {
      while (decoder.state === 'configured' && decoder.decodeQueueSize >= MOST_QUEUED) await waitFor(new Promise((resolve) => { wake = () => resolve(0); }));
      if (decoder.state !== 'configured') {
        // A packet was damaged. Those that waited with it are lost.
        if ((failures += 1) > MOST_FAILURES) throw new Refused('damaged');
        decoder = make();
        meter.fill(timestampUs / 1e6, channels);
      }
      decoder.decode(new EncodedAudioChunk({ type: 'key', data, timestamp: timestampUs, duration: durationUs === undefined ? undefined : Math.round(durationUs) }));
      count += 1;
    }
    await waitFor(decoder.flush().catch(() => {}));
  } finally {
    if (decoder.state === 'configured') decoder.close();
  }
  if (frames > 0) gives.set(codec, true);
  else if (count > 0) throw failures > 0 ? new Refused('codec') : isMute();
}

/** @type {Meter | null} */
let given = null;

worker.onmessage = async (/** @type {MessageEvent<Question>} */ { data }) => {
  if ('file' in data) {
    const answer = await analyse(data.file, data.name);
    worker.postMessage(answer, 'waveform' in answer ? [answer.waveform.buffer] : []);
  } else if (data.samples) {
    given ??= new Meter();
    given.add(data.samples, data.rate);
    worker.postMessage({ taken: true });
  } else {
    worker.postMessage(given?.finish('pcm') ?? { failed: 'empty' });
    given = null;
  }
};
worker.postMessage({ ready: true });
