// Vorbis comments, and the pictures of FLAC and of comments (xiph.org, RFC 9639).

import { Reader, big, latin, little } from '../source.js';
import { LARGEST_PICTURE, MOST_TEXT_BYTES, decoded, unfolded } from './found.js';

/** Comments of a file that are looked at. */
const MOST_COMMENTS = 2000;
/** The most bytes in which the descriptions before a picture must end. */
const LONGEST_PREFIX = 4096;

/** @type {Record<string, import('./found.js').Field>} */
const FIELDS = { TITLE: 'title', ARTIST: 'artist', ALBUMARTIST: 'band', ALBUM: 'album' };

/**
 * Reads a block of Vorbis comments.
 *
 * @param {import('../source.js').Pieces} block
 * @param {number} offset where its vendor begins
 * @param {import('./found.js').Found} found
 */
export async function comments(block, offset, found) {
  const vendor = await block.at(offset, 4);
  let at = offset + 4 + (vendor ? little(vendor, 0, 4) : block.size);
  const counted = await block.at(at, 4);
  const count = counted ? Math.min(MOST_COMMENTS, little(counted, 0, 4)) : 0;
  at += 4;
  for (let i = 0; i < count; i += 1) {
    const head = await block.at(at, 4);
    if (!head) return;
    const start = at + 4, length = little(head, 0, 4);
    at = start + length;
    if (at > block.size) return;
    const text = await block.at(start, Math.min(length, 64));
    const equals = text ? text.indexOf(61) : -1;
    if (!text || equals < 1) continue;
    const name = latin(text, 0, equals).toUpperCase();
    const from = start + equals + 1, size = at - from;
    if (name === 'METADATA_BLOCK_PICTURE') {
      if (found.wantsPicture && size <= (LARGEST_PICTURE + LONGEST_PREFIX) * 1.4) await encodedPicture(await block.at(from, size), found);
    } else if (name in FIELDS || /^(REPLAYGAIN|R128)_TRACK_GAIN$/.test(name)) {
      const value = await block.at(from, Math.min(size, MOST_TEXT_BYTES));
      if (!value) return;
      if (name in FIELDS) found.text(FIELDS[name], decoded(value));
      else if (name.startsWith('REP')) found.gain(decoded(value));
      // RFC 7845 §5.2.1: Q7.8 dB relative to -23 LUFS; ReplayGain is relative to -18.
      else if (/^\s*[+-]?\d{1,5}\s*$/.test(decoded(value))) found.level(Number(decoded(value)) / 256 + 5);
    }
  }
}

/**
 * @param {Uint8Array | null} base64
 * @param {import('./found.js').Found} found
 */
async function encodedPicture(base64, found) {
  try {
    const bytes = Uint8Array.from(atob(decoded(base64 ?? new Uint8Array())), (one) => one.charCodeAt(0));
    const source = unfolded(bytes);
    await picture(new Reader(source, Infinity), 0, source.size, found);
  } catch {
    // No base64.
  }
}

/**
 * Notes the picture of a block as FLAC has it.
 *
 * @param {Reader} reader
 * @param {number} offset
 * @param {number} length
 * @param {import('./found.js').Found} found
 */
export async function picture(reader, offset, length, found) {
  const head = await reader.upTo(offset, Math.min(length, LONGEST_PREFIX));
  // The kind, two texts (the type of data, a description), four numbers, the picture.
  let at = 4;
  for (let i = 0; i < 2; i += 1) at += 4 + (at + 4 <= head.length ? big(head, at, 4) : LONGEST_PREFIX);
  if (at + 20 > head.length) return;
  const size = big(head, at + 16, 4);
  if (size <= length - at - 20) await found.image(reader, offset + at + 20, size, big(head, 0, 4) === 3);
}
