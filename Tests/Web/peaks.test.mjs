// Waveforms: the columns as the protocol has them, for any length, in bounded memory.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Peaks } from '../../Sources/WebClient/Pages/deck/peaks.js';
import { random, seedOfRun } from './mutations.mjs';
import { columns, decoded, difference, tone } from './tones.mjs';

/** The waveform of samples, which come in pieces. */
function waveform(channels, piece = 1152, frames) {
  const peaks = new Peaks();
  for (let at = 0; at < channels[0].length; at += piece) peaks.add(channels.map((one) => one.subarray(at, at + piece)));
  return peaks.finish(frames);
}

test('the columns are those of the protocol', () => {
  for (const name of ['music.wav', 'mono.wav', 'surround.wav']) {
    const { channels } = decoded(tone(name));
    assert.ok(difference(waveform(channels), columns(channels)) <= 1, name);
  }
});

test('any number of samples: fewer than columns, one more, none', () => {
  const seed = seedOfRun(), next = random(seed);
  for (const length of [1, 2, 3, 511, 1023, 1024, 1025, 1500, 2047, 2048, 5000, 44_101]) {
    const channels = [0, 1].map(() => new Float32Array(length).map(() => 2 * next() - 1));
    assert.ok(difference(waveform(channels, 100), columns(channels)) <= 1, `seed ${seed}, ${length} samples`);
  }
  assert.deepEqual(new Peaks().finish(), new Uint8Array(2048));
  const halves = [new Float32Array(10_000).map((_, i) => (i < 5000 ? 0.25 : 0.5))];
  assert.deepEqual(waveform(halves, 1000, 5000), new Uint8Array(2048).fill(64));
});

test('loud samples, silence, and what is no number', () => {
  assert.deepEqual(waveform([new Float32Array(5000)]), new Uint8Array(2048));
  assert.deepEqual(waveform([new Float32Array(5000).fill(-3)]), new Uint8Array(2048).fill(255));
  assert.equal(waveform([new Float32Array(5000).fill(NaN)]).length, 2048);
  // A peak of one channel is the column's; RMS is of all.
  const [peak, rms] = [0, 1024].map((at) => waveform([new Float32Array(5000).fill(1), new Float32Array(5000)])[at]);
  assert.deepEqual([peak, rms], [255, Math.round(255 * Math.SQRT1_2)]);
});

test('a long song: a change of level is seen within 10 ms of its place', () => {
  // Six hours at 8 kHz need as many bins as one hour at 48 kHz.
  const rate = 8000, seconds = 6 * 3600, peaks = new Peaks(), piece = new Float32Array(rate * 30);
  const n = rate * seconds, column = (i) => Math.floor((i * n) / 1024);
  // Column 300 is loud, with one sample at each of its ends.
  const [from, to] = [column(300), column(301)], error = rate / 100;
  for (let at = 0; at < n; at += piece.length) {
    piece.fill(0);
    for (const [place, value] of [[from + error, 1], [to - error - 1, 0.5]]) if (place >= at && place < at + piece.length) piece[place - at] = value;
    peaks.add([piece]);
  }
  const found = peaks.finish();
  assert.deepEqual([found[299], found[300], found[301]], [0, 255, 0]);
  assert.equal(found.filter((x, i) => i < 1024 && x > 0).length, 1);
});
