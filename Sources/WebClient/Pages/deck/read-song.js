// A file that is added: what it says of itself, what identifies it, and whether this device plays it.

import { heard, isForeign } from './heard.js';
import { typeOf, typed } from './song.js';
import { sourceOf } from './source.js';
import { readTags } from './tags/read.js';

export { Together } from './tags/text.js';

/** Bytes of a file's beginning and of its end that go into its `sourceId`. */
const EDGE = 65_536;
/** The largest file that is taken, in bytes. */
const LARGEST_FILE = 4 * 2 ** 30;

/** Places between these two that go into it as well, and bytes of each. */
const PLACES = 8, PLACE = 8192;
/** Names of music whose format is not known here: the browser may play it. */
const MUSIC = /\.(?:aif[fc]?|caf|wma|mka|m4b|ac3|eac3|amr|3gp|au|snd|mp2|mpga|oga|ogg|opus|aac|mp3|wav|weba)$/i;

/** @typedef {import('./song.js').Song} Song */
/** @typedef {'format' | 'empty' | 'unreadable' | 'large'} Why a file is no song */


/**
 * The first 16 bytes of the SHA-256 of a size (8 bytes, the highest first) and of bytes, as base64url.
 *
 * @param {number} size
 * @param {Uint8Array[]} parts
 */
async function idOf(size, parts) {
  const bytes = new Uint8Array(8 + parts.reduce((sum, { length }) => sum + length, 0));
  new DataView(bytes.buffer).setBigUint64(0, BigInt(size));
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 8);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).subarray(0, 16);
  return btoa(String.fromCharCode(...hash)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/**
 * What identifies a file without its name: the hash of its size, its first and its last 64 KiB, and, where these are not
 * all of it, of eight places between them. Releases before left those out, and took exports of one length with silence at
 * both ends for one file.
 *
 * @param {import('./source.js').Source} source
 * @param {Uint8Array} head
 * @param {Uint8Array} tail
 * @returns {Promise<{ sourceId: string, oldId?: string }>}
 */
async function idsOf(source, head, tail) {
  const { size } = source, oldId = await idOf(size, [head, tail]);
  if (size <= 2 * EDGE) return { sourceId: oldId };
  const step = (size - 2 * EDGE) / PLACES;
  const places = await Promise.all(Array.from({ length: PLACES }, (_, i) => source.read(Math.floor(EDGE + step * i), PLACE)));
  return { sourceId: await idOf(size, [head, tail, ...places]), oldId };
}

/**
 * Reads what a file says of itself, and asks whether this device plays it.
 *
 * @param {() => Promise<File>} open
 * @param {string} name
 * @param {(sourceId: string) => { waveform?: Uint8Array } | undefined} known  what was found out of a file before
 * @param {(file: File) => Promise<import('./heard.js').Heard>} hear
 * @returns {Promise<{ song: Song, guess?: import('./tags/text.js').Guess, why?: 'foreign' | 'unplayable' } | Why>} `why` it is
 *   `unplayable`: the browser does not know its format, or cannot open it
 */
export async function readSong(open, name, known, hear = heard) {
  try {
    const file = await open(), source = sourceOf(file, name);
    if (!file.size) return 'empty';
    if (file.size > LARGEST_FILE) return 'large';
    const from = Math.max(0, file.size - EDGE), head = await source.read(0, EDGE), tail = await source.read(from, EDGE);
    const { format, codec, picture, guess, ...said } = await readTags({
      ...source,
      read: async (offset, length) => offset + length <= head.length ? head.subarray(offset, offset + length)
        : offset >= from ? tail.subarray(offset - from, offset - from + length) : source.read(offset, length),
    }, { picture: false });
    if (!format && !file.type.startsWith('audio/') && !MUSIC.test(name)) return 'format';
    /** @type {Song} */
    const song = { ...await idsOf(source, head, tail), name, size: file.size, format: format ?? 'other', ...said, addedAt: Date.now(), kept: 'memory' };
    if (isForeign(typeOf(song.format, codec))) return { song: { ...song, unplayable: true }, guess, why: 'foreign' };
    // What was decoded before is played.
    if (known(song.sourceId)?.waveform) return { song, guess };
    const { plays, durationMs } = await hear(typed(file, song));
    if (!format && !plays) return 'format';
    song.durationMs ??= durationMs;
    return plays === false ? { song: { ...song, unplayable: true }, guess, why: 'unplayable' } : { song, guess };
  } catch {
    return 'unreadable';
  }
}

/**
 * Takes over what was found out of a song before.
 *
 * @param {Song} song
 * @param {Song | undefined} before
 * @param {import('./tags/text.js').Guess} [guess]
 */
export function remembered(song, before, guess) {
  if (!before) return;
  const { lufs, waveform, durationMs, addedAt } = before;
  song.addedAt = addedAt;
  // A file in doubt may have come with others of its folder that time.
  const [doubted = {}] = Object.values(guess?.others ?? {});
  for (const name of /** @type {('title' | 'artist' | 'album')[]} */ (Object.keys(doubted))) {
    const known = before[name];
    if (known) song[name] = known;
  }
  if (lufs !== undefined) song.lufs = lufs;
  if (waveform) song.waveform = waveform;
  // What was heard is nearer than what a file says of itself.
  if (durationMs && (waveform || !song.durationMs)) {
    song.saidMs = song.durationMs;
    song.durationMs = durationMs;
  }
}
