// Files that are not as they should be: cut, and changed at random by a seed that is printed.

/**
 * A generator of numbers from 0 to 1 that gives the same ones for a seed (mulberry32).
 *
 * @param {number} seed
 * @returns {() => number}
 */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * The seed of a run: `BACKLINE_SEED`, the one that is the same in each run of the gate, or one by chance. Print it beside
 * what fails.
 */
export function seedOfRun() {
  const { BACKLINE_SEED, BACKLINE_NEW_SEED } = process.env;
  return Number(BACKLINE_SEED ?? BACKLINE_NEW_SEED ?? 1 + Math.floor(Math.random() * 1e6)) >>> 0;
}

/** Values that lengths and counts are likely to be mistaken for. */
const NUMBERS = [0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

/** What is done to a file, each with its place and a generator. */
const CHANGES = [
  (bytes, at, next) => { bytes[at] = Math.floor(next() * 256); },
  (bytes, at, next) => { bytes[at] ^= 1 << Math.floor(next() * 8); },
  (bytes, at, next) => {
    const value = NUMBERS[Math.floor(next() * NUMBERS.length)], width = [2, 3, 4, 8][Math.floor(next() * 4)], isLittle = next() < 0.5;
    for (let i = 0; i < width && at + i < bytes.length; i += 1) {
      const place = isLittle ? i : width - 1 - i;
      bytes[at + i] = place > 3 ? 0 : (value >>> (8 * place)) & 255;
    }
  },
  (bytes, at, next) => { bytes.fill(next() < 0.5 ? 0 : 255, at, at + 1 + Math.floor(next() * 40)); },
  // Something from elsewhere in the file.
  (bytes, at, next) => {
    const from = Math.floor(next() * bytes.length);
    bytes.copyWithin(at, from, from + 1 + Math.floor(next() * 200));
  },
];

/**
 * A changed copy of a file: one to eight changes, most of them where its headers are; now and then it is cut, or a part of
 * it is left out or stands twice.
 *
 * @param {Uint8Array} bytes
 * @param {() => number} next
 * @param {number} [headers]  the first bytes, in which most changes are made
 * @returns {Uint8Array}
 */
export function mutated(bytes, next, headers = 2048) {
  let copy = bytes.slice();
  for (let left = 1 + Math.floor(next() * 8); left > 0; left -= 1) {
    const part = next();
    const near = Math.min(copy.length, headers);
    // A tail of a file has headers too.
    const at = Math.floor(part < 0.7 ? next() * near : part < 0.9 ? next() * copy.length : copy.length - next() * near);
    CHANGES[Math.floor(next() * CHANGES.length)](copy, Math.min(at, copy.length - 1), next);
  }
  const rest = next();
  const at = Math.floor(next() * copy.length), length = Math.floor(next() * Math.min(copy.length, next() < 0.5 ? 16 : 4096));
  if (rest < 0.1) copy = copy.slice(0, at);
  else if (rest < 0.2) copy = joined(copy.subarray(0, at), copy.subarray(at + length));
  else if (rest < 0.3) copy = joined(copy.subarray(0, at + length), copy.subarray(at));
  return copy;
}

/**
 * A file's beginnings: cut at every byte up to `most`, then at `steps` places up to its end.
 *
 * @param {Uint8Array} bytes
 * @param {number} [most]
 * @param {number} [steps]
 * @returns {Generator<Uint8Array>}
 */
export function* beginnings(bytes, most = 2048, steps = 64) {
  for (let length = 0; length < Math.min(most, bytes.length); length += 1) yield bytes.subarray(0, length);
  for (let i = 1; i < steps; i += 1) yield bytes.subarray(0, Math.floor((bytes.length * i) / steps));
}

/**
 * Runs `check` with changed copies of files in turn, `rounds` times or until `ms` have passed. What it throws is told with
 * the seed and the round, which give the same copy again.
 *
 * @param {{ name: string, bytes: Uint8Array, headers?: number }[]} files
 * @param {{ seed: number, rounds?: number, ms?: number, hangsAfterMs?: number }} options
 * @param {(bytes: Uint8Array, name: string) => Promise<void>} check
 * @returns {Promise<number>} rounds
 */
export async function mutate(files, { seed, rounds = Infinity, ms = Infinity, hangsAfterMs = 5000 }, check) {
  const end = performance.now() + ms;
  let round = 0;
  for (; round < rounds && performance.now() < end; round += 1) {
    const { name, bytes, headers } = files[round % files.length];
    const copy = mutated(bytes, random(seed + round), headers);
    try {
      await inTime(check(copy, name), hangsAfterMs);
    } catch (error) {
      throw new Error(`${name}, BACKLINE_SEED=${seed}, round ${round}: ${error.stack ?? error}`, { cause: error });
    }
  }
  return round;
}

/**
 * What a promise gives; rejects where it takes longer.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {number} ms
 * @returns {Promise<T>}
 */
export async function inTime(promise, ms) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`not done after ${ms} ms`)), ms); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** @param {Uint8Array[]} parts */
export function joined(...parts) {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

/**
 * A `Source` of bytes that counts what is read of it. Like a file's, it clamps.
 *
 * @param {Uint8Array} bytes
 * @param {string} [name]
 */
export function countedSource(bytes, name = 'file') {
  const source = {
    size: bytes.length, name, bytesRead: 0, reads: 0,
    async read(offset, length) {
      const start = Math.min(Math.max(0, offset), bytes.length);
      const part = bytes.slice(start, Math.min(bytes.length, start + Math.max(0, length)));
      source.bytesRead += part.length;
      source.reads += 1;
      return part;
    },
  };
  return source;
}
