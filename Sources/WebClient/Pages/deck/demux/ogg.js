// Ogg: the packets of the first Vorbis or Opus stream, from its pages.

import { latin, little } from '../source.js';
import { LARGEST_PACKET, MOST_GARBAGE, Refused } from './window.js';

/** The longest page. */
const LONGEST_PAGE = 27 + 255 + 255 * 255;
/** Where the last page is looked for. */
const TAIL_BYTES = 2 * LONGEST_PAGE;
/** Streams that begin before the music's. */
const MOST_STREAMS = 16;
/** Opus counts its samples at this rate, whatever the music had. */
const OPUS_RATE = 48_000;
/** What Vorbis says of title and artist: nothing. Decoders want it, and it may be long. */
const NO_COMMENTS = new Uint8Array([3, 0x76, 0x6f, 0x72, 0x62, 0x69, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 1]);

/**
 * A page's end of its packets in samples, -1 where none ends in it, or where nothing lasts so long.
 *
 * @param {Uint8Array} page
 * @param {number} at
 */
const granule = (page, at) => (page[at + 13] || page[at + 12] ? -1 : little(page, at + 6, 6));

/**
 * The pages of a file, in order. What is no page is passed over.
 *
 * @param {import('./window.js').Window} window
 * @param {number} at
 */
async function* pages(window, at) {
  for (let garbage = 0; ;) {
    const bytes = await window.at(at, LONGEST_PAGE), count = bytes[26];
    if (bytes.length < 27) return;
    if (latin(bytes, 0, 5) !== 'OggS\0') {
      const next = bytes.indexOf(0x4f, 1);
      const step = next > 0 ? next : bytes.length;
      if ((garbage += step) > MOST_GARBAGE) return;
      at += step;
      continue;
    }
    const table = bytes.subarray(27, 27 + count), start = 27 + count, end = table.reduce((sum, one) => sum + one, start);
    if (end > bytes.length) return;
    yield { isContinued: (bytes[5] & 1) === 1, isFirst: (bytes[5] & 2) === 2, serial: little(bytes, 14, 4), sequence: little(bytes, 18, 4), granule: granule(bytes, 0), table, body: bytes.subarray(start, end) };
    at += end;
    garbage = 0;
  }
}

/**
 * The packets of the first stream that begins with one of the known names.
 *
 * @param {import('./window.js').Window} window
 * @param {number} from
 * @returns {AsyncGenerator<{ data: Uint8Array, granule: number, serial: number }>} `granule`: of the page before
 */
async function* stream(window, from) {
  let serial = -1, sequence = -1, before = 0, streams = 0;
  /** @type {Uint8Array[]} the packet that goes on in the next page */
  let parts = [];
  let length = 0, isWhole = false;
  for await (const page of pages(window, from)) {
    if (serial < 0) {
      if (!page.isFirst || (streams += 1) > MOST_STREAMS) return;
      if (latin(page.body, 0, 7) !== '\x01vorbis' && latin(page.body, 0, 8) !== 'OpusHead') continue;
      serial = page.serial;
    } else if (page.serial !== serial) {
      // Streams beside each other begin together. One that begins behind has other code books: another decoder reads both.
      if (page.isFirst && sequence > 0) throw new Refused('codec');
      continue;
    }
    // What began on a page that is lost is no packet.
    isWhole &&= page.isContinued && page.sequence === sequence + 1;
    if (!page.isContinued) isWhole = true;
    if (!isWhole || !page.isContinued) [parts, length] = [[], 0];
    sequence = page.sequence;
    let start = 0, end = 0;
    for (const one of page.table) {
      end += one;
      if (one === 255) continue;
      // A packet that is too long is cut: comments, which nobody needs here.
      if (length < LARGEST_PACKET) parts.push(page.body.subarray(start, end));
      if (isWhole) yield { data: joined(parts), granule: before, serial };
      [parts, length, start, isWhole] = [[], 0, end, true];
    }
    if (length < LARGEST_PACKET) parts.push(page.body.subarray(start, end));
    length += end - start;
    isWhole = page.table[page.table.length - 1] === 255 && isWhole;
    if (page.granule >= 0) before = page.granule;
  }
}

/** @param {Uint8Array[]} parts */
function joined(parts) {
  if (parts.length === 1) return parts[0];
  const result = new Uint8Array(parts.reduce((sum, one) => sum + one.length, 0));
  parts.reduce((at, one) => (result.set(one, at), at + one.length), 0);
  return result;
}

/**
 * Where a stream ends, in samples.
 *
 * @param {import('./window.js').Window} window
 * @param {number} serial
 */
async function ending(window, serial) {
  const tail = await window.source.read(Math.max(0, window.size - TAIL_BYTES), TAIL_BYTES);
  for (let at = tail.length - 27; (at = tail.lastIndexOf(0x4f, at)) >= 0; at -= 1) {
    if (latin(tail, at, 5) === 'OggS\0' && little(tail, at + 14, 4) === serial && granule(tail, at) > 0) return granule(tail, at);
    if (at === 0) break;
  }
  return undefined;
}

/**
 * The packets of an Ogg Vorbis or Opus.
 *
 * @param {import('./window.js').Window} window
 * @param {number} from
 * @returns {Promise<import('./window.js').Media>}
 */
export async function ogg(window, from) {
  const all = stream(window, from);
  const next = async () => {
    const { value, done } = await all.next();
    if (done) throw new Refused('format');
    return value;
  };
  const { data: head, serial } = await next();
  const end = await ending(window, serial);
  const isOpus = head[0] === 0x4f;
  if (head.length < (isOpus ? 19 : 30)) throw new Refused('format');
  const rate = isOpus ? OPUS_RATE : little(head, 12, 4), start = isOpus ? little(head, 10, 2) : 0;
  const channels = isOpus ? head[9] : head[11];
  if (rate === 0 || channels === 0) throw new Refused('format');
  // Comments, and of Vorbis the code books.
  await next();
  // Some decoders drop what comes before the music, others do not: told of none, none does.
  const description = isOpus ? head.slice().fill(0, 10, 12) : laced(head, NO_COMMENTS, (await next()).data);
  const length = end && Math.max(0, end - start);
  return {
    config: { codec: isOpus ? 'opus' : 'vorbis', sampleRate: rate, numberOfChannels: channels, description },
    packets: packets(all, rate, isOpus, isOpus ? Infinity : 2 ** (head[28] >> 4) / 2),
    durationMs: length && length / rate * 1000,
    trim: { start, length },
  };
}

/**
 * The three headers of Vorbis as one: their number, the lengths of the first two, and they.
 *
 * @param {Uint8Array[]} headers
 */
function laced(...headers) {
  const lengths = headers.slice(0, 2).flatMap(({ length }) => [...Array(Math.floor(length / 255)).fill(255), length % 255]);
  return joined([new Uint8Array([2, ...lengths]), ...headers]);
}

/**
 * @param {AsyncIterable<{ data: Uint8Array, granule: number }>} all
 * @param {number} rate
 * @param {boolean} isOpus
 * @param {number} block  the most samples of a packet
 */
async function* packets(all, rate, isOpus, block) {
  let timestampUs = 0, count = 0, base = -1;
  for await (const { data, granule: before } of all) {
    if (data.length === 0) continue;
    // One that was cut out of a longer stream begins later than at 0: what is before its first page's end is not told.
    if (before > 0 && base < 0) base = before > count * block ? before : 0;
    count += 1;
    // The duration of a Vorbis packet stands in its code books; the page before tells about when it begins.
    const durationUs = isOpus ? opusDuration(data) : undefined;
    if (!isOpus) timestampUs = Math.max(timestampUs, Math.round((before - Math.max(0, base)) / rate * 1e6));
    yield { data, timestampUs, durationUs };
    timestampUs += durationUs ?? 0;
  }
}

/**
 * What an Opus packet plays, in µs.
 *
 * @param {Uint8Array} data
 */
function opusDuration(data) {
  const kind = data[0] >> 3, code = data[0] & 3;
  const one = kind < 12 ? [10, 20, 40, 60][kind & 3] : kind < 16 ? [10, 20][kind & 1] : [2.5, 5, 10, 20][kind & 3];
  return 1000 * one * (code === 0 ? 1 : code < 3 ? 2 : data[1] & 63);
}
