// A QR code of a short text (ISO/IEC 18004): bytes, error correction level M, versions 1 to 6, all eight masks.

import { codewords, VERSIONS } from './qr-codewords.js';

/** The longest text, in bytes of UTF-8: version 6 has 108 data codewords, and mode and length take 12 bits. */
export const LONGEST = 106;

/**
 * The eight masks (table 10): true where a module is inverted.
 *
 * @type {((row: number, column: number) => boolean)[]}
 */
const MASKS = [
  (y, x) => (y + x) % 2 === 0,
  (y, _) => y % 2 === 0,
  (_, x) => x % 3 === 0,
  (y, x) => (y + x) % 3 === 0,
  (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
  (y, x) => ((y * x) % 2) + ((y * x) % 3) === 0,
  (y, x) => (((y * x) % 2) + ((y * x) % 3)) % 2 === 0,
  (y, x) => (((y + x) % 2) + ((y * x) % 3)) % 2 === 0,
];

/**
 * Draws the patterns that hold no data. Returns the modules and which of them are fixed.
 *
 * @param {number} version
 */
function frame(version) {
  const size = 17 + 4 * version;
  const dark = new Uint8Array(size * size);
  const fixed = new Uint8Array(size * size);
  /**
   * @param {number} y
   * @param {number} x
   * @param {boolean} on
   */
  const set = (y, x, on) => {
    if (y < 0 || x < 0 || y >= size || x >= size) return;
    dark[y * size + x] = on ? 1 : 0;
    fixed[y * size + x] = 1;
  };
  for (let i = 0; i < size; i += 1) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [top, left] of [[0, 0], [0, size - 7], [size - 7, 0]]) {
    for (let y = -1; y <= 7; y += 1) {
      for (let x = -1; x <= 7; x += 1) {
        const ring = Math.max(Math.abs(y - 3), Math.abs(x - 3));
        set(top + y, left + x, ring !== 2 && ring !== 4);
      }
    }
  }
  if (version > 1) {
    for (let y = -2; y <= 2; y += 1) {
      for (let x = -2; x <= 2; x += 1) set(size - 7 + y, size - 7 + x, Math.max(Math.abs(y), Math.abs(x)) !== 1);
    }
  }
  for (let i = 0; i < 9; i += 1) {
    if (i !== 6) { set(8, i, false); set(i, 8, false); }
    if (i < 8) { set(8, size - 1 - i, false); set(size - 1 - i, 8, false); }
  }
  set(size - 8, 8, true);
  return { size, dark, fixed };
}

/**
 * Writes the format (level M and the mask, with 10 bits of BCH) at both places.
 *
 * @param {Uint8Array} dark
 * @param {number} size
 * @param {number} mask
 */
function writeFormat(dark, size, mask) {
  let rest = mask;
  for (let i = 0; i < 10; i += 1) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
  const format = ((mask << 10) | rest) ^ 0x5412; // Level M is 00.
  for (let i = 0; i < 15; i += 1) {
    const bit = (format >> i) & 1;
    const near = i < 6 ? i : i < 8 ? i + 1 : 0;
    if (i < 8) dark[near * size + 8] = bit;
    else dark[8 * size + (i === 8 ? 7 : 14 - i)] = bit;
    if (i < 8) dark[8 * size + size - 1 - i] = bit;
    else dark[(size - 15 + i) * size + 8] = bit;
  }
}

/**
 * The penalty of a code (clause 7.8.3): runs, blocks of two by two, patterns like a finder, and the share of dark modules.
 *
 * @param {Uint8Array} dark
 * @param {number} size
 */
export function penalty(dark, size) {
  let sum = 0;
  let count = 0;
  for (const [step, next] of [[size, 1], [1, size]]) {
    for (let line = 0; line < size; line += 1) {
      let run = 0;
      let window = 0;
      for (let i = 0; i < size; i += 1) {
        const at = line * step + i * next;
        const bit = dark[at];
        run = i > 0 && bit === dark[at - next] ? run + 1 : 1;
        if (run === 5) sum += 3;
        else if (run > 5) sum += 1;
        // 1:1:3:1:1 with four light modules before or after it.
        window = ((window << 1) | bit) & 0x7ff;
        if (i >= 10 && (window === 0b00001011101 || window === 0b10111010000)) sum += 40;
      }
    }
  }
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const at = y * size + x;
      count += dark[at];
      if (x > 0 && y > 0 && dark[at] === dark[at - 1] && dark[at] === dark[at - size] && dark[at] === dark[at - size - 1]) sum += 3;
    }
  }
  return sum + 10 * Math.floor(Math.abs((count * 20) / (size * size) - 10));
}

/**
 * The modules of a code, row by row, without the quiet zone.
 *
 * @param {string} text at most `LONGEST` bytes of UTF-8; a longer one throws RangeError
 * @param {{version?: number, mask?: number}} [choice] for tests: a version that is large enough, a mask of 0 to 7;
 *   otherwise the smallest version, and the mask with the least penalty
 * @returns {{size: number, version: number, mask: number, dark: Uint8Array}} 1 where a module is dark
 */
export function modules(text, choice = {}) {
  const bytes = new TextEncoder().encode(text);
  const version = choice.version ?? VERSIONS.findIndex(([capacity]) => bytes.length <= capacity - 2) + 1;
  if (version < 1 || version > 6 || bytes.length > VERSIONS[version - 1][0] - 2) {
    throw new RangeError(`${bytes.length} bytes do not fit a QR code of version 6; at most ${LONGEST} do.`);
  }
  const { size, dark, fixed } = frame(version);
  const data = codewords(bytes, version);
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const up = ((right + 1) & 2) === 0;
    for (let i = 0; i < size; i += 1) {
      for (const x of [right, right - 1]) {
        const at = (up ? size - 1 - i : i) * size + x;
        if (fixed[at]) continue;
        // Up to seven modules beyond the last codeword stay light.
        dark[at] = bit < data.length * 8 ? (data[bit >> 3] >> (7 - (bit & 7))) & 1 : 0;
        bit += 1;
      }
    }
  }
  /** @param {number} mask */
  const masked = (mask) => {
    const result = dark.slice();
    for (let at = 0; at < result.length; at += 1) {
      if (!fixed[at] && MASKS[mask](Math.floor(at / size), at % size)) result[at] ^= 1;
    }
    writeFormat(result, size, mask);
    return result;
  };
  let best = choice.mask ?? 0;
  let result = masked(best);
  if (choice.mask === undefined) {
    let least = penalty(result, size);
    for (let mask = 1; mask < 8; mask += 1) {
      const other = masked(mask);
      const points = penalty(other, size);
      if (points < least) { least = points; best = mask; result = other; }
    }
  }
  return { size, version, mask: best, dark: result };
}

/**
 * One SVG path of a code's dark modules in units of a module, moved by the quiet zone of four modules.
 *
 * @param {{size: number, dark: Uint8Array}} code
 * @returns {string} for a view box of `size + 8` units
 */
export function path({ size, dark }) {
  let result = '';
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      if (!dark[y * size + x]) continue;
      const start = x;
      while (x < size && dark[y * size + x]) x += 1;
      result += `M${start + 4} ${y + 4}h${x - start}v1h${start - x}z`;
    }
  }
  return result;
}

/**
 * A QR code as one `<svg>`: dark on light in both themes, with its quiet zone.
 *
 * @param {string} text at most `LONGEST` bytes of UTF-8; a longer one throws RangeError
 * @param {string} label the name that a screen reader says
 * @returns {SVGSVGElement}
 */
export function qrCode(text, label) {
  const code = modules(text);
  const name = 'http://www.w3.org/2000/svg';
  const node = document.createElementNS(name, 'svg');
  const side = code.size + 8;
  node.setAttribute('viewBox', `0 0 ${side} ${side}`);
  node.setAttribute('role', 'img');
  node.setAttribute('aria-label', label);
  node.setAttribute('shape-rendering', 'crispEdges');
  node.classList.add('qr');
  const ground = document.createElementNS(name, 'rect');
  ground.setAttribute('width', String(side));
  ground.setAttribute('height', String(side));
  ground.setAttribute('fill', '#fff');
  const ink = document.createElementNS(name, 'path');
  ink.setAttribute('d', path(code));
  ink.setAttribute('fill', '#0d0c12');
  node.append(ground, ink);
  return node;
}
