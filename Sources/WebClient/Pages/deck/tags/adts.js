// AAC as a row of frames (ADTS, ISO 14496-3).

import { SEARCHED, begin, counted, sampled } from './frames.js';

const RATES = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350];

/**
 * The frame whose header stands somewhere.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {import('./frames.js').Frame | null}
 */
function frameAt(bytes, at) {
  if (at + 7 > bytes.length || bytes[at] !== 0xff || (bytes[at + 1] & 0xf6) !== 0xf0) return null;
  const index = (bytes[at + 2] >> 2) & 15, rate = RATES[index];
  const length = ((bytes[at + 3] & 3) << 11) | (bytes[at + 4] << 3) | (bytes[at + 5] >> 5);
  if (!rate || length < 7) return null;
  return { kind: index * 4 + (bytes[at + 2] >> 6), rate, samples: 1024 * ((bytes[at + 6] & 3) + 1), length, bytes: length };
}

/**
 * Looks for frames, and notes their duration.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset where the tags in front end
 * @param {number} end where the audio ends
 * @param {import('./found.js').Found} found
 * @returns {Promise<boolean>} whether there are frames
 */
export async function adts(reader, offset, end, found) {
  const begun = await begin(frameAt, reader, offset, end, SEARCHED);
  if (!begun) return false;
  const { at, start, first } = begun;
  const seconds = await counted(frameAt, reader, at + start, end, first) ?? (await sampled(frameAt, reader, at + start, end, first)).seconds;
  found.duration(seconds * 1000);
  return true;
}
