// What demuxers read: ranges of a source through one window, bounded.

/** Bytes that are read at once. */
const WINDOW = 1 << 18;
/** The most bytes that are asked for at once: a table of an MP4 of a day. */
export const MOST_AT_ONCE = 1 << 24;
/** The largest packet of any format that is decoded. */
export const LARGEST_PACKET = 1 << 20;
/** Bytes between two packets that are no packet, before the file counts as ended. */
export const MOST_GARBAGE = 1 << 22;

/** ID3v2 tags before a file's own format. */
const MOST_TAGS = 8;

/** Why a file cannot be demuxed; its message is one word. What else a demuxer throws comes from the source. */
export class Refused extends Error {}

/**
 * A file's packets.
 *
 * @typedef {object} Media
 * @property {AudioDecoderConfig} [config]  absent: `packets` are samples
 * @property {AsyncIterable<Packet>} packets
 * @property {number} [durationMs]  by the headers
 * @property {{ start: number, end?: number, length?: number }} [trim]
 *   in samples of the config's rate: how many are no music before the first and after the last packet, and how many are
 *   music at most
 */

/** @typedef {{ data: Uint8Array, timestampUs: number, durationUs?: number, samples?: undefined } | { samples: Float32Array[], rate: number }} Packet */

/** A source's bytes, read mostly forwards. */
export class Window {
  #start = 0;
  #bytes = new Uint8Array();
  /** What may be read in all: a file of jumps ends. */
  #left;

  /** @param {import('../source.js').Source} source */
  constructor(source) {
    this.source = source;
    this.size = source.size;
    this.#left = 8 * source.size + 16 * MOST_AT_ONCE;
  }

  /**
   * As many bytes as there are, at most `length`. They stay as they are.
   *
   * @param {number} offset
   * @param {number} length
   * @returns {Promise<Uint8Array>}
   */
  async at(offset, length) {
    if (!(length <= MOST_AT_ONCE)) throw new Refused('size');
    if (!(offset >= 0 && offset < this.size)) return new Uint8Array();
    const end = Math.min(offset + length, this.size);
    if (offset < this.#start || end > this.#start + this.#bytes.length) {
      const wanted = Math.min(Math.max(length, WINDOW), this.size - offset);
      if ((this.#left -= wanted) < 0) throw new Refused('size');
      this.#bytes = await this.source.read(offset, wanted);
      this.#start = offset;
    }
    return this.#bytes.subarray(offset - this.#start, end - this.#start);
  }
}

/**
 * Where a file's own format begins: behind ID3v2 tags. One that claims to be longer than the file may end anywhere.
 *
 * @param {Window} window
 * @returns {Promise<number>}
 */
export async function afterTags(window) {
  for (let at = 0, tags = 0; ; tags += 1) {
    const [i, d, three, , , flags, a, b, c, e] = await window.at(at, 10);
    if (i !== 0x49 || d !== 0x44 || three !== 0x33 || !((a | b | c | e) < 0x80) || tags > MOST_TAGS) return at;
    const end = at + 10 + ((a << 21) | (b << 14) | (c << 7) | e) + (flags & 0x10 ? 10 : 0);
    if (end >= window.size) return at + 10;
    at = end;
  }
}
