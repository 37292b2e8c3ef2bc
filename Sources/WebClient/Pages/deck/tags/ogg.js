// Ogg (RFC 3533) with Vorbis or Opus (RFC 7845).

import { Pieces, latin, little } from '../source.js';
import { comments } from './flac.js';

/** Pages in front in which the comments must end. */
const MOST_PAGES = 2048;
/** Pages that are read with what surrounds them; of later ones, which hold a picture, only the heads are. */
const NEAR_PAGES = 8;
/** Bytes that are read at once of a file's end, and how often. */
const TAIL = 65_536;
const TAILS = 8;

/**
 * Reads the comments of the first stream of Vorbis or Opus, and its duration.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset
 * @param {import('./found.js').Found} found
 * @returns {Promise<'vorbis' | 'opus' | null>}
 */
export async function ogg(reader, offset, found) {
  /** @type {'vorbis' | 'opus' | null} */
  let format = null;
  let serial = 0, rate = 0, skipped = 0, packet = 0;
  /** @type {[number, number][]} */
  const ranges = [];
  for (let count = 0, at = offset; count < MOST_PAGES && packet < 2; count += 1) {
    const head = await reader.at(at, 27, count < NEAR_PAGES ? undefined : 300);
    if (!head || latin(head, 0, 4) !== 'OggS') break;
    const laces = await reader.at(at + 27, head[26]);
    if (!laces) break;
    let body = at + 27 + laces.length;
    at = laces.reduce((sum, one) => sum + one, body);
    if (!format && head[5] & 2) {
      const start = await reader.upTo(body, 19);
      if (start.length === 19 && latin(start, 0, 8) === 'OpusHead') {
        [format, rate, skipped] = ['opus', 48_000, little(start, 10, 2)];
      } else if (start.length === 19 && latin(start, 0, 7) === '\x01vorbis') {
        [format, rate] = ['vorbis', little(start, 12, 4)];
      }
      serial = little(head, 14, 4);
    }
    if (!format || little(head, 14, 4) !== serial) continue;
    for (const lace of laces) {
      if (packet === 1 && lace) ranges.push([body, lace]);
      body += lace;
      if (lace < 255) packet += 1;
    }
  }
  if (!format || !rate) return null;
  const block = new Pieces(reader, joined(ranges));
  const magic = format === 'opus' ? 'OpusTags' : '\x03vorbis';
  const start = await block.at(0, magic.length);
  if (start && latin(start, 0, magic.length) === magic) await comments(block, magic.length, found);
  const last = await lastGranule(reader, offset, serial);
  if (last !== null) found.duration(((last - skipped) / rate) * 1000);
  return format;
}

/**
 * Ranges of which none begins where another ends.
 *
 * @param {[number, number][]} ranges in order
 */
function joined(ranges) {
  /** @type {[number, number][]} */
  const result = [];
  for (const [offset, length] of ranges) {
    const last = result[result.length - 1];
    if (last && last[0] + last[1] === offset) last[1] += length;
    else result.push([offset, length]);
  }
  return result;
}

/**
 * The position at the end of a stream, in samples.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset
 * @param {number} serial
 * @returns {Promise<number | null>} null where it is not near the file's end, or another stream begins behind it (a
 *   chain, whose parts would have to be read one by one)
 */
async function lastGranule(reader, offset, serial) {
  for (let i = 0, end = reader.size; i < TAILS && end > offset; i += 1) {
    const from = Math.max(offset, end - TAIL);
    // A page's head may lie across two parts.
    const bytes = await reader.upTo(from, Math.min(reader.size, end + 26) - from);
    for (let at = bytes.length - 27; at >= 0; at -= 1) {
      if (bytes[at] !== 0x4f || bytes[at + 1] !== 0x67 || bytes[at + 2] !== 0x67 || bytes[at + 3] !== 0x53 || bytes[at + 4]) continue;
      const isOurs = little(bytes, at + 14, 4) === serial;
      // All bits: no packet ends on the page.
      if (isOurs && little(bytes, at + 6, 8) < 2 ** 63) return little(bytes, at + 6, 8);
      if (!isOurs && bytes[at + 5] & 2) return null;
    }
    end = from;
  }
  return null;
}
