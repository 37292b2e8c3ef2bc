// What a file says of itself: chosen by its first bytes, whatever its name is.

import { Reader, latin } from '../source.js';
import { adts } from './adts.js';
import { ape } from './ape.js';
import { Found, clean } from './found.js';
import { id3, id3v1 } from './id3.js';
import { mp3 } from './mp3.js';

/**
 * `format` null: none that is known; whether a device plays the others is asked elsewhere. Texts have no control
 * characters and at most 300 scalars; `guess` is what was made of those whose encoding nobody says, where they are no UTF-8;
 * `durationMs` is 1 to 604,800,000; `gainDb` is what ReplayGain says of the track; `codec` is what an MP4 calls its sound; a
 * picture lies within the file.
 *
 * @typedef {'mp3' | 'aac' | 'mp4' | 'webm' | 'flac' | 'oggflac' | 'vorbis' | 'opus' | 'wav'} Format
 * @typedef {{ format: Format | null, title: string, artist?: string, album?: string, durationMs?: number, gainDb?: number,
 *   codec?: string, picture?: import('./found.js').Picture, guess?: import('./text.js').Guess }} Tags
 */

/** How WebM begins, as Latin-1. */
const EBML = '\x1a\x45\xdf\xa3';
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
 * What reads a format is loaded with the first file of it; most libraries are of MP3.
 *
 * @param {Reader} reader
 * @param {number} start
 * @param {Found} found
 * @returns {Promise<Format | null>}
 */
async function formatAt(reader, start, found) {
  const first = await reader.upTo(start, 12), head = latin(first, 0, 12);
  if (head.startsWith(EBML)) return await (await import('./webm.js')).webm(reader, start, found) ? 'webm' : null;
  if (head.startsWith('fLaC')) return await (await import('./flac.js')).flac(reader, start, found) ? 'flac' : null;
  if (head.startsWith('OggS')) return (await import('./ogg.js')).ogg(reader, start, found);
  if (/^(RIFF|RF64)[^]{4}WAVE$/.test(head)) return await (await import('./wav.js')).wav(reader, start, found) ? 'wav' : null;
  if (/^[^]{4}(ftyp|moov|mdat|free|skip|wide|pnot)/.test(head)) return await (await import('./mp4.js')).mp4(reader, start, found) ? 'mp4' : null;
  let end = reader.size - await id3v1(reader, found);
  end -= await ape(reader, end, found);
  if (await adts(reader, start, end, found)) return 'aac';
  return await mp3(reader, start, end, found) ? 'mp3' : null;
}
