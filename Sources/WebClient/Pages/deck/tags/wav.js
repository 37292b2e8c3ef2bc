// WAV: RIFF and RF64 (EBU Tech 3306), with tags in `LIST INFO` or an ID3v2 tag.

import { latin, little } from '../source.js';
import { MOST_TEXT_BYTES, decoded } from './found.js';
import { id3 } from './id3.js';

/** Chunks of a file that are looked at. */
const MOST_CHUNKS = 512;
/** A size that stands elsewhere, or was never written. */
const UNKNOWN = 0xffffffff;

/** @type {Record<string, import('./found.js').Field>} */
const FIELDS = { INAM: 'title', IART: 'artist', IPRD: 'album' };

/**
 * Reads the chunks behind `RIFF….WAVE`.
 *
 * @param {import('../source.js').Reader} reader
 * @param {number} offset
 * @param {import('./found.js').Found} found
 * @returns {Promise<boolean>} whether there is a format of samples
 */
export async function wav(reader, offset, found) {
  let bytesPerSecond = 0, audio = 0, wide = 0;
  for (let count = 0, at = offset + 12; count < MOST_CHUNKS; count += 1) {
    const head = await reader.at(at, 8);
    if (!head) break;
    const name = latin(head, 0, 4), start = at + 8;
    let length = little(head, 4, 4);
    if (name === 'ds64' && length >= 16) {
      const sizes = await reader.at(start, 16);
      if (sizes) wide = little(sizes, 8, 8);
    }
    if (name === 'data') {
      if (length === UNKNOWN) length = wide || UNKNOWN;
      // A file that was cut, or whose length was not written when it ended.
      length = Math.min(length || reader.size, reader.size - start);
      audio ||= length;
    }
    if (length > reader.size - start) break;
    if (name === 'fmt ' && length >= 16) {
      const format = await reader.at(start, 16);
      if (format) bytesPerSecond = little(format, 4, 4) * little(format, 12, 2) || little(format, 8, 4);
      // Samples that are compressed: bytes of a second are not those of samples.
      if (format && ![1, 3, 0xfffe].includes(little(format, 0, 2))) bytesPerSecond = little(format, 8, 4);
    } else if (name === 'LIST') {
      await list(reader, start, start + length, found);
    } else if (/^id3 $/i.test(name)) {
      await id3(reader, start, found);
    }
    at = start + length + (length & 1);
  }
  if (bytesPerSecond) found.duration((audio / bytesPerSecond) * 1000);
  return bytesPerSecond > 0;
}

/**
 * @param {import('../source.js').Reader} reader
 * @param {number} at
 * @param {number} end
 * @param {import('./found.js').Found} found
 */
async function list(reader, at, end, found) {
  const kind = await reader.at(at, 4);
  if (!kind || end - at < 4 || latin(kind, 0, 4) !== 'INFO') return;
  at += 4;
  for (let count = 0; count < MOST_CHUNKS && at + 8 <= end; count += 1) {
    const head = await reader.at(at, 8);
    if (!head) return;
    const length = little(head, 4, 4), start = at + 8;
    if (length > end - start) return;
    const field = FIELDS[latin(head, 0, 4)];
    if (field) found.text(field, decoded(await reader.upTo(start, Math.min(length, MOST_TEXT_BYTES))).split('\0')[0]);
    at = start + length + (length & 1);
  }
}
