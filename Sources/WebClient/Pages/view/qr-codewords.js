// The codewords of a QR code: bytes of a text, and Reed–Solomon correction (ISO/IEC 18004, clauses 7.4 to 7.6).

/** Blocks and codewords of level M (ISO/IEC 18004, table 9), by version: data codewords, blocks, correction codewords a block. */
export const VERSIONS = [[16, 1, 10], [28, 1, 16], [44, 1, 26], [64, 2, 18], [86, 2, 24], [108, 4, 16]];

/** Powers of 2 in the field of 256 elements with the polynomial x⁸+x⁴+x³+x²+1, and their logarithms. */
const POWER = new Uint8Array(255);
const LOG = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i += 1) {
  POWER[i] = x;
  LOG[x] = i;
  x = x & 128 ? (x << 1) ^ 0x11d : x << 1;
}

/**
 * @param {number} a
 * @param {number} b the product in the field
 */
const times = (a, b) => (a === 0 || b === 0 ? 0 : POWER[(LOG[a] + LOG[b]) % 255]);

/**
 * The correction codewords of one block: the remainder of data · x^count by the generator polynomial.
 *
 * @param {Uint8Array} data
 * @param {number} count
 */
function correction(data, count) {
  const generator = new Uint8Array(count);
  generator[count - 1] = 1;
  for (let i = 0; i < count; i += 1) {
    for (let j = 0; j < count; j += 1) {
      generator[j] = times(generator[j], POWER[i]) ^ (j + 1 < count ? generator[j + 1] : 0);
    }
  }
  const rest = new Uint8Array(count);
  for (const byte of data) {
    const factor = byte ^ rest[0];
    rest.copyWithin(0, 1);
    rest[count - 1] = 0;
    for (let j = 0; j < count; j += 1) rest[j] ^= times(generator[j], factor);
  }
  return rest;
}

/**
 * All codewords of a text in the order in which they are drawn: data of the blocks in turns, then their correction.
 *
 * @param {Uint8Array} bytes
 * @param {number} version
 */
export function codewords(bytes, version) {
  const [capacity, blocks, count] = VERSIONS[version - 1];
  const data = new Uint8Array(capacity);
  // Mode 0100 (bytes), 8 bits of length, the bytes, 0000, then 0xEC and 0x11 in turns.
  data[0] = 0x40 | (bytes.length >> 4);
  data[1] = (bytes.length << 4) & 0xff;
  bytes.forEach((byte, i) => {
    data[i + 1] |= byte >> 4;
    data[i + 2] = (byte << 4) & 0xff;
  });
  for (let i = bytes.length + 2; i < capacity; i += 1) data[i] = (i - bytes.length) % 2 === 0 ? 0xec : 0x11;

  const size = capacity / blocks; // Whole for every version here: all blocks of level M are equally long up to version 6.
  const result = new Uint8Array(capacity + blocks * count);
  for (let block = 0; block < blocks; block += 1) {
    const part = data.subarray(block * size, (block + 1) * size);
    part.forEach((byte, i) => { result[i * blocks + block] = byte; });
    correction(part, count).forEach((byte, i) => { result[capacity + i * blocks + block] = byte; });
  }
  return result;
}
