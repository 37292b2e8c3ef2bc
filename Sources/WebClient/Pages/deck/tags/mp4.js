// MP4 and M4A: ISO 14496-12, QuickTime's `meta`, and the `ilst` of iTunes.

import { big, latin } from '../source.js';
import { LARGEST_PICTURE, MOST_TEXT_BYTES, decoded } from './found.js';

/** Boxes of a file that are looked at. */
const MOST_BOXES = 4096;
/** Boxes that are looked at behind the one that describes the file. */
const MOST_BEHIND = 4;
/** How deep boxes lie in each other where tags are. */
const DEEPEST = 6;

/** @type {Record<string, import('./found.js').Field>} */
const FIELDS = { '\xa9nam': 'title', '\xa9ART': 'artist', aART: 'band', '\xa9alb': 'album' };
/** Boxes that hold the boxes that matter. `trak` is handled by itself. */
const HOLDERS = new Set(['moov', 'mdia', 'minf', 'stbl', 'udta', 'meta', 'ilst']);

/**
 * What is known of the file or the track that is read: its codec, its duration, that of its first track of sound, boxes
 * that may still be looked at, how much of its data is there.
 *
 * @typedef {{ isAudio: boolean, codec: string, ms: number, sound: number, left: number, part: number }} Trak
 */

/**
 * Reads the boxes of a file.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset
 * @param {import('./found.js').Found} found
 * @returns {Promise<boolean>} whether there is a track of sound
 */
export async function mp4(reader, offset, found) {
  const film = { isAudio: false, codec: '', ms: 0, sound: 0, left: MOST_BOXES, part: 1 };
  await boxes(reader, offset, reader.size, 0, film, found);
  // The track has what an encoder put in front, which the file's own duration leaves out.
  found.duration(Math.min(film.ms || Infinity, film.sound || Infinity) * film.part);
  return film.isAudio;
}

/**
 * @param {import('../source.js').Reader} reader
 * @param {number} at
 * @param {number} end
 * @param {number} depth
 * @param {Trak} trak
 * @param {import('./found.js').Found} found
 */
async function boxes(reader, at, end, depth, trak, found) {
  while (at + 8 <= end && trak.left > 0) {
    trak.left -= 1;
    const box = await boxAt(reader, at, end);
    if (!box) return;
    const { name, start, length } = box;
    at = start + length;
    if (name === 'mdat' && box.told > length) trak.part = length / box.told;
    if (name === 'trak') {
      const own = { isAudio: false, codec: '', ms: 0, sound: 0, left: trak.left, part: 1 };
      await boxes(reader, start, at, depth + 1, own, found);
      trak.left = own.left;
      if (own.isAudio && !trak.isAudio) [trak.sound, found.codec] = [own.ms, own.codec];
      trak.isAudio ||= own.isAudio;
    } else if (name === 'mvhd' || name === 'mdhd') {
      trak.ms = await durationOf(reader, start, length);
    } else if (name === 'hdlr') {
      const handler = await reader.at(start + 8, 4);
      if (handler && length >= 12 && latin(handler, 0, 4) === 'soun') trak.isAudio = true;
    } else if (name === 'stsd') {
      const first = length >= 16 && await reader.at(start + 12, 4);
      if (first) trak.codec = latin(first, 0, 4);
    } else if (HOLDERS.has(name) && depth < DEEPEST) {
      // In MP4, but not in QuickTime, `meta` begins with a version.
      const first = name === 'meta' && length >= 8 ? await reader.at(start + 4, 4) : null;
      const skipped = first && latin(first, 0, 4) !== 'hdlr' ? 4 : 0;
      await boxes(reader, start + skipped, at, depth + 1, trak, found);
      // What is behind it tells whether the file was cut.
      if (name === 'moov') trak.left = Math.min(trak.left, MOST_BEHIND);
    } else if (name in FIELDS || name === 'covr' || name === '----') {
      await item(reader, name, start, at, trak, found);
    }
  }
}

/**
 * The head of a box.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} at
 * @param {number} end where what it lies in ends
 * @returns {Promise<{ name: string, start: number, length: number, told: number } | null>} `start` and `length` of what is
 *   in it, which lies before `end`; null where the size is impossible. Data of a file that was cut are told to be more.
 */
async function boxAt(reader, at, end) {
  const head = await reader.at(at, 8);
  if (!head) return null;
  let size = big(head, 0, 4), headLength = 8;
  if (size === 1) {
    const wide = at + 16 <= end ? await reader.at(at + 8, 8) : null;
    if (!wide) return null;
    size = big(wide, 0, 8);
    headLength = 16;
  } else if (size === 0) {
    size = end - at;
  }
  const name = latin(head, 4, 4);
  if (size < headLength || (size > end - at && name !== 'mdat')) return null;
  return { name, start: at + headLength, length: Math.min(size, end - at) - headLength, told: size - headLength };
}

/**
 * The duration of a `mvhd` or `mdhd`, in ms; 0 where it has none.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} start
 * @param {number} length
 */
async function durationOf(reader, start, length) {
  const bytes = length >= 20 ? await reader.at(start, Math.min(32, length)) : null;
  if (!bytes) return 0;
  const isWide = bytes[0] === 1 && bytes.length === 32;
  const scale = big(bytes, isWide ? 20 : 12, 4), duration = isWide ? big(bytes, 24, 8) : big(bytes, 16, 4);
  // All bits: not known.
  return scale > 0 && duration < (isWide ? 2 ** 63 : 0xffffffff) ? (duration / scale) * 1000 : 0;
}

/**
 * Reads an item of the list: a text, a picture, or one of those with a name of its own.
 *
 * @param {import('../source.js').Reader} reader
 * @param {string} name
 * @param {number} at
 * @param {number} end
 * @param {Trak} trak
 * @param {import('./found.js').Found} found
 */
async function item(reader, name, at, end, trak, found) {
  let own = '';
  while (at + 8 <= end && trak.left > 0) {
    trak.left -= 1;
    const box = await boxAt(reader, at, end);
    if (!box) return;
    const { start, length } = box;
    at = start + length;
    if (box.name === 'name' && length > 4) own = decoded((await reader.at(start + 4, Math.min(length - 4, 64))) ?? new Uint8Array());
    if (box.name !== 'data' || length < 8) continue;
    if (name === 'covr') {
      if (length - 8 <= LARGEST_PICTURE) await found.image(reader, start + 8, length - 8, false);
      continue;
    }
    const head = await reader.at(start, 8 + Math.min(length - 8, MOST_TEXT_BYTES));
    // 2: UTF-16; else UTF-8.
    const text = head && (head[3] === 2 ? new TextDecoder('utf-16be').decode(head.subarray(8)) : decoded(head.subarray(8)));
    if (!text) continue;
    if (name !== '----') found.text(FIELDS[name], text);
    else if (/^replaygain_track_gain$/i.test(own)) found.gain(text);
  }
}
