// FLAC's metadata blocks (RFC 9639), with the comments and pictures that Ogg has too.

import { header as frameHead } from '../flac-frame.js';
import { Pieces, Reader, big, latin, little } from '../source.js';
import { LARGEST_PICTURE, MOST_TEXT_BYTES, decoded, unfolded } from './found.js';

/** Blocks of a file that are looked at. */
const MOST_BLOCKS = 128;
/** Bytes at the end of a file in which its last frames are looked for. */
const TAIL = 1 << 17;
/** Comments of a file that are looked at. */
const MOST_COMMENTS = 2000;
/** The most bytes in which the descriptions before a picture must end. */
const LONGEST_PREFIX = 4096;

/** @type {Record<string, import('./found.js').Field>} */
const FIELDS = { TITLE: 'title', ARTIST: 'artist', ALBUMARTIST: 'band', ALBUM: 'album' };

/**
 * Reads the blocks behind `fLaC`.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset of `fLaC`
 * @param {import('./found.js').Found} found
 * @returns {Promise<boolean>} whether the first block says what the stream is
 */
export async function flac(reader, offset, found) {
  const first = await reader.at(offset + 4, 38);
  if (!first || (first[0] & 0x7f) !== 0 || big(first, 1, 3) < 34) return false;
  // 20 bits of sample rate, 8 of channels and width, 36 of samples.
  const rate = big(first, 14, 3) >> 4, samples = (first[17] & 15) * 2 ** 32 + big(first, 18, 4);
  if (!rate) return false;
  const end = await endOf(reader, offset, big(first, 4, 2), samples);
  found.duration(((end ?? samples) / rate) * 1000);
  let at = offset + 4;
  for (let count = 0, isLast = false; count < MOST_BLOCKS && !isLast; count += 1) {
    const head = await reader.at(at, 4);
    if (!head) break;
    const length = big(head, 1, 3), start = at + 4;
    at = start + length;
    if (at > reader.size) break;
    isLast = head[0] > 127;
    if ((head[0] & 0x7f) === 4) await comments(new Pieces(reader, [[start, length]]), 0, found);
    else if ((head[0] & 0x7f) === 6 && found.wantsPicture) await picture(reader, start, length, found);
  }
  return true;
}

/**
 * Where the last frame of a file ends, in samples: a file that was cut is shorter than it says.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset
 * @param {number} block samples of a frame, where that is fixed
 * @param {number} samples that the file says it has; 0 where it does not
 * @returns {Promise<number | null>} null where no two frames in a row are near the end
 */
async function endOf(reader, offset, block, samples) {
  const from = Math.max(offset, reader.size - TAIL), bytes = await reader.upTo(from, reader.size - from);
  /** @type {number | null} */
  let end = null, before = -1;
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const frame = frameHead(bytes, at);
    if (!frame) continue;
    const start = frame.variable ? frame.number : frame.number * block;
    // What is no frame follows none.
    if (start === before && (!samples || start <= samples)) end = start + frame.samples;
    before = start + frame.samples;
  }
  return end;
}

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
      if (name in FIELDS) found.raw(FIELDS[name], value);
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
    const text = atob(decoded(base64 ?? new Uint8Array())), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
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
