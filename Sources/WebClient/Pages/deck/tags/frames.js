// Rows of frames without an index, as MPEG audio has them: where they begin, and how long they last.

/** Bytes in which the first frame is searched for at once. */
export const SEARCHED = 65_536;
/** Frames in a row that prove that there are some, unless the file ends before. */
const PROOF = 4;
/** Places of a file that are looked at, frames at each, and the bytes in which these must begin. */
const PLACES = 5, LOOKED_AT = 64, NEAR = 16_384;
/** The largest row that is read from end to end, and what is read of it at once. */
const LARGEST_SCAN = 16 << 20, STEP = 1 << 18;

/**
 * A frame. `kind` is what all frames of a stream have in common; `bytes` is `length` without what pads some frames of a
 * constant rate.
 *
 * @typedef {{ kind: number, rate: number, samples: number, length: number, bytes: number }} Frame
 */

/**
 * The frame whose header stands somewhere.
 *
 * @template {Frame} F
 * @typedef {(bytes: Uint8Array, at: number) => F | null} Read
 */

/**
 * The first place at which a row of frames begins.
 *
 * @template {Frame} F
 * @param {Read<F>} read
 * @param {Uint8Array} bytes
 * @param {boolean} isLast whether the file ends with the bytes
 * @param {number} [from]
 * @param {number} [kind] of the stream's frames, where that is known
 * @returns {{ start: number, first: F } | null}
 */
export function firstFrame(read, bytes, isLast, from = 0, kind) {
  for (let start = bytes.indexOf(0xff, from); start >= 0; start = bytes.indexOf(0xff, start + 1)) {
    const first = read(bytes, start);
    if (!first || (kind !== undefined && first.kind !== kind)) continue;
    let at = start, count = 0;
    /** @type {F | null} */
    let next = first;
    for (; next && next.kind === first.kind && count < PROOF; next = read(bytes, at)) {
      at += next.length;
      count += 1;
    }
    if (count === PROOF || (isLast && at <= bytes.length && at > bytes.length - 4)) return { start, first };
  }
  return null;
}

/**
 * Where the first row of frames begins in a file.
 *
 * @template {Frame} F
 * @param {Read<F>} read
 * @param {import('../source.js').Reader} reader
 * @param {number} offset where the tags in front end
 * @param {number} end where the audio ends
 * @param {number} most bytes in which it must begin
 * @returns {Promise<{ bytes: Uint8Array, at: number, start: number, first: F } | null>} `bytes` of the file from `at` on,
 *   in which the frame is at `start`
 */
export async function begin(read, reader, offset, end, most) {
  for (let at = offset; at < Math.min(end, offset + most); at += SEARCHED) {
    const bytes = await reader.upTo(at, Math.min(end - at, SEARCHED + PROOF * 1441));
    const begun = firstFrame(read, bytes, at + bytes.length === end);
    if (begun) return { bytes, at, ...begun };
    if (!bytes.length) break;
  }
  return null;
}

/**
 * What frames at some places of a row say of all of it.
 *
 * @param {Read<Frame>} read
 * @param {import('../source.js').Reader} reader
 * @param {number} start
 * @param {number} end
 * @param {Frame} first
 * @returns {Promise<{ seconds: number, isEven: boolean }>} about how long it lasts; whether it is exactly that, since all
 *   frames that were seen are alike and each place has some
 */
export async function sampled(read, reader, start, end, first) {
  let sum = 0, places = 0, isEven = true;
  for (let place = 0; place < PLACES; place += 1) {
    const from = start + Math.floor((Math.max(0, end - start - NEAR) * place) / (PLACES - 1)), bytes = await reader.upTo(from, Math.min(NEAR, end - from));
    const there = firstFrame(read, bytes, from + bytes.length >= end, 0, first.kind);
    if (!there) {
      isEven = false;
      continue;
    }
    let at = there.start, seconds = 0, length = 0;
    for (let i = 0; i < LOOKED_AT; i += 1) {
      const frame = read(bytes, at);
      if (!frame || frame.kind !== first.kind) break;
      isEven &&= frame.bytes === first.bytes;
      seconds += frame.samples / frame.rate;
      length += frame.bytes;
      at += frame.length;
    }
    sum += seconds / length;
    places += 1;
  }
  return { seconds: places ? (sum / places) * (end - start) : 0, isEven };
}

/**
 * How long a row lasts, by all its frames. What is no frame is passed over.
 *
 * @param {Read<Frame>} read
 * @param {import('../source.js').Reader} reader
 * @param {number} start
 * @param {number} end
 * @param {Frame} first
 * @returns {Promise<number | null>} in seconds; null where it is too large to be read
 */
export async function counted(read, reader, start, end, first) {
  if (end - start > LARGEST_SCAN) return null;
  let seconds = 0;
  for (let at = start; at < end;) {
    const bytes = await reader.source.read(at, Math.min(STEP, end - at)), isLast = at + bytes.length >= end;
    let next = 0;
    while (next < bytes.length) {
      const frame = read(bytes, next);
      if (frame && frame.kind === first.kind) {
        if (next + frame.length > bytes.length) break;
        seconds += frame.samples / frame.rate;
        next += frame.length;
        continue;
      }
      // Near the end of what was read, a row may not be seen.
      const there = firstFrame(read, bytes, isLast, next + 1, first.kind);
      next = there ? there.start : isLast ? bytes.length : Math.max(next + 1, bytes.length - PROOF * 1441);
      if (!there) break;
    }
    if (!next || isLast) break;
    at += next;
  }
  return seconds;
}
