// Loudness: the cases of EBU Tech 3341, and what ffmpeg measures.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Loudness } from '../../Sources/WebClient/Pages/deck/loudness.js';
import { random, seedOfRun } from './mutations.mjs';
import { decoded, made } from './tones.mjs';

/** The loudness of samples, which come in pieces of a size. */
function loudness(rate, channels, piece = 4096) {
  const meter = new Loudness(rate, channels.length);
  for (let at = 0; at < channels[0].length; at += piece) meter.add(channels.map((one) => one.subarray(at, at + piece)));
  return meter.finish();
}

/** Sines of 1 kHz one after the other, in dBFS and seconds, the same in all channels. */
function sines(rate, count, ...parts) {
  const length = Math.round(rate * parts.reduce((sum, [, seconds]) => sum + seconds, 0));
  const samples = new Float32Array(length);
  let at = 0;
  for (const [level, seconds] of parts) {
    const end = Math.min(length, at + Math.round(rate * seconds));
    for (; at < end; at += 1) samples[at] = 10 ** (level / 20) * Math.sin((2 * Math.PI * 1000 * at) / rate);
  }
  return Array.from({ length: count }, () => samples);
}

test('EBU Tech 3341, cases 1 to 6: within 0.1 LU', () => {
  const cases = [
    [[-23, 20]], [[-33, 20]], [[-36, 10], [-23, 60], [-36, 10]], [[-72, 10], [-36, 10], [-23, 60], [-36, 10], [-72, 10]],
    [[-26, 20], [-20, 20.1], [-26, 20]],
  ];
  const expected = [-23, -33, -23, -23, -23];
  for (const rate of [48_000, 44_100]) {
    for (const [i, parts] of cases.entries()) {
      const found = loudness(rate, sines(rate, 2, ...parts));
      assert.ok(Math.abs(found - expected[i]) <= 0.1, `case ${i + 1} at ${rate} Hz: ${found}`);
    }
  }
  const [left, center, side] = [-28, -24, -30].map((level) => sines(48_000, 1, [level, 20])[0]);
  assert.ok(Math.abs(loudness(48_000, [left, left, center, side, side]) + 23) <= 0.1, 'case 6');
  // With a low-frequency channel, which does not count, however loud.
  assert.ok(Math.abs(loudness(48_000, [left, left, center, sines(48_000, 1, [0, 20])[0], side, side]) + 23) <= 0.1, 'case 6 of 5.1');
});

test('the same as ffmpeg measures, within 0.2 LU, at every rate and for one, two and six channels', () => {
  const source = (input, ...more) => ['-f', 'lavfi', '-i', input, ...more, '-c:a', 'pcm_f32le'];
  const pink = (rate, seconds = 6) => `anoisesrc=color=pink:seed=7:r=${rate}:d=${seconds}:a=0.4`;
  const mix = (rate, count) => `aevalsrc=${Array.from({ length: count }, (_, c) => `0.3*sin(2*PI*${110 * (c + 1)}*t)*(0.5+0.5*sin(${c + 1}*t))+0.2*sin(2*PI*60*t)*exp(-5*mod(t\\,0.5))+0.1*(random(${c})*2-1)*sin(0.7*t)`).join('|')}:s=${rate}:d=6${count === 6 ? ':c=5.1' : ''}`;
  const signals = {
    'sine-23.wav': source('sine=f=1000:r=48000:d=5', '-af', 'volume=-4.94dB', '-ac', '2'),
    'sine-8.wav': source('aevalsrc=0.398*sin(2*PI*997*t)|0.398*sin(2*PI*997*t):s=44100:d=5'),
    'gated.wav': source('aevalsrc=0.2*sin(2*PI*440*t)*lt(mod(t\\,4)\\,2)|0.1*sin(2*PI*880*t)*lt(mod(t\\,4)\\,2):s=44100:d=16'),
    'quiet-loud.wav': source('aevalsrc=0.5*sin(2*PI*300*t)*(0.05+0.95*gt(t\\,6)):s=48000:d=12'),
    'bass.wav': source('aevalsrc=0.7*sin(2*PI*40*t)|0.7*sin(2*PI*40*t):s=48000:d=5'),
    'treble.wav': source('aevalsrc=0.3*sin(2*PI*9000*t)|0.3*sin(2*PI*9000*t):s=44100:d=5'),
  };
  for (const rate of [44_100, 22_050]) signals[`pink-${rate}.wav`] = source(pink(rate), '-ac', '2');
  for (const rate of [48_000, 8000]) signals[`pink-mono-${rate}.wav`] = source(pink(rate));
  for (const rate of [44_100, 96_000]) signals[`mix-${rate}.wav`] = source(mix(rate, 2));
  signals['mix-5.1.wav'] = source(mix(48_000, 6));
  const rows = [];
  for (const [name, options] of Object.entries(signals)) {
    const { rate, channels, lufs: theirs } = decoded(made(name, ...options)), mine = loudness(rate, channels, 1152);
    rows.push(`${name}: ${mine}, ffmpeg ${theirs}`);
    assert.ok(Math.abs(mine - theirs) <= 0.2, rows.join('\n'));
  }
});

test('silence, and less than a block, has no loudness', () => {
  assert.equal(loudness(48_000, [new Float32Array(480_000)]), null);
  assert.equal(loudness(48_000, sines(48_000, 2, [-75, 5])), null);
  assert.equal(loudness(48_000, sines(48_000, 2, [-20, 0.39])), null);
  assert.equal(new Loudness(48_000, 2).finish(), null);
});

test('pieces of any size give the same', () => {
  const seed = seedOfRun(), next = random(seed);
  const channels = [0, 1].map(() => new Float32Array(100_000).map(() => next() - 0.5));
  const whole = loudness(44_100, channels, 100_000);
  for (const piece of [1, 7, 441, 4410, 5000]) assert.equal(loudness(44_100, channels, piece), whole, `seed ${seed}, pieces of ${piece}`);
});

test('samples that are no numbers spoil 100 ms and no more', () => {
  const channels = sines(48_000, 2, [-23, 20]).map((one) => one.slice());
  channels[0][100_000] = NaN;
  channels[1][300_000] = Infinity;
  assert.ok(Math.abs(loudness(48_000, channels) + 23) <= 0.2);
});
