// What readers of music files get: ranges of a file, bounded.

/**
 * A file as a reader sees it. `read` clamps to the file: it may return fewer bytes than asked for, and rejects only where
 * the file cannot be read (gone, changed).
 *
 * @typedef {{ size: number, name: string, read(offset: number, length: number): Promise<Uint8Array> }} Source
 */

/** Bytes that are read at once where fewer are asked for. */
const WINDOW = 16_384;
/** Windows that are held. */
const WINDOWS = 4;
/** The most bytes that a `Reader` reads, unless told otherwise. */
const MOST_BYTES = 1 << 20;
/** The most requests that a `Reader` answers. */
const MOST_STEPS = 20_000;

/**
 * A file's ranges.
 *
 * @param {Blob} file
 * @param {string} [name] in place of the file's own
 * @returns {Source}
 */
export function sourceOf(file, name = /** @type {File} */ (file).name ?? '') {
  return {
    size: file.size,
    name,
    async read(offset, length) {
      const start = Math.min(Math.max(0, offset), file.size);
      return new Uint8Array(await file.slice(start, Math.min(file.size, start + Math.max(0, length))).arrayBuffer());
    },
  };
}

/**
 * A source of bytes that are in memory.
 *
 * @param {Uint8Array} bytes
 * @param {string} [name]
 * @returns {Source}
 */
export function sourceOfBytes(bytes, name = '') {
  return { size: bytes.length, name, read: async (offset, length) => bytes.subarray(Math.max(0, offset), Math.max(0, offset) + Math.max(0, length)) };
}

/**
 * Reads small ranges of a source through windows. Bounded: once it has read its share of bytes or answered its share of
 * requests, it answers as if the file ended.
 */
export class Reader {
  /** @type {{ offset: number, bytes: Uint8Array }[]} the last used one first */
  #windows = [];
  #bytes;
  #steps = MOST_STEPS;

  /**
   * @param {Source} source
   * @param {number} [most] bytes that are read in all
   */
  constructor(source, most = MOST_BYTES) {
    this.source = source;
    this.size = source.size;
    this.#bytes = most;
  }

  /**
   * Exactly `length` bytes; null where the file has fewer there, or a bound is reached. Not to be changed.
   *
   * @param {number} offset
   * @param {number} length
   * @param {number} [window] bytes that are read at once
   * @returns {Promise<Uint8Array | null>}
   */
  async at(offset, length, window = WINDOW) {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.size) || this.#steps <= 0) return null;
    this.#steps -= 1;
    let index = this.#windows.findIndex((one) => offset >= one.offset && offset + length <= one.offset + one.bytes.length);
    if (index < 0) {
      const most = Math.min(Math.max(length, window), this.size - offset, this.#bytes);
      if (most < length) return null;
      this.#bytes -= most;
      const bytes = await this.source.read(offset, most);
      if (bytes.length < length) return null;
      index = this.#windows.push({ offset, bytes }) - 1;
    }
    const [found] = this.#windows.splice(index, 1);
    this.#windows.unshift(found);
    this.#windows.length = Math.min(this.#windows.length, WINDOWS);
    return found.bytes.subarray(offset - found.offset, offset - found.offset + length);
  }

  /**
   * As many bytes as there are, at most `length`.
   *
   * @param {number} offset
   * @param {number} length
   */
  async upTo(offset, length) {
    return (await this.at(offset, Math.max(0, Math.min(length, this.size - offset)))) ?? new Uint8Array();
  }
}

/**
 * Ranges of a reader as if they were one: a packet that lies in several pages.
 */
export class Pieces {
  /**
   * @param {Reader} reader
   * @param {[offset: number, length: number][]} ranges
   */
  constructor(reader, ranges) {
    this.reader = reader;
    this.ranges = ranges;
    this.size = ranges.reduce((sum, [, length]) => sum + length, 0);
  }

  /**
   * Exactly `length` bytes, or null.
   *
   * @param {number} offset
   * @param {number} length
   * @returns {Promise<Uint8Array | null>}
   */
  async at(offset, length) {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.size)) return null;
    const result = new Uint8Array(length);
    let done = 0;
    for (const [start, size] of this.ranges) {
      if (offset < size && done < length) {
        const part = await this.reader.at(start + offset, Math.min(size - offset, length - done));
        if (!part) return null;
        result.set(part, done);
        done += part.length;
      }
      offset = Math.max(0, offset - size);
    }
    return result;
  }
}

/**
 * A number of `count` bytes, the highest first; exact up to 2^53.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} count
 */
export function big(bytes, at, count) {
  let value = 0;
  for (let i = 0; i < count; i += 1) value = value * 256 + bytes[at + i];
  return value;
}

/**
 * A number of `count` bytes, the lowest first; exact up to 2^53.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} count
 */
export function little(bytes, at, count) {
  let value = 0;
  for (let i = count - 1; i >= 0; i -= 1) value = value * 256 + bytes[at + i];
  return value;
}

/**
 * Bytes as characters U+0000 to U+00FF: names of chunks and frames.
 *
 * @param {Uint8Array} bytes
 * @param {number} at
 * @param {number} count
 */
export function latin(bytes, at, count) {
  return String.fromCharCode(...bytes.subarray(at, at + count));
}
