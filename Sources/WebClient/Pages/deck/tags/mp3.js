// Frames of MPEG audio layer III: that a file has them, and how long they last.

import { big, latin } from '../source.js';
import { SEARCHED, begin, counted, sampled } from './frames.js';

/** Bytes in which the first frame must begin behind a tag: some have much room behind them. */
const SEARCHED_FAR = 1 << 19;
/** The shortest frame: 8 kbit/s at 24 kHz. */
const SHORTEST = 24;

/** Bit rates in kbit/s of MPEG-1, and of MPEG-2 and 2.5. */
const RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0];
const RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0];

/**
 * The frame header at a place.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {(import('./frames.js').Frame & { side: number }) | null} `side`: bytes between the header and the data
 */
function frameAt(bytes, at) {
  if (at + 4 > bytes.length || bytes[at] !== 0xff || (bytes[at + 1] & 0xe6) !== 0xe2) return null;
  const version = (bytes[at + 1] >> 3) & 3, index = (bytes[at + 2] >> 2) & 3;
  const kbps = (version === 3 ? RATES_1 : RATES_2)[bytes[at + 2] >> 4];
  if (version === 1 || index === 3 || !kbps) return null;
  const rate = [44_100, 48_000, 32_000][index] >> (version === 3 ? 0 : version === 2 ? 1 : 2);
  const samples = version === 3 ? 1152 : 576;
  const isMono = bytes[at + 3] >> 6 === 3;
  const length = (samples * kbps * 125) / rate;
  return {
    kind: version * 4 + index, rate, samples, bytes: length,
    length: Math.floor(length) + ((bytes[at + 2] >> 1) & 1),
    side: version === 3 ? (isMono ? 17 : 32) : isMono ? 9 : 17,
  };
}

/** The most by which the length that a header tells may differ from what frames at some places say. */
const LARGEST_FACTOR = 5 / 3;
/** Bytes of audio beyond what a header tells of them that need no reason. */
const SLACK = 4096;

/**
 * What a Xing, Info or VBRI header in the first frame says.
 *
 * @param {Uint8Array} bytes
 * @param {number} start of the frame
 * @param {import('./frames.js').Frame & { side: number }} first
 * @returns {{ count: number, told: number, unheard: number } | null} frames, bytes, and samples that an encoder put before
 *   and behind; null where the frame is music
 */
function headerOf(bytes, start, first) {
  const head = bytes.subarray(start + 4 + first.side, start + first.length);
  const vbri = bytes.subarray(start + 36, start + first.length);
  if (vbri.length >= 18 && latin(vbri, 0, 4) === 'VBRI') return { told: big(vbri, 10, 4), count: big(vbri, 14, 4), unheard: 0 };
  if (head.length < 16 || !/^(Xing|Info)$/.test(latin(head, 0, 4))) return null;
  const flags = head[7];
  const count = flags & 1 ? big(head, 8, 4) : 0, told = flags & 2 ? big(head, flags & 1 ? 12 : 8, 4) : 0;
  // The encoder's delay and padding, in samples (12 bits each).
  const lame = 8 + (flags & 1 && 4) + (flags & 2 && 4) + (flags & 4 && 100) + (flags & 8 && 4);
  const both = head.length >= lame + 24 && /^L(AME|avc|avf)/.test(latin(head, lame, 4)) ? big(head, lame + 21, 3) : 0;
  return { count, told, unheard: (both >> 12) + (both & 0xfff) };
}

/**
 * Looks for frames, and notes their duration. It is what a header says, unless the file is longer than the header tells, or
 * frames at some places say something else. Else it is the bytes of audio by the rate of all frames that were seen, where
 * that is one; else by all frames of the file, or, of a large one, not known.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset where the tags in front end
 * @param {number} end where the audio ends
 * @param {import('./found.js').Found} found
 * @returns {Promise<boolean>} whether there are frames
 */
export async function mp3(reader, offset, end, found) {
  const begun = await begin(frameAt, reader, offset, end, offset ? SEARCHED_FAR : SEARCHED);
  if (!begun) return false;
  const { bytes, start, first } = begun, audio = end - begun.at - start;
  const header = headerOf(bytes, start, first), { count = 0, told = 0, unheard = 0 } = header ?? {};
  const from = begun.at + start + (header ? first.length : 0);
  const { seconds, isEven } = await sampled(frameAt, reader, from, end, first);
  if (count > 0 && count <= audio / SHORTEST && (!told || told + SLACK >= audio)) {
    // A file that was cut lasts as long as what is left of it.
    const said = (Math.max(0, count * first.samples * (told > audio + SLACK ? audio / told : 1) - unheard)) / first.rate;
    if (!seconds || (said <= seconds * LARGEST_FACTOR && seconds <= said * LARGEST_FACTOR) || Math.abs(said - seconds) < 1) {
      found.duration(said * 1000);
      return true;
    }
  }
  const all = isEven ? seconds : await counted(frameAt, reader, from, end, first);
  if (all !== null) found.duration((all - unheard / first.rate) * 1000);
  return true;
}
