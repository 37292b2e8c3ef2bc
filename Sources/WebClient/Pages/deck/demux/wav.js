// WAV and RF64: samples that need no decoder.

import { latin, little } from '../source.js';
import { Refused } from './window.js';

/** Chunks that are passed over. */
const MOST_CHUNKS = 1000;
/** Samples that are converted at once. */
const BLOCK = 8192;
const MOST_CHANNELS = 32;
const EXTENSIBLE = 0xfffe;

/**
 * How a sample is read, by its kind (1 whole numbers, 3 fractions) and its bytes.
 *
 * @type {Record<string, (view: DataView, at: number) => number>}
 */
const READERS = {
  '1 1': (view, at) => view.getUint8(at) / 128 - 1,
  '1 2': (view, at) => view.getInt16(at, true) / 2 ** 15,
  '1 3': (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 65536) / 2 ** 23,
  '1 4': (view, at) => view.getInt32(at, true) / 2 ** 31,
  '3 4': (view, at) => view.getFloat32(at, true),
  '3 8': (view, at) => view.getFloat64(at, true),
};

/**
 * The samples of a WAV.
 *
 * @param {import('./window.js').Window} window
 * @param {number} from
 * @returns {Promise<import('./window.js').Media>}
 */
export async function wav(window, from) {
  if (latin(await window.at(from + 8, 4), 0, 4) !== 'WAVE') throw new Refused('format');
  let format = new Uint8Array(), data = 0;
  for (let at = from + 12, chunks = 0; ; chunks += 1) {
    const head = await window.at(at, 24), name = latin(head, 0, 4);
    if (head.length < 8 || chunks > MOST_CHUNKS) throw new Refused('format');
    const size = little(head, 4, 4);
    if (name === 'ds64') data = little(head, 16, 8);
    if (name === 'fmt ') format = await window.at(at + 8, Math.min(size, 40));
    // A length of all ones: it stands in `ds64`, or nobody knew.
    if (name === 'data') return samples(window, format, at + 8, size === 0xffffffff ? data || Infinity : size);
    at += 8 + size + (size & 1);
  }
}

/**
 * @param {import('./window.js').Window} window
 * @param {Uint8Array} format
 * @param {number} at
 * @param {number} size  in bytes
 * @returns {import('./window.js').Media}
 */
function samples(window, format, at, size) {
  const kind = little(format, 0, 2), channels = little(format, 2, 2), rate = little(format, 4, 4), align = little(format, 12, 2);
  const code = kind === EXTENSIBLE && format.length >= 26 ? little(format, 24, 2) : kind;
  const width = align / channels, value = READERS[`${code} ${width}`];
  if (format.length < 16 || !(channels >= 1 && channels <= MOST_CHANNELS && rate >= 1000 && rate <= 768_000)) throw new Refused('format');
  if (!value) throw new Refused('codec');
  const frames = Math.floor(Math.min(size, window.size - at) / align);

  async function* blocks() {
    for (let done = 0; done < frames;) {
      const bytes = await window.at(at + done * align, BLOCK * align);
      const count = Math.min(Math.floor(bytes.length / align), frames - done);
      if (count < 1) return;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      const planes = Array.from({ length: channels }, (_, c) => {
        const plane = new Float32Array(count);
        for (let i = 0, offset = c * width; i < count; i += 1, offset += align) plane[i] = value(view, offset);
        return plane;
      });
      yield { samples: planes, rate };
      done += count;
    }
  }
  return { packets: blocks(), durationMs: frames / rate * 1000 };
}
