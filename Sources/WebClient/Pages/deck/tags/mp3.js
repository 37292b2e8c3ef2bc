// Frames of MPEG audio layer III: that a file has them, and how long they last.

import { big, latin } from '../source.js';

/** Bytes behind the tags in which the first frame must begin. */
const SEARCHED = 65_536;
/** Frames in a row that prove that it is MPEG audio, unless the file ends before. */
const PROOF = 4;
/** Frames whose bit rates are looked at, at each place. */
const LOOKED_AT = 64;
/** Places of a file without a header of its length whose bit rate varies. */
const PLACES = 8;
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
 * @returns {{ kind: number, rate: number, samples: number, kbps: number, length: number, side: number } | null} `kind`:
 *   what is the same for all frames of a stream; `side`: bytes between the header and the data
 */
function frameAt(bytes, at) {
  if (at + 4 > bytes.length || bytes[at] !== 0xff || (bytes[at + 1] & 0xe6) !== 0xe2) return null;
  const version = (bytes[at + 1] >> 3) & 3, index = (bytes[at + 2] >> 2) & 3;
  const kbps = (version === 3 ? RATES_1 : RATES_2)[bytes[at + 2] >> 4];
  if (version === 1 || index === 3 || !kbps) return null;
  const rate = [44_100, 48_000, 32_000][index] >> (version === 3 ? 0 : version === 2 ? 1 : 2);
  const samples = version === 3 ? 1152 : 576;
  const isMono = bytes[at + 3] >> 6 === 3;
  return {
    kind: version * 4 + index, rate, samples, kbps,
    length: Math.floor((samples * kbps * 125) / rate) + ((bytes[at + 2] >> 1) & 1),
    side: version === 3 ? (isMono ? 17 : 32) : isMono ? 9 : 17,
  };
}

/**
 * The first place at which a row of frames begins.
 *
 * @param {Uint8Array} bytes
 * @param {boolean} isLast whether the file ends with the bytes
 */
function firstFrame(bytes, isLast) {
  for (let start = 0; start + 4 <= bytes.length && start < SEARCHED; start += 1) {
    const first = frameAt(bytes, start);
    let at = start, count = 0;
    for (let next = first; next && next.kind === first?.kind && count < PROOF; next = frameAt(bytes, at)) {
      at += next.length;
      count += 1;
    }
    if (first && (count === PROOF || (count > 0 && isLast && at <= bytes.length && at > bytes.length - 4))) return { start, first };
  }
  return null;
}

/**
 * Looks for frames, and notes their duration. It is what a Xing, Info or VBRI header says. Without one it is the bytes of
 * audio by the bit rate of the first frames; where these have different rates, by that of frames at eight places of the file.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset where the tags in front end
 * @param {number} end where the audio ends
 * @param {import('./found.js').Found} found
 * @returns {Promise<boolean>} whether there are frames
 */
export async function mp3(reader, offset, end, found) {
  const bytes = await reader.upTo(offset, Math.min(end - offset, SEARCHED + 4 * 1441));
  const begun = firstFrame(bytes, offset + bytes.length === end);
  if (!begun) return false;
  const { start, first } = begun, audio = end - offset - start;
  const head = bytes.subarray(start + 4 + first.side, start + first.length);
  const vbri = bytes.subarray(start + 36, start + first.length);
  let count = 0, told = 0, unheard = 0;
  if (head.length >= 16 && /^(Xing|Info)$/.test(latin(head, 0, 4))) {
    const flags = head[7];
    if (flags & 1) count = big(head, 8, 4);
    if (flags & 2) told = big(head, flags & 1 ? 12 : 8, 4);
    // The encoder's delay and padding, in samples (12 bits each).
    const lame = 8 + (flags & 1 && 4) + (flags & 2 && 4) + (flags & 4 && 100) + (flags & 8 && 4);
    if (head.length >= lame + 24 && /^L(AME|avc|avf)/.test(latin(head, lame, 4))) {
      const both = big(head, lame + 21, 3);
      unheard = (both >> 12) + (both & 0xfff);
    }
  } else if (vbri.length >= 18 && latin(vbri, 0, 4) === 'VBRI') {
    told = big(vbri, 10, 4);
    count = big(vbri, 14, 4);
  }
  if (count > 0 && count <= audio / SHORTEST) {
    // A file that was cut lasts as long as what is left of it.
    const part = told > audio + 4096 ? audio / told : 1;
    found.duration((Math.max(0, count * first.samples * part - unheard) / first.rate) * 1000);
    return true;
  }
  let seconds = 0, sum = 0, isVariable = false;
  /** @param {Uint8Array} some @param {number} from */
  const look = (some, from) => {
    let at = from;
    for (let i = 0; i < LOOKED_AT; i += 1) {
      const frame = frameAt(some, at);
      if (!frame || frame.kind !== first.kind) break;
      isVariable ||= frame.kbps !== first.kbps;
      seconds += frame.samples / frame.rate;
      // Without padding, which varies within a constant rate.
      sum += (frame.samples * frame.kbps * 125) / frame.rate;
      at += frame.length;
    }
  };
  look(bytes, start);
  for (let place = 1; isVariable && place < PLACES; place += 1) {
    const some = await reader.upTo(offset + start + Math.floor((audio * place) / PLACES), 16_384);
    const there = firstFrame(some, false);
    if (there) look(some, there.start);
  }
  found.duration((audio / sum) * seconds * 1000);
  return true;
}
