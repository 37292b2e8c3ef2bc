// A song of the library: what is known of one file.

import { sourceOf } from './source.js';

/** Bytes of a file's beginning and of its end that go into its `sourceId`. */
const EDGE = 65_536;
/** The largest file that is taken, in bytes. */
const LARGEST_FILE = 4 * 2 ** 30;

/** The longest duration of a track, in ms. */
const LONGEST_DURATION = 604_800_000;
/** How long the browser is asked for a duration that no header tells, in ms. */
const LONGEST_LOOK_MS = 5000;

/** What reads tags is loaded when the first file is added, or the first picture shown. */
const tags = () => import('./tags/read.js');

const TYPES = { mp3: 'audio/mpeg', mp4: 'audio/mp4', flac: 'audio/flac', vorbis: 'audio/ogg', opus: 'audio/ogg', wav: 'audio/wav' };

/**
 * A file of the library. `lufs` is its loudness: null for silence, or where it could not be measured. `kept` says how the
 * file is found after a reload: by its handle, as a copy, or not at all.
 *
 * @typedef {{ sourceId: string, name: string, size: number, format: import('./tags/read.js').Format, title: string,
 *   artist?: string, album?: string, durationMs?: number, gainDb?: number, lufs?: number | null, waveform?: Uint8Array,
 *   addedAt: number, kept: 'handle' | 'opfs' | 'memory' }} Song
 */

/** @typedef {'format' | 'empty' | 'unreadable' | 'large'} Why a file is no song */

/**
 * What identifies a file without its name: base64url of the first 16 bytes of the SHA-256 of its size (8 bytes, the highest
 * first), its first and its last 64 KiB.
 *
 * @param {number} size
 * @param {Uint8Array} head
 * @param {Uint8Array} tail
 */
async function idOf(size, head, tail) {
  const bytes = new Uint8Array(8 + head.length + tail.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(size));
  bytes.set(head, 8);
  bytes.set(tail, 8 + head.length);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).subarray(0, 16);
  return btoa(String.fromCharCode(...hash)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/**
 * Reads what a file says of itself.
 *
 * @param {() => Promise<File>} open
 * @param {string} name
 * @param {(sourceId: string) => Song | undefined} known  what was found out of a file before
 * @returns {Promise<Song | Why>} rejects where what reads tags cannot be loaded
 */
export async function readSong(open, name, known) {
  const { readTags } = await tags();
  try {
    const file = await open(), source = sourceOf(file, name);
    if (!file.size) return 'empty';
    if (file.size > LARGEST_FILE) return 'large';
    const head = await source.read(0, EDGE), tail = await source.read(file.size - EDGE, EDGE);
    const { format, codec = 'mp4a', picture, ...said } = await readTags({
      ...source,
      read: async (offset, length) => offset + length <= head.length ? head.subarray(offset, offset + length) : source.read(offset, length),
    }, { picture: false });
    // Some sound in MP4 is protected, or of a kind that not every browser plays.
    if (!format || (codec !== 'mp4a' && !new Audio().canPlayType(`audio/mp4; codecs="${codec.toLowerCase()}"`))) return 'format';
    const sourceId = await idOf(file.size, head, tail);
    const { lufs, waveform, durationMs, addedAt = Date.now(), kept = 'memory' } = known(sourceId) ?? {};
    /** @type {Song} */
    const song = { sourceId, name, size: file.size, format, ...said, addedAt, kept };
    if (lufs !== undefined) song.lufs = lufs;
    if (waveform) song.waveform = waveform;
    if (!song.durationMs && !durationMs) song.durationMs = await heardMs(file);
    // What was heard is nearer than what a file says of itself.
    if (durationMs && (waveform || !song.durationMs)) song.durationMs = durationMs;
    return song;
  } catch {
    return 'unreadable';
  }
}

/**
 * What the browser takes for the duration of a file, in ms; undefined where it does not know.
 *
 * @param {File} file
 * @returns {Promise<number | undefined>}
 */
async function heardMs(file) {
  const audio = new Audio(), url = URL.createObjectURL(file);
  await new Promise((resolve) => {
    audio.onloadedmetadata = audio.onerror = resolve;
    setTimeout(resolve, LONGEST_LOOK_MS);
    audio.preload = 'metadata';
    audio.src = url;
  });
  const ms = Math.round(audio.duration * 1000);
  audio.removeAttribute('src');
  URL.revokeObjectURL(url);
  return ms >= 1 && ms <= LONGEST_DURATION ? ms : undefined;
}

/**
 * A file with the name and the type of its song.
 *
 * @param {File} file
 * @param {Song} song
 */
export function typed(file, { name, format }) {
  return new File([file], name, { type: TYPES[format], lastModified: file.lastModified });
}

/**
 * The song as a room gets it.
 *
 * @param {Song} song
 * @returns {import('../wire/messages').TrackInfo}
 */
export function trackOf({ sourceId, title, artist, album, durationMs }) {
  /** @type {import('../wire/messages').TrackInfo} */
  const track = { source: 'local', sourceId, title };
  if (artist) track.artist = artist;
  if (album) track.album = album;
  if (durationMs) track.durationMs = durationMs;
  return track;
}

/**
 * The picture in a file, if there is one.
 *
 * @param {File} file
 * @returns {Promise<Blob | null>} of an image type, at most 8 MiB; rejects where the file cannot be read
 */
export async function pictureOf(file) {
  const { picture } = await (await tags()).readTags(sourceOf(file));
  if (!picture) return null;
  return new Blob(['bytes' in picture ? picture.bytes : file.slice(picture.offset, picture.offset + picture.length)], { type: picture.type });
}
