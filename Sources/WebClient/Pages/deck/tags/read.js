// What a file says of itself: chosen by its first bytes, whatever its name is.

import { Reader, latin } from '../source.js';
import { flac } from './flac.js';
import { Found, clean } from './found.js';
import { id3, id3v1 } from './id3.js';
import { mp3 } from './mp3.js';
import { mp4 } from './mp4.js';
import { ogg } from './ogg.js';
import { wav } from './wav.js';

/**
 * `format` null: none that the deck plays. Texts have no control characters and at most 300 scalars; `durationMs` is 1 to
 * 604,800,000; `gainDb` is what ReplayGain says of the track; `codec` is what an MP4 calls its sound; a
 * picture lies within the file.
 *
 * @typedef {'mp3' | 'mp4' | 'flac' | 'vorbis' | 'opus' | 'wav'} Format
 * @typedef {{ format: Format | null, title: string, artist?: string, album?: string, durationMs?: number, gainDb?: number,
 *   codec?: string, picture?: import('./found.js').Picture }} Tags
 */

/** ID3v2 tags in a row, of which the first counts. */
const MOST_TAGS = 4;
/** The most bytes that are read of a file, without and with its picture. */
const MOST_BYTES = 1 << 20;
const MOST_BYTES_WITH_PICTURE = 16 << 20;

/**
 * Reads the tags of a file. Bounded in bytes and steps. Without a title, it is the file's name without its ending.
 *
 * @param {import('../source.js').Source} source
 * @param {{ picture?: boolean }} options  whether a picture is looked for; it is unless told otherwise
 * @returns {Promise<Tags>} rejects only where the file cannot be read
 */
export async function readTags(source, { picture = true } = {}) {
  const reader = new Reader(source, picture ? MOST_BYTES_WITH_PICTURE : MOST_BYTES);
  const found = new Found(picture);
  let start = 0, lengthMs;
  for (let i = 0; i < MOST_TAGS; i += 1) {
    const tag = await id3(reader, start, i === 0 ? found : new Found(false));
    if (!tag.length) break;
    start += tag.length;
    lengthMs ??= tag.lengthMs;
  }
  const format = await formatAt(reader, start, found);
  if (lengthMs) found.duration(lengthMs);
  const name = clean(source.name.replace(/^.*[/\\]/, ''));
  const title = clean(name.replace(/(.)\.[^.]{1,5}$/u, '$1')) || name || '?';
  return { format, title, ...found.fields() };
}

/**
 * @param {Reader} reader
 * @param {number} start
 * @param {Found} found
 * @returns {Promise<Format | null>}
 */
async function formatAt(reader, start, found) {
  const head = latin(await reader.upTo(start, 12), 0, 12);
  if (head.startsWith('fLaC')) return await flac(reader, start, found) ? 'flac' : null;
  if (head.startsWith('OggS')) return ogg(reader, start, found);
  if (/^(RIFF|RF64)[^]{4}WAVE$/.test(head)) return await wav(reader, start, found) ? 'wav' : null;
  if (/^[^]{4}(ftyp|moov|mdat|free|skip|wide|pnot)/.test(head)) return await mp4(reader, start, found) ? 'mp4' : null;
  const first = found.fields();
  const old = new Found(false);
  const end = reader.size - await id3v1(reader, old);
  if (!await mp3(reader, start, end, found)) return null;
  const last = old.fields();
  for (const field of /** @type {const} */ (['title', 'artist', 'album'])) if (!first[field]) found.text(field, last[field] ?? '');
  return 'mp3';
}
