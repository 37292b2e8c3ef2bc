// Ogg (RFC 3533) with Vorbis, Opus (RFC 7845) or FLAC (RFC 9639 §10.1).

import { Pieces, big, latin, little } from '../source.js';
import { comments } from './flac.js';

/** Pages in front in which the comments must end, and the two behind them at which the music begins. */
const MOST_PAGES = 2048;
/** Pages that are read with what surrounds them; of later ones, which hold a picture, only the heads are. */
const NEAR_PAGES = 8;
/** Bytes that are read at once of a file's end, and how often. */
const TAIL = 65_536;
const TAILS = 8;

/**
 * Reads the comments of the first stream of Vorbis, Opus or FLAC, and its duration.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset
 * @param {import('./found.js').Found} found
 * @returns {Promise<'vorbis' | 'opus' | 'oggflac' | null>}
 */
export async function ogg(reader, offset, found) {
  /** @type {'vorbis' | 'opus' | 'oggflac' | null} */
  let format = null;
  let serial = 0, rate = 0, skipped = 0, block = Infinity, packet = 0;
  /** The first pages at which packets of music end. @type {{ granule: number, packets: number }[]} */
  const begun = [];
  /** @type {[number, number][]} */
  const ranges = [];
  for (let count = 0, at = offset; count < MOST_PAGES && begun.length < 2; count += 1) {
    const head = await reader.at(at, 27, count < NEAR_PAGES ? undefined : 300);
    if (!head || latin(head, 0, 4) !== 'OggS') break;
    const laces = await reader.at(at + 27, head[26]);
    if (!laces) break;
    let body = at + 27 + laces.length;
    at = laces.reduce((sum, one) => sum + one, body);
    if (!format && head[5] & 2) {
      const start = await reader.upTo(body, 30);
      if (start.length >= 19 && latin(start, 0, 8) === 'OpusHead') {
        [format, rate, skipped, block] = ['opus', 48_000, little(start, 10, 2), 5760];
      } else if (start.length >= 19 && latin(start, 0, 7) === '\x01vorbis') {
        // A packet lasts at most as long as half of the longer block.
        [format, rate, block] = ['vorbis', little(start, 12, 4), 2 ** ((start[28] >> 4) || 13) / 2];
      } else if (start.length === 30 && latin(start, 0, 5) === '\x7fFLAC') {
        [format, rate, block] = ['oggflac', big(start, 27, 3) >> 4, 65_535];
      }
      serial = little(head, 14, 4);
    }
    if (!format || little(head, 14, 4) !== serial) continue;
    const before = packet, granule = granuleOf(head, 0);
    for (const lace of laces) {
      if (packet === 1 && lace) ranges.push([body, lace]);
      body += lace;
      if (lace < 255) packet += 1;
    }
    if (granule > 0 && before > 1 && packet > before) begun.push({ granule, packets: packet - before });
  }
  if (!format || !rate) return null;
  const pieces = new Pieces(reader, joined(ranges));
  const magic = format === 'opus' ? /^OpusTags/ : format === 'vorbis' ? /^\x03vorbis/ : /^[\x04\x84][^]{3}/;
  const [start] = magic.exec(latin((await pieces.at(0, Math.min(8, pieces.size))) ?? new Uint8Array(), 0, 8)) ?? [];
  if (start) await comments(pieces, start.length, found);
  const last = await lastGranule(reader, offset, serial);
  if (last !== null) found.duration(((last - skipped - beginning(begun, rate, block)) / rate) * 1000);
  return format;
}

/**
 * The position at the end of a page, in samples; -1 where no packet ends on it (all bits).
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 */
function granuleOf(bytes, at) {
  const value = little(bytes, at + 6, 8);
  return value < 2 ** 63 ? value : -1;
}

/**
 * The position at which a stream begins, in samples: not 0 where it was cut out of a longer one.
 *
 * @param {{ granule: number, packets: number }[]} begun the first two pages of music
 * @param {number} rate
 * @param {number} block the most samples of a packet
 */
function beginning([first, second], rate, block) {
  if (!first || !second || first.granule <= first.packets * block) return 0;
  // Packets of the first page last about as long as those of the second.
  const start = first.granule - ((second.granule - first.granule) / second.packets) * first.packets;
  return start > rate ? start : 0;
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
      if (isOurs && granuleOf(bytes, at) >= 0) return granuleOf(bytes, at);
      if (!isOurs && bytes[at + 5] & 2) return null;
    }
    end = from;
  }
  return null;
}
