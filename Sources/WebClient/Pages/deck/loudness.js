// Integrated loudness by ITU-R BS.1770-4: K-weighting, blocks of 400 ms that overlap by 75 %, two gates.

/** Blocks below this do not count. */
const ABSOLUTE_GATE_LUFS = -70;
/** Blocks so far below the mean of those above the absolute gate do not count. */
const RELATIVE_GATE = 0.1;
/** What channels count for, in the order L R C LFE Ls Rs. Those beyond count as surround. */
const WEIGHTS = [1, 1, 1, 0, 1.41, 1.41];
/** Of layouts without a low-frequency channel: L R Ls Rs, and L R C Ls Rs. */
const WEIGHTS_WITHOUT_LFE = { 4: [1, 1, 1.41, 1.41], 5: [1, 1, 1, 1.41, 1.41] };

/** @typedef {[b0: number, b1: number, b2: number, a1: number, a2: number]} Biquad */

/**
 * The two filters of the K-weighting at a sample rate, by the bilinear transform of their analogue prototypes: a shelf
 * of +4 dB for the head, and a high pass.
 *
 * @param {number} rate
 * @returns {Biquad[]}
 */
function kWeighting(rate) {
  const warped = (/** @type {number} */ hz) => Math.tan(Math.PI * Math.min(hz / rate, 0.49));
  const k = warped(1681.974450955533), q = 0.7071752369554196, high = 10 ** (3.999843853973347 / 20), band = high ** 0.4996667741545416;
  const a = 1 + k / q + k * k;
  const l = warped(38.13547087602444), p = 0.5003270373238773, b = 1 + l / p + l * l;
  return [
    [(high + band * k / q + k * k) / a, 2 * (k * k - high) / a, (high - band * k / q + k * k) / a, 2 * (k * k - 1) / a, (1 - k / q + k * k) / a],
    [1, -2, 1, 2 * (l * l - 1) / b, (1 - l / p + l * l) / b],
  ];
}

/** Collects samples as they come. It keeps ten numbers for each second. */
export class Loudness {
  #shelf;
  #pass;
  #hop;
  #weights;
  /** @type {Float64Array[]} four numbers for each channel */
  #states;
  /** @type {number[]} mean squares of 100 ms each, weighted and summed over the channels */
  #steps = [];
  #sum = 0;
  #filled = 0;

  /**
   * @param {number} sampleRate  in Hz
   * @param {number} channels  how many
   */
  constructor(sampleRate, channels) {
    [this.#shelf, this.#pass] = kWeighting(sampleRate);
    this.#hop = Math.max(1, Math.round(sampleRate / 10));
    const known = /** @type {Record<number, number[]>} */ (WEIGHTS_WITHOUT_LFE)[channels] ?? WEIGHTS;
    this.#weights = Array.from({ length: channels }, (_, i) => known[i] ?? 1.41);
    this.#states = this.#weights.map(() => new Float64Array(4));
  }

  /**
   * Takes the next samples.
   *
   * @param {Float32Array[]} channels  of the same length, −1 to 1
   */
  add(channels) {
    const frames = channels[0]?.length ?? 0;
    for (let at = 0; at < frames;) {
      const to = Math.min(frames, at + this.#hop - this.#filled);
      for (let c = 0; c < Math.min(channels.length, this.#weights.length); c += 1) {
        if (this.#weights[c] > 0) this.#sum += this.#weights[c] * this.#filter(channels[c], at, to, this.#states[c]);
      }
      this.#filled += to - at;
      at = to;
      if (this.#filled < this.#hop) continue;
      this.#steps.push(this.#sum / this.#hop || 0);
      // Samples that are no numbers spoil a step and no more.
      if (!(this.#sum < Infinity)) {
        this.#steps[this.#steps.length - 1] = 0;
        for (const state of this.#states) state.fill(0);
      }
      this.#sum = this.#filled = 0;
    }
  }

  /**
   * Filters samples of a channel.
   *
   * @param {Float32Array} samples
   * @param {number} from
   * @param {number} to
   * @param {Float64Array} state
   * @returns {number} the sum of their squares
   */
  #filter(samples, from, to, state) {
    const [b0, b1, b2, a1, a2] = this.#shelf, [, , , c1, c2] = this.#pass;
    let [s1, s2, t1, t2] = state, sum = 0;
    for (let i = from; i < to; i += 1) {
      const x = samples[i], y = b0 * x + s1, z = y + t1;
      s1 = b1 * x - a1 * y + s2;
      s2 = b2 * x - a2 * y;
      t1 = t2 - 2 * y - c1 * z;
      t2 = y - c2 * z;
      sum += z * z;
    }
    // What fades out never becomes so small that processors slow down.
    state[0] = Math.abs(s1) < 1e-30 ? 0 : s1;
    state[1] = Math.abs(s2) < 1e-30 ? 0 : s2;
    state[2] = Math.abs(t1) < 1e-30 ? 0 : t1;
    state[3] = Math.abs(t2) < 1e-30 ? 0 : t2;
    return sum;
  }

  /**
   * The integrated loudness.
   *
   * @returns {number | null} in LUFS, rounded to 0.01; null for silence, and for less than 400 ms
   */
  finish() {
    const steps = this.#steps, blocks = [];
    for (let i = 3; i < steps.length; i += 1) blocks.push((steps[i] + steps[i - 1] + steps[i - 2] + steps[i - 3]) / 4);
    const least = 10 ** ((ABSOLUTE_GATE_LUFS + 0.691) / 10);
    const mean = meanAbove(blocks, Math.max(least, RELATIVE_GATE * meanAbove(blocks, least)));
    return mean > 0 ? Math.round(100 * (10 * Math.log10(mean) - 0.691)) / 100 : null;
  }
}

/**
 * The mean of the blocks above a gate, 0 where there is none.
 *
 * @param {number[]} blocks
 * @param {number} gate
 */
function meanAbove(blocks, gate) {
  let sum = 0, count = 0;
  for (const block of blocks) {
    if (block > gate) {
      sum += block;
      count += 1;
    }
  }
  return count > 0 ? sum / count : 0;
}
