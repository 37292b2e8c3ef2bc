// MP4: the first track of sound, in one piece or in fragments, and what its edit list says is music.

import { big, latin } from '../source.js';
import { LARGEST_PACKET, MOST_AT_ONCE, Refused } from './window.js';

/** Boxes of one level that are looked at. */
const MOST_BOXES = 200_000;
/** Kinds of MPEG-4 audio objects that are AAC, and those that are MP3. */
const AAC_OBJECTS = [0x40, 0x66, 0x67, 0x68], MP3_OBJECTS = [0x69, 0x6b];

/** @typedef {import('./window.js').Window} Window */
/** @typedef {{ type: string, start: number, at: number, end: number }} Box  its content is at … end */
/** @typedef {{ id: number, scale: number, config: AudioDecoderConfig, tables: Record<string, Box | undefined>, samples: { duration: number, size: number } }} Track */

/**
 * The boxes between two offsets.
 *
 * @param {Window} window
 * @param {number} at
 * @param {number} end
 * @returns {AsyncGenerator<Box>}
 */
async function* boxes(window, at, end) {
  for (let count = 0; at + 8 <= end && count < MOST_BOXES; count += 1) {
    const head = await window.at(at, 16), short = big(head, 0, 4);
    const size = short === 1 ? big(head, 8, 8) : short === 0 ? end - at : short, header = short === 1 ? 16 : 8;
    if (!(size >= header)) return;
    yield { type: latin(head, 4, 4), start: at, at: at + header, end: Math.min(at + size, end) };
    at += size;
  }
}

/**
 * The first box of a path in another one.
 *
 * @param {Window} window
 * @param {Box | undefined} box
 * @param {string[]} path
 * @returns {Promise<Box | undefined>}
 */
async function inside(window, box, ...path) {
  for (const type of path) {
    const parent = box;
    box = undefined;
    if (!parent) return undefined;
    for await (const one of boxes(window, parent.at, parent.end)) {
      if (one.type === type) {
        box = one;
        break;
      }
    }
  }
  return box;
}

/**
 * The content of a box.
 *
 * @param {Window} window
 * @param {Box | undefined} box
 * @param {number} [most] bytes
 */
const content = (window, box, most = MOST_AT_ONCE) => (box ? window.at(box.at, Math.min(box.end - box.at, most)) : Promise.resolve(new Uint8Array()));

/**
 * The packets of an MP4.
 *
 * @param {Window} window
 * @returns {Promise<import('./window.js').Media>}
 */
export async function mp4(window) {
  const file = { type: '', start: 0, at: 0, end: window.size };
  const moov = await inside(window, file, 'moov');
  if (!moov) throw new Refused('format');
  for await (const trak of boxes(window, moov.at, moov.end)) {
    const media = trak.type === 'trak' ? await inside(window, trak, 'mdia') : undefined;
    if (!media || latin(await content(window, await inside(window, media, 'hdlr'), 12), 8, 4) !== 'soun') continue;
    const track = await read(window, moov, trak, media);
    const { trim, durationMs } = await edited(window, moov, trak, media, track);
    const isWhole = !(await inside(window, moov, 'mvex')) || big(await content(window, track.tables.stsz, 12), 8, 4) > 0;
    return { config: track.config, packets: timed(isWhole ? whole(window, track.tables) : fragments(window, track), track, window.size), trim, durationMs };
  }
  throw new Refused('format');
}

/**
 * @param {Window} window
 * @param {Box} moov
 * @param {Box} trak
 * @param {Box} media
 * @returns {Promise<Track>}
 */
async function read(window, moov, trak, media) {
  const head = await content(window, await inside(window, media, 'mdhd'), 36), about = await content(window, await inside(window, trak, 'tkhd'), 32);
  const scale = big(head, head[0] === 1 ? 20 : 12, 4), id = big(about, about[0] === 1 ? 20 : 12, 4);
  if (!(scale > 0)) throw new Refused('format');
  /** @type {Record<string, Box>} */
  const tables = {};
  const table = await inside(window, media, 'minf', 'stbl');
  if (table) for await (const one of boxes(window, table.at, table.end)) tables[one.type] ??= one;
  const samples = { duration: 0, size: 0 }, extends_ = await content(window, await inside(window, moov, 'mvex', 'trex'), 24);
  if (extends_.length === 24) Object.assign(samples, { duration: big(extends_, 12, 4), size: big(extends_, 16, 4) });
  const stsd = tables.stsd;
  const entry = stsd && await inside(window, { ...stsd, at: stsd.at + 8 }, latin(await window.at(stsd.at + 12, 4), 0, 4));
  if (!entry) throw new Refused('format');
  return { id, scale, tables, samples, config: await configOf(window, entry, scale) };
}

/**
 * What a decoder is told.
 *
 * @param {Window} window
 * @param {Box} entry  of the table of formats
 * @param {number} scale
 * @returns {Promise<AudioDecoderConfig>}
 */
async function configOf(window, entry, scale) {
  const head = await content(window, entry, 28), version = big(head, 8, 2);
  if (head.length < 28) throw new Refused('format');
  // QuickTime's own versions have more fields.
  const inner = { ...entry, at: entry.at + 28 + (version === 1 ? 16 : version === 2 ? 36 : 0) };
  const config = { codec: entry.type, sampleRate: big(head, 24, 2) || scale, numberOfChannels: big(head, 16, 2) || 2 };
  if (entry.type !== 'mp4a') {
    const own = await content(window, await inside(window, inner, entry.type), LARGEST_PACKET);
    return { ...config, codec: entry.type.trim().toLowerCase(), description: own.slice(4) };
  }
  const esds = (await inside(window, inner, 'esds')) ?? (await inside(window, inner, 'wave', 'esds'));
  const bytes = await content(window, esds, LARGEST_PACKET);
  // Descriptors lie in each other: of the stream, of its decoder, and what the decoder is told.
  /** @type {Uint8Array | undefined} */
  let description;
  let object = 0;
  for (let at = 4; at + 2 <= bytes.length && !description;) {
    const tag = bytes[at++];
    let length = 0, more = true;
    for (let i = 0; i < 4 && more; i += 1) {
      more = bytes[at] >= 0x80;
      length = length * 128 + (bytes[at++] & 0x7f);
    }
    if (tag === 3) {
      const flags = bytes[at + 2];
      at += 3 + (flags & 0x80 && 2) + (flags & 0x40 && 1 + bytes[at + 3 + (flags & 0x80 && 2)]) + (flags & 0x20 && 2);
    } else if (tag === 4) {
      object = bytes[at];
      at += 13;
    } else if (tag === 5) description = bytes.slice(at, at + length);
    else at += length;
  }
  if (MP3_OBJECTS.includes(object)) return { ...config, codec: 'mp3' };
  if (!AAC_OBJECTS.includes(object) || !description || description.length < 2) throw new Refused('codec');
  const kind = description[0] >> 3;
  return { ...config, codec: `mp4a.40.${kind === 31 ? 32 + ((description[0] & 7) << 3) + (description[1] >> 5) : kind}`, description };
}

/**
 * What of a track is music, by its edit list.
 *
 * @param {Window} window
 * @param {Box} moov
 * @param {Box} trak
 * @param {Box} media
 * @param {Track} track
 */
async function edited(window, moov, trak, media, { scale, config }) {
  const list = await content(window, await inside(window, trak, 'edts', 'elst'), 8 + 20 * 16), wide = list[0] === 1 ? 8 : 4;
  const mvhd = await content(window, await inside(window, moov, 'mvhd'), 32), ticks = big(mvhd, mvhd[0] === 1 ? 20 : 12, 4);
  const head = await content(window, await inside(window, media, 'mdhd'), 36), length = head[0] === 1 ? big(head, 24, 8) : big(head, 16, 4);
  const ms = length > 0 ? length / scale * 1000 : undefined;
  for (let at = 8, left = big(list, 4, 4); left > 0 && at + 2 * wide + 4 <= list.length; at += 2 * wide + 4, left -= 1) {
    // An empty edit is silence before the music.
    if (list[at + wide] === 0xff) continue;
    const start = big(list, at + wide, wide) / scale, seconds = ticks > 0 ? big(list, at, wide) / ticks : 0;
    const rate = config.sampleRate;
    return { trim: { start: Math.round(start * rate), length: seconds > 0 ? Math.round(seconds * rate) : undefined }, durationMs: seconds > 0 ? 1000 * seconds : ms };
  }
  return { durationMs: ms, trim: undefined };
}

/**
 * Where the samples of an unfragmented track lie.
 *
 * @param {Window} window
 * @param {Record<string, Box | undefined>} tables
 */
async function* whole(window, tables) {
  const sizes = await content(window, tables.stsz), runs = await content(window, tables.stsc), times = await content(window, tables.stts);
  const wide = tables.co64 ? 8 : 4, chunks = await content(window, tables.co64 ?? tables.stco);
  const size = big(sizes, 4, 4), most = size > 0 ? big(sizes, 8, 4) : Math.min(big(sizes, 8, 4), (sizes.length - 12) / 4);
  let sample = 0, run = 8, time = 8, same = big(times, time, 4);
  for (let chunk = 1, at = 8; at + wide <= chunks.length && sample < most; chunk += 1, at += wide) {
    while (run + 24 <= runs.length && big(runs, run + 12, 4) <= chunk) run += 12;
    let offset = big(chunks, at, wide);
    for (let left = big(runs, run + 4, 4); left > 0 && sample < most; left -= 1, sample += 1) {
      while (same === 0 && time + 16 <= times.length) same = big(times, time += 8, 4);
      same -= 1;
      const length = size || big(sizes, 12 + 4 * sample, 4);
      yield { offset, length, duration: time + 8 <= times.length ? big(times, time + 4, 4) : 0, window };
      offset += length;
    }
  }
}

/**
 * Where the samples of a fragmented track lie.
 *
 * @param {Window} window
 * @param {Track} track
 */
async function* fragments(window, { id, samples }) {
  for await (const moof of boxes(window, 0, window.size)) {
    if (moof.type !== 'moof') continue;
    let next = moof.start;
    for await (const traf of boxes(window, moof.at, moof.end)) {
      const tfhd = await content(window, await inside(window, traf, 'tfhd'), 40), flags = big(tfhd, 1, 3);
      if (traf.type !== 'traf' || big(tfhd, 4, 4) !== id) continue;
      let at = 8;
      const field = (/** @type {number} */ flag, /** @type {number} */ count) => (flags & flag ? big(tfhd, (at += count) - count, count) : undefined);
      const base = field(1, 8) ?? moof.start;
      field(2, 4);
      const duration = field(8, 4) ?? samples.duration, size = field(16, 4) ?? samples.size;
      for await (const trun of boxes(window, traf.at, traf.end)) {
        if (trun.type === 'trun') next = yield* fragment(await content(window, trun), base, next, duration, size, window);
      }
    }
  }
}

/**
 * @param {Uint8Array} run
 * @param {number} base
 * @param {number} next  where the run before ended
 * @param {number} duration
 * @param {number} size
 * @param {Window} window
 */
function* fragment(run, base, next, duration, size, window) {
  const flags = big(run, 1, 3), wide = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length;
  let at = 8 + (flags & 1 && 4) + (flags & 4 && 4), offset = flags & 1 ? base + (big(run, 8, 4) | 0) : next;
  for (let left = big(run, 4, 4); left > 0 && at + wide <= run.length; left -= 1, at += wide) {
    const length = flags & 0x200 ? big(run, at + (flags & 0x100 && 4), 4) : size;
    yield { offset, length, duration: flags & 0x100 ? big(run, at, 4) : duration, window };
    offset += length;
    // A run that has no fields and no bytes has no end.
    if (wide + length === 0) break;
  }
  return offset;
}

/**
 * Reads samples. No file has more of them than bytes.
 *
 * @param {AsyncIterable<{ offset: number, length: number, duration: number, window: Window }>} places
 * @param {Track} track
 * @param {number} budget
 */
async function* timed(places, { scale }, budget) {
  let time = 0;
  for await (const { offset, length, duration, window } of places) {
    const timestampUs = Math.round(time / scale * 1e6);
    time += duration || 0;
    if (length === 0) continue;
    if (!(length <= LARGEST_PACKET && (budget -= length) >= 0 && offset >= 0 && offset + length <= window.size)) return;
    yield { data: await window.at(offset, length), timestampUs, durationUs: (duration || 0) / scale * 1e6 };
  }
}
