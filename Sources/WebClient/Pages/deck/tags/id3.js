// ID3v2.2, 2.3, 2.4 (id3.org) and ID3v1.

import { Reader, big, latin } from '../source.js';
import { LARGEST_PICTURE, MOST_TEXT_BYTES, decoded, unfolded } from './found.js';

/** Frames of a tag that are looked at. */
const MOST_FRAMES = 1000;
/** The most bytes of a frame in which the descriptions before a picture must end. */
const LONGEST_PREFIX = 4096;
/** The most bytes of a tag that can only be read whole. */
const LARGEST_WHOLE = LARGEST_PICTURE + (1 << 20);

/** @type {Record<string, import('./found.js').Field>} */
const FIELDS = { TT2: 'title', TIT2: 'title', TP1: 'artist', TPE1: 'artist', TP2: 'band', TPE2: 'band', TAL: 'album', TALB: 'album' };

/** Encodings of texts: ISO-8859-1 (as which people write Windows-1252), UTF-16 with a mark, UTF-16, UTF-8. */
const ENCODINGS = ['windows-1252', 'utf-16le', 'utf-16be', 'utf-8'];

/**
 * A number of four bytes with seven bits each.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {number | null} null where a byte has an eighth bit
 */
function synchsafe(bytes, at) {
  const [a, b, c, d] = bytes.subarray(at, at + 4);
  return (a | b | c | d) & 0x80 ? null : a * 0x200000 + b * 0x4000 + c * 0x80 + d;
}

/**
 * Bytes without the zeros that unsynchronisation put behind each 0xFF.
 *
 * @param {Uint8Array} bytes
 */
function synchronised(bytes) {
  const result = new Uint8Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length;) {
    const mark = bytes.indexOf(0xff, at), end = mark < 0 ? bytes.length : mark + 1;
    result.set(bytes.subarray(at, end), length);
    length += end - at;
    at = mark >= 0 && bytes[end] === 0 ? end + 1 : end;
  }
  return result.subarray(0, length);
}

/**
 * Where a text that ends with a zero (two in UTF-16) ends.
 *
 * @param {Uint8Array} bytes
 * @param {number} start
 * @param {number} encoding
 * @returns {[end: number, next: number]} its end, and what follows the zeros; both the length where none are there
 */
function ended(bytes, start, encoding) {
  const width = encoding === 1 || encoding === 2 ? 2 : 1;
  for (let at = start; at + width <= bytes.length; at += width) {
    if (!bytes[at] && !bytes[at + width - 1]) return [at, at + width];
  }
  return [bytes.length, bytes.length];
}

/**
 * @param {Uint8Array} bytes
 * @param {number} encoding the byte before the text
 */
function textOf(bytes, encoding) {
  const mark = encoding === 1 && bytes.length > 1 ? bytes[0] * 256 + bytes[1] : 0;
  if (encoding === 3) return decoded(bytes);
  return new TextDecoder(mark === 0xfeff ? 'utf-16be' : ENCODINGS[encoding] ?? ENCODINGS[0]).decode(bytes);
}

/**
 * Reads the ID3v2 tag at a place of a file.
 *
 * @param {Reader} reader
 * @param {number} offset
 * @param {import('./found.js').Found} found
 * @returns {Promise<{ length: number, lengthMs?: number }>} the tag's bytes, 0 where there is none, those up to the end of
 *   its frames where it claims to be longer than the file; what it says of the duration
 */
export async function id3(reader, offset, found) {
  const head = await reader.at(offset, 10);
  const size = head && latin(head, 0, 3) === 'ID3' && head[4] !== 255 ? synchsafe(head, 6) : null;
  if (!head || size === null) return { length: 0 };
  const version = head[3], flags = head[5];
  const length = 10 + size + (version === 4 && flags & 0x10 ? 10 : 0);
  // In 2.2 this flag means a compression that was never defined.
  if (version < 2 || version > 4 || (version === 2 && flags & 0x40)) return { length };
  let at = offset + 10, end = Math.min(at + size, reader.size);
  const isUnsynchronised = (flags & 0x80) !== 0, isWhole = at + size < reader.size;
  if (isUnsynchronised && version < 4) {
    const whole = await reader.source.read(at, Math.min(size, LARGEST_WHOLE));
    reader = new Reader(unfolded(synchronised(whole)), Infinity);
    at = 0;
    end = reader.size;
  }
  if (version > 2 && flags & 0x40) {
    const extended = await reader.at(at, 4);
    if (!extended) return { length };
    at += version === 3 ? 4 + big(extended, 0, 4) : Math.max(4, synchsafe(extended, 0) ?? big(extended, 0, 4));
  }
  const { lengthMs, at: last } = await frames(reader, at, end, version, isUnsynchronised && version === 4, found);
  return { length: isWhole ? length : last - offset, lengthMs };
}

/**
 * @param {Reader} reader
 * @param {number} at
 * @param {number} end
 * @param {number} version
 * @param {boolean} allUnsynchronised
 * @param {import('./found.js').Found} found
 * @returns {Promise<{ lengthMs?: number, at: number }>} TLEN, and where the frames end
 */
async function frames(reader, at, end, version, allUnsynchronised, found) {
  const [nameLength, headLength] = version === 2 ? [3, 6] : [4, 10];
  let lengthMs;
  for (let count = 0; count < MOST_FRAMES && at + headLength <= end; count += 1) {
    const head = await reader.at(at, headLength);
    const name = head ? latin(head, 0, nameLength) : '';
    if (!head || !/^[A-Z0-9]+$/.test(name)) break;
    const body = at + headLength;
    const size = version === 4 ? await sizeOf(reader, head, body, end) : big(head, nameLength, nameLength);
    if (size > end - body) break;
    at = body + size;
    let skipped = 0, isHidden = false, isUnsynchronised = false;
    if (version === 3) {
      isHidden = (head[9] & 0xc0) !== 0;
      skipped = head[9] & 0x20 ? 1 : 0;
    } else if (version === 4) {
      isHidden = (head[9] & 0x0c) !== 0;
      isUnsynchronised = allUnsynchronised || (head[9] & 2) !== 0;
      skipped = (head[9] & 0x40 ? 1 : 0) + (head[9] & 1 ? 4 : 0);
    }
    const start = body + skipped, length = size - skipped;
    if (isHidden || length < 2) continue;
    if (name === 'APIC' || name === 'PIC') {
      if (!found.wantsPicture) continue;
      if (isUnsynchronised && length <= LARGEST_WHOLE) {
        const whole = unfolded(synchronised(await reader.source.read(start, length)));
        await picture(new Reader(whole, Infinity), 0, whole.size, version, found);
      } else {
        await picture(reader, start, length, version, found);
      }
    } else if (name in FIELDS || /^T(XXX?|LEN?)$/.test(name)) {
      let bytes = await reader.upTo(start, Math.min(length, MOST_TEXT_BYTES));
      if (isUnsynchronised) bytes = synchronised(bytes);
      if (!bytes.length) break;
      // Latin-1, or what programs write as such.
      if (name in FIELDS && (bytes[0] === 0 || bytes[0] > 3)) {
        found.raw(FIELDS[name], bytes.subarray(1));
        continue;
      }
      const values = textOf(bytes.subarray(1), bytes[0]).split('\0');
      if (name in FIELDS) for (const value of values) found.text(FIELDS[name], value);
      else if (name.startsWith('TL')) lengthMs = Number(values[0]) || undefined;
      else if (/^\ufeff?replaygain_track_gain$/i.test(values[0])) found.gain((values[1] ?? '').replace(/^[\ufeff\ufffe]/, ''));
    }
  }
  return { lengthMs, at };
}

/**
 * The size of a frame of ID3v2.4. Some programs write it with eight bits a byte: what follows tells.
 *
 * @param {Reader} reader
 * @param {Uint8Array} head
 * @param {number} body
 * @param {number} end
 */
async function sizeOf(reader, head, body, end) {
  const size = synchsafe(head, 4), plain = big(head, 4, 4);
  if (size === null || size === plain) return plain;
  /** @param {number} at */
  const isFrame = async (at) => {
    if (at === end) return true;
    const next = at < end && await reader.at(at, Math.min(4, end - at));
    return next && (next[0] === 0 || /^[A-Z0-9]{4}$/.test(latin(next, 0, 4)));
  };
  return !(await isFrame(body + size)) && await isFrame(body + plain) ? plain : size;
}

/**
 * @param {Reader} reader
 * @param {number} offset
 * @param {number} length
 * @param {number} version
 * @param {import('./found.js').Found} found
 */
async function picture(reader, offset, length, version, found) {
  const head = await reader.upTo(offset, Math.min(length, LONGEST_PREFIX));
  // The encoding, the type of data (three letters, or a text), the kind of picture, a description, the picture.
  const kind = version === 2 ? 4 : ended(head, 1, 0)[1];
  const data = ended(head, kind + 1, head[0])[1];
  if (kind < head.length && data < head.length) await found.image(reader, offset + data, length - data, head[kind] === 3);
}

/**
 * Reads the last 128 bytes of a file, if they are an ID3v1 tag.
 *
 * @param {Reader} reader
 * @param {import('./found.js').Found} found
 * @returns {Promise<number>} the tag's bytes: 128 or 0
 */
export async function id3v1(reader, found) {
  const bytes = await reader.at(reader.size - 128, 128);
  if (!bytes || latin(bytes, 0, 3) !== 'TAG') return 0;
  /** @type {import('./found.js').Field[]} */
  const fields = ['title', 'artist', 'album'];
  fields.forEach((field, i) => {
    const text = bytes.subarray(3 + 30 * i, 33 + 30 * i), zero = text.indexOf(0);
    found.raw(field, zero < 0 ? text : text.subarray(0, zero), 'id3v1');
  });
  return 128;
}
