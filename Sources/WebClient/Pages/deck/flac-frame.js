// The header of a frame of FLAC (RFC 9639 §9.1).

import { big } from './source.js';

/** The longest header of a frame. */
export const LONGEST_HEADER = 16;

/** @typedef {{ variable: boolean, number: number, samples: number }} Head */

/**
 * The header of a frame that stands somewhere.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {Head | null} `number` counts frames, or samples where blocks vary
 */
export function header(bytes, at) {
  const kind = bytes[at + 1], sizes = bytes[at + 2], shape = bytes[at + 3];
  if (bytes[at] !== 0xff || kind >> 1 !== 0x7c || at + LONGEST_HEADER > bytes.length) return null;
  const block = sizes >> 4, rate = sizes & 15, format = (shape >> 1) & 7;
  if (block === 0 || rate === 15 || shape >> 4 > 10 || format === 3 || shape & 1) return null;
  // A number as UTF-8 writes scalars, with up to seven bytes.
  const first = bytes[at + 4];
  const more = first < 0x80 ? 0 : Math.clz32(~(first << 24)) - 1;
  if (first >= 0x80 && (more < 1 || more > 6)) return null;
  let number = more === 0 ? first : first & (0x3f >> more), end = at + 5;
  for (let i = 0; i < more; i += 1) {
    if (bytes[end] >> 6 !== 2) return null;
    number = number * 64 + (bytes[end++] & 63);
  }
  const own = block === 6 ? 1 : block === 7 ? 2 : 0;
  const samples = own ? big(bytes, end, own) + 1 : block === 1 ? 192 : block < 6 ? 576 << (block - 2) : 256 << (block - 8);
  end += own + (rate === 12 ? 1 : rate > 12 ? 2 : 0);
  let crc = 0;
  for (let i = at; i < end; i += 1) {
    crc ^= bytes[i];
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc & 0x80 ? 0x107 : 0);
  }
  return crc === bytes[end] ? { variable: (kind & 1) === 1, number, samples } : null;
}
