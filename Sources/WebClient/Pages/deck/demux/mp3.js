// MPEG audio, layer III: frames, and what the first of them says about the encoder's delay.

import { big, latin } from '../source.js';
import { MOST_GARBAGE, Refused } from './window.js';

const RATES = [44_100, 48_000, 32_000];
/** Bit rates in kbit/s by their index, of MPEG 1, and of MPEG 2 and 2.5. */
const KBITS = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
/** Samples by which a decoder is late. */
const DECODER_DELAY = 529;
/** Frames behind a first one that make it one. */
const CONFIRMED_BY = 2;

/** @typedef {{ version: number, rate: number, channels: number, samples: number, length: number }} Frame */

/**
 * The frame whose header stands somewhere.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {Frame | null} null: none of layer III with a bit rate of the table
 */
function frame(bytes, at) {
  const [sync, kind, rates, mode] = bytes.subarray(at, at + 4);
  // Eleven bits of synchronisation, any version, layer III.
  if (sync !== 0xff || (kind & 0xe6) !== 0xe2 || mode === undefined) return null;
  const version = (kind >> 3) & 3, kbits = KBITS[version === 3 ? 0 : 1][rates >> 4], base = RATES[(rates >> 2) & 3];
  if (version === 1 || !kbits || !base) return null;
  const rate = base / (version === 3 ? 1 : version === 2 ? 2 : 4), samples = version === 3 ? 1152 : 576;
  return { version, rate, channels: mode >> 6 === 3 ? 1 : 2, samples, length: Math.floor(samples * 125 * kbits / rate) + ((rates >> 1) & 1) };
}

/**
 * Whether frames belong to one stream.
 *
 * @param {Frame | null} a
 * @param {Frame | null} b
 */
const alike = (a, b) => a !== null && b !== null && a.version === b.version && a.rate === b.rate;

/**
 * The next frame that others follow.
 *
 * @param {import('./window.js').Window} window
 * @param {number} from
 * @param {Frame} [like]  a frame of the stream
 * @returns {Promise<number>} its offset, -1 where there is none
 */
async function find(window, from, like) {
  for (let at = from; at < from + MOST_GARBAGE;) {
    const bytes = await window.at(at, 1 << 16);
    for (let i = bytes.indexOf(0xff); i >= 0; i = bytes.indexOf(0xff, i + 1)) {
      const found = frame(bytes, i);
      if (found && (!like || alike(found, like)) && await isFollowed(window, at + i, found)) return at + i;
    }
    if (bytes.length < 4) break;
    at += bytes.length - 3;
  }
  return -1;
}

/**
 * @param {import('./window.js').Window} window
 * @param {number} at
 * @param {Frame} first
 */
async function isFollowed(window, at, first) {
  /** @type {Frame | null} */
  let one = first;
  for (let count = 0; count < CONFIRMED_BY; count += 1) {
    at += one.length;
    if (at >= window.size) return at === window.size;
    const bytes = await window.at(at, 4);
    one = frame(bytes, 0);
    if (!one || !alike(one, first)) return ['TAG', 'APE'].includes(latin(bytes, 0, 3));
  }
  return true;
}

/**
 * What a first frame says that is no audio.
 *
 * @param {Uint8Array} data
 * @param {Frame} first
 * @returns {{ frames?: number, delay?: number, padding?: number } | null} null: it is audio
 */
function about(data, first) {
  const at = 4 + (first.version === 3 ? (first.channels === 1 ? 17 : 32) : first.channels === 1 ? 9 : 17);
  if (latin(data, 36, 4) === 'VBRI') return { frames: big(data, 50, 4) || undefined };
  if (!['Xing', 'Info'].includes(latin(data, at, 4))) return null;
  const flags = data[at + 7];
  const encoder = at + 8 + (flags & 1 && 4) + (flags & 2 && 4) + (flags & 4 && 100) + (flags & 8 && 4);
  const frames = flags & 1 && big(data, at + 8, 4) || undefined;
  if (!data[encoder] || encoder + 24 > data.length) return { frames };
  const both = big(data, encoder + 21, 3);
  return { frames, delay: both >> 12, padding: both & 0xfff };
}

/**
 * The packets of an MP3.
 *
 * @param {import('./window.js').Window} window
 * @param {number} from  where its tags end
 * @returns {Promise<import('./window.js').Media>}
 */
export async function mp3(window, from) {
  const at = await find(window, from);
  const first = frame(await window.at(at, 4), 0);
  if (!first) throw new Refused('format');
  const said = about(await window.at(at, first.length), first);
  const { rate, channels, samples } = first;
  const { frames, delay, padding = 0 } = said ?? {};
  const trim = delay === undefined ? undefined : { start: delay + DECODER_DELAY, end: Math.max(0, padding - DECODER_DELAY) };
  return {
    config: { codec: 'mp3', sampleRate: rate, numberOfChannels: channels },
    packets: packets(window, said ? at + first.length : at, first),
    trim,
    durationMs: frames && Math.max(0, frames * samples - (delay ?? 0) - padding) / rate * 1000,
  };
}

/**
 * @param {import('./window.js').Window} window
 * @param {number} at
 * @param {Frame} first
 */
async function* packets(window, at, first) {
  const durationUs = first.samples / first.rate * 1e6;
  for (let count = 0; ; ) {
    const one = frame(await window.at(at, 4), 0);
    if (!one || !alike(one, first)) {
      at = await find(window, at, first);
      if (at < 0) return;
      continue;
    }
    const data = await window.at(at, one.length);
    if (data.length < one.length) return;
    yield { data, timestampUs: Math.round(count * durationUs), durationUs };
    at += one.length;
    count += 1;
  }
}
