// A song's waveform: 1,024 columns of peaks and of RMS values, in bounded memory, whatever the song's length.

const COLUMNS = 1024;
/** Bins that hold samples until the length is known. Half as wide as a column's error of 10 ms for six hours at 48 kHz. */
const BINS = 1 << 21;

/** Collects samples as they come. */
export class Peaks {
  #peaks = new Float32Array(BINS);
  /** Sums of squares, the mean of all channels. */
  #sums = new Float32Array(BINS);
  /** Samples of a bin: a power of two. */
  #width = 1;
  #frames = 0;

  /**
   * Takes the next samples.
   *
   * @param {Float32Array[]} channels  of the same length, −1 to 1
   */
  add(channels) {
    const frames = channels[0]?.length ?? 0;
    for (let at = 0; at < frames;) {
      const bin = Math.floor(this.#frames / this.#width);
      if (bin >= BINS) {
        this.#widen();
        continue;
      }
      const to = Math.min(frames, at + (bin + 1) * this.#width - this.#frames);
      let peak = this.#peaks[bin], sum = 0;
      for (const channel of channels) {
        for (let i = at; i < to; i += 1) {
          const x = channel[i];
          sum += x * x;
          if (x > peak) peak = x;
          else if (-x > peak) peak = -x;
        }
      }
      this.#peaks[bin] = peak;
      this.#sums[bin] += sum / channels.length;
      this.#frames += to - at;
      at = to;
    }
  }

  /** Makes bins twice as wide. */
  #widen() {
    for (let i = 0; i < BINS / 2; i += 1) {
      this.#peaks[i] = Math.max(this.#peaks[2 * i], this.#peaks[2 * i + 1]);
      this.#sums[i] = this.#sums[2 * i] + this.#sums[2 * i + 1];
    }
    this.#peaks.fill(0, BINS / 2);
    this.#sums.fill(0, BINS / 2);
    this.#width *= 2;
  }

  /**
   * The waveform, as the protocol has it: 1,024 peaks, then 1,024 RMS values, round(255·x).
   *
   * @param {number} [frames]  only of the first samples
   * @returns {Uint8Array} 2,048 bytes
   */
  finish(frames = this.#frames) {
    const n = Math.min(frames, this.#frames), width = this.#width, result = new Uint8Array(2 * COLUMNS);
    for (let i = 0; i < COLUMNS && n > 0; i += 1) {
      // A column shorter than a bin has one bin: very short files have fewer samples than columns.
      const from = Math.min(Math.round(Math.floor(i * n / COLUMNS) / width), Math.ceil(n / width) - 1);
      const to = Math.max(from + 1, Math.round(Math.floor((i + 1) * n / COLUMNS) / width));
      let peak = 0, sum = 0;
      for (let bin = from; bin < to; bin += 1) {
        peak = Math.max(peak, this.#peaks[bin]);
        sum += this.#sums[bin];
      }
      const count = Math.min(to * width, this.#frames) - from * width;
      result[i] = Math.min(255, Math.round(255 * peak));
      result[COLUMNS + i] = Math.min(255, Math.round(255 * Math.sqrt(sum / count)));
    }
    return result;
  }
}
