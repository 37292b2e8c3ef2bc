// WAV: RIFF and RF64 (EBU Tech 3306), with tags in `LIST INFO` or an ID3v2 tag.

import { latin, little } from '../source.js';
import { MOST_TEXT_BYTES } from './found.js';
import { id3 } from './id3.js';

/** Chunks of a file that are looked at. */
const MOST_CHUNKS = 512;
/** A size that stands elsewhere, or was never written. */
const UNKNOWN = 0xffffffff;

/** Formats whose samples have all one size: whole numbers, fractions, A-law, µ-law, and what says more. */
const PLAIN = [1, 3, 6, 7, 0xfffe];
/** The most bits of a compressed sample, and the most samples of a byte. */
const MOST_BITS = 16, MOST_SAMPLES = 64;

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
  let rate = 0, bytesPerSecond = 0, bits = 0, samples = 0, audio = 0, wide = 0;
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
      if (format) {
        const code = little(format, 0, 2), channels = little(format, 2, 2), align = little(format, 12, 2);
        rate = little(format, 4, 4);
        // Samples that are compressed: bytes of a second are not those of samples, and what is said of them may be wrong.
        if (PLAIN.includes(code)) bytesPerSecond = rate * align || little(format, 8, 4);
        // The channels of a block of samples are no more than its bytes.
        else bits = Math.max(1, channels) * MOST_BITS;
      }
    } else if (name === 'fact' && length >= 4) {
      const fact = await reader.at(start, 4);
      if (fact) samples = little(fact, 0, 4);
    } else if (name === 'LIST') {
      await list(reader, start, start + length, found);
    } else if (/^id3 $/i.test(name)) {
      await id3(reader, start, found);
    }
    at = start + length + (length & 1);
  }
  if (bytesPerSecond) found.duration((audio / bytesPerSecond) * 1000);
  // More samples than bytes could be, or fewer, are those of another file, or of one that was cut.
  else if (rate && samples * bits >= audio * 8 && samples <= audio * MOST_SAMPLES) found.duration((samples / rate) * 1000);
  return bytesPerSecond > 0 || bits > 0;
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
    if (field) {
      const text = await reader.upTo(start, Math.min(length, MOST_TEXT_BYTES)), zero = text.indexOf(0);
      found.raw(field, zero < 0 ? text : text.subarray(0, zero));
    }
    at = start + length + (length & 1);
  }
}
