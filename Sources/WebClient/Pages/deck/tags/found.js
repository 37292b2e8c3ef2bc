// What has been found in a file's tags, within the limits of a room's tracks.

import { sourceOfBytes } from '../source.js';
import { encodingOf, utf8 } from './text.js';

/** The longest text, in Unicode scalars. */
const LONGEST_TEXT = 300;
/** The longest duration in ms: a week. */
export const LONGEST_DURATION = 604_800_000;
/** The largest picture that is shown, in bytes. */
export const LARGEST_PICTURE = 8 << 20;
/** The most bytes of a text that are looked at. */
export const MOST_TEXT_BYTES = 16_384;
/** Gains beyond this, in dB, are no gains of music. */
const LARGEST_GAIN = 51;
/** Values of one field that are looked at. */
const MOST_VALUES = 16;

/** Tags by what they are worth: where one has a field, those behind it do not count. */
const RANKS = /** @type {const} */ (['first', 'ape', 'id3v1']);

/** @typedef {'title' | 'artist' | 'band' | 'album'} Field */
/** @typedef {typeof RANKS[number]} Rank */
/** @typedef {{ type: string, offset: number, length: number } | { type: string, bytes: Uint8Array }} Picture */

/**
 * A text without control characters, separators of lines and lone surrogates, trimmed, of at most 300 scalars.
 *
 * @param {string} text
 * @returns {string} empty where nothing of it can be seen
 */
export function clean(text) {
  const plain = text.slice(0, 4 * LONGEST_TEXT).replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  if (!/[^\s\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(plain)) return '';
  return [...plain].slice(0, LONGEST_TEXT).join('').trim();
}

/**
 * Bytes as UTF-8, also where a last character is cut; else in another encoding.
 *
 * @param {Uint8Array} bytes
 * @param {import('./text.js').Encoding} [encoding]
 */
export function decoded(bytes, encoding = 'windows-1252') {
  return utf8(bytes) ?? new TextDecoder(encoding).decode(bytes, { stream: true });
}

/**
 * The type of a picture by its first 12 bytes, whatever its tag says.
 *
 * @param {Uint8Array} bytes
 * @returns {string} empty: none that is shown
 */
function imageType(bytes) {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  return start.startsWith('\xff\xd8\xff') ? 'image/jpeg' : start.startsWith('\x89PNG\r\n\x1a\n') ? 'image/png'
    : /^GIF8[79]a/.test(start) ? 'image/gif' : /^RIFF[^]{4}WEBP/.test(start) ? 'image/webp' : '';
}

/** Collects fields, the first of each kind; of pictures the front cover. */
export class Found {
  /**
   * In order; bytes where nobody says in which encoding they are.
   *
   * @type {{ field: Field, rank: Rank, value: string | Uint8Array }[]}
   */
  #texts = [];
  /** @type {number | undefined} */
  durationMs;
  /** @type {number | undefined} */
  gainDb;
  /** Of MP4: the name of the first sample description, such as `mp4a`. */
  codec = '';
  /** @type {Picture | undefined} */
  picture;
  #isFront = false;

  /** @param {boolean} wantsPicture whether pictures are looked for */
  constructor(wantsPicture) {
    this.wantsPicture = wantsPicture;
  }

  /**
   * @param {Field | undefined} field  nothing is taken where it is none
   * @param {string} value
   */
  text(field, value) {
    if (field) this.#texts.push({ field, rank: 'first', value });
  }

  /**
   * Values with zeros between them, in an encoding that shows in all such texts of a file together.
   *
   * @param {Field} field
   * @param {Uint8Array} bytes
   * @param {Rank} [rank]
   */
  raw(field, bytes, rank = 'first') {
    for (let at = 0; at <= bytes.length;) {
      const zero = bytes.indexOf(0, at), end = zero < 0 ? bytes.length : zero;
      if (end > at) this.#texts.push({ field, rank, value: bytes.slice(at, end) });
      at = end + 1;
    }
  }

  /** @param {string} value such as `-6.50 dB` */
  gain(value) {
    const number = /^\s*([+-]?\d{1,3}(?:[.,]\d{1,20})?)\s*(?:dB)?[\s\0]*$/i.exec(value);
    if (number) this.level(Number(number[1].replace(',', '.')));
  }

  /** @param {number} gainDb */
  level(gainDb) {
    if (Math.abs(gainDb) <= LARGEST_GAIN) this.gainDb ??= gainDb;
  }

  /** @param {number} ms  taken where it is a duration of a track */
  duration(ms) {
    const rounded = Math.round(ms);
    if (rounded >= 1 && rounded <= LONGEST_DURATION) this.durationMs ??= rounded;
  }

  /**
   * Notes a picture that lies in a file, or in the bytes of `reader` where these are no file's.
   *
   * @param {import('../source.js').Reader} reader
   * @param {number} offset
   * @param {number} length
   * @param {boolean} isFront whether it is the front cover
   */
  async image(reader, offset, length, isFront) {
    if (!this.wantsPicture || (this.picture && (this.#isFront || !isFront)) || !(length <= LARGEST_PICTURE) || offset + length > reader.size) return;
    const start = await reader.at(offset, Math.min(12, length));
    const type = start && imageType(start);
    if (!type) return;
    this.#isFront = isFront;
    const { bytes } = /** @type {{ bytes?: Uint8Array }} */ (reader.source);
    this.picture = bytes ? { type, bytes: bytes.slice(offset, offset + length) } : { type, offset, length };
  }

  /**
   * The names of the song; of the values of a field each counts once.
   *
   * @param {import('./text.js').Encoding} encoding of texts of which nobody says it, and that are no UTF-8
   * @returns {import('./text.js').Names}
   */
  #names(encoding) {
    const [title, artist, band, album] = /** @type {const} */ (['title', 'artist', 'band', 'album']).map((field) => {
      for (const rank of RANKS) {
        const values = this.#texts.filter((one) => one.field === field && one.rank === rank)
          .map(({ value }) => clean(typeof value === 'string' ? value : decoded(value, encoding)));
        const some = [...new Set(values.filter((one) => one))].slice(0, MOST_VALUES);
        if (some.length) return some;
      }
      return [];
    });
    /** @type {import('./text.js').Names} */
    const names = {};
    const artists = clean((artist.length ? artist : band).join(', '));
    if (title.length) names.title = title[0];
    if (artists) names.artist = artists;
    if (album.length) names.album = album[0];
    return names;
  }

  /** The fields as they are in `Tags`: those that are there. */
  fields() {
    const { encoding, others } = encodingOf(this.#texts.flatMap(({ value }) => typeof value === 'string' ? [] : [value]));
    /** @type {import('./text.js').Names & { guess?: import('./text.js').Guess, durationMs?: number, gainDb?: number, codec?: string, picture?: Picture }} */
    const fields = this.#names(encoding);
    if (encoding !== 'utf-8') fields.guess = { encoding, others: Object.fromEntries(others.map((one) => [one, this.#names(one)])) };
    if (this.durationMs !== undefined) fields.durationMs = this.durationMs;
    if (this.gainDb !== undefined) fields.gainDb = this.gainDb;
    if (this.codec) fields.codec = this.codec;
    if (this.picture) fields.picture = this.picture;
    return fields;
  }
}

/**
 * A source whose pictures are bytes and no ranges of a file.
 *
 * @param {Uint8Array} bytes
 */
export function unfolded(bytes) {
  return Object.assign(sourceOfBytes(bytes), { bytes });
}
