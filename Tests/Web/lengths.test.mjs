// How long files are where what their headers claim is not so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTags } from '../../Sources/WebClient/Pages/deck/tags/read.js';
import { beginnings, countedSource, inTime, joined, mutate, seedOfRun } from './mutations.mjs';
import { LENGTH, big, box, checkTags, chunk, file, latin, little, page, utf8, wave } from './tagged-files.mjs';

const ROUNDS = Number(process.env.BACKLINE_ROUNDS ?? 1500);

const lengthOf = async (bytes) => (await inTime(readTags(countedSource(bytes), { picture: false }), 5000)).durationMs;

/** Fails unless a file lasts as long, ± 3 % and 100 ms. */
async function lasts(what, bytes, ms) {
  const told = await lengthOf(bytes);
  assert.ok(Math.abs((told ?? 0) - ms) <= 0.03 * ms + 100, `${what}: ${told} ms is not ${ms}`);
}

/** Where a name stands in bytes. */
const find = (bytes, name) => bytes.findIndex((_, i) => latin(name).every((one, j) => bytes[i + j] === one));

/** A frame of MPEG-1 layer III at 44.1 kHz without music. */
function frames(kbits, count) {
  const index = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320].indexOf(kbits), length = Math.floor((144_000 * kbits) / 44_100);
  const one = new Uint8Array(length);
  one.set([0xff, 0xfb, index << 4, 0xc4]);
  return joined(...Array(count).fill(one));
}
const FRAME_MS = 1152 / 44.1;

/** Sets a field of the Xing header of a file: 8 for its frames, 12 for its bytes. */
function xing(bytes, at, value) {
  const copy = bytes.slice();
  copy.set(big(value, 4), Math.max(find(copy, 'Xing'), find(copy, 'Info')) + at);
  return copy;
}

/** A file of Ogg whose positions begin later. */
function shifted(bytes, by) {
  const copy = bytes.slice();
  for (let at = 0; at < copy.length;) {
    const laces = copy[at + 26], granule = Number(new DataView(copy.buffer).getBigInt64(at + 6, true));
    if (granule > 0) copy.set(little(granule + by, 8), at + 6);
    at += 27 + laces + copy.subarray(at + 27, at + 27 + laces).reduce((sum, one) => sum + one, 0);
  }
  return copy;
}

/** An AAC as a row of frames: each of 1024 samples at 44.1 kHz, of many lengths. */
function adts(count) {
  return joined(...Array.from({ length: count }, (_, i) => {
    const length = 20 + ((i * 37) % 500), one = new Uint8Array(length);
    one.set([0xff, 0xf1, 0x50, 0x80 | (length >> 11), (length >> 3) & 255, ((length & 7) << 5) | 0x1f, 0xfc]);
    return one;
  }));
}

/** An element of WebM. */
function element(id, body) {
  const name = [];
  for (let rest = id; rest > 0; rest = Math.floor(rest / 256)) name.unshift(rest % 256);
  return joined(name, [0x01], big(body.length, 7), body);
}

/** A WebM of Opus; `ms` absent: nobody knows how long. */
function webm(ms, clusters = new Uint8Array(500)) {
  const duration = new Uint8Array(8);
  if (ms) new DataView(duration.buffer).setFloat64(0, ms);
  const info = element(0x1549a966, joined(element(0x2ad7b1, big(1_000_000, 3)), ms ? element(0x4489, duration) : new Uint8Array()));
  const tracks = element(0x1654ae6b, element(0xae, joined(element(0x83, [2]), element(0x86, latin('A_OPUS')))));
  const tag = (name, text) => element(0x67c8, joined(element(0x45a3, latin(name)), element(0x4487, utf8(text))));
  const tags = element(0x1254c367, element(0x7373, joined(tag('TITLE', 'Röck'), tag('ARTIST', 'Me'))));
  return joined(element(0x1a45dfa3, element(0x4282, latin('webm'))), element(0x18538067, joined(info, tracks, tags, element(0x1f43b675, clusters))));
}

/** A WAV of ADPCM of four seconds, whose rate of bytes is wrong as ffmpeg writes it. */
function adpcm(samples, audio = 178_176) {
  const format = joined(little(0x11, 2), little(2, 2), little(44_100, 4), little(16_000, 4), little(1024, 2), little(4, 2), little(2, 2), little(1017, 2));
  const body = joined(latin('WAVE'), chunk('fmt ', format), chunk('fact', little(samples, 4)), chunk('data', new Uint8Array(audio)));
  return joined(latin('RIFF'), little(body.length, 4), body);
}

test('MP3: a header that the bytes contradict does not count', async () => {
  const one = file('xing.mp3');
  await lasts('as it is', one, LENGTH);
  await lasts('joined', joined(one, one, one), 3 * LENGTH);
  await lasts('joined with tags between', joined(one, joined(latin('TAG'), new Uint8Array(125)), file('latin.mp3')), 2 * LENGTH);
  await lasts('a header that says too few frames', xing(one, 8, 19), LENGTH);
  await lasts('one that says too many', xing(one, 8, 1150), LENGTH);
  await lasts('one that says none', xing(one, 8, 0), LENGTH);
});

test('MP3 without a header: by its frames, not by the first of them', async () => {
  const quiet = frames(32, 380), loud = frames(256, 760);
  await lasts('quiet at first', joined(quiet, loud), 1140 * FRAME_MS);
  await lasts('quiet at last', joined(loud, quiet), 1140 * FRAME_MS);
  await lasts('quiet in the middle', joined(loud, quiet, loud), 1900 * FRAME_MS);
  await lasts('one rate', frames(128, 800), 800 * FRAME_MS);
  await lasts('damaged in the middle', joined(frames(128, 400), new Uint8Array(20_000).fill(0x55), frames(160, 400)), 800 * FRAME_MS);
  // One that is too large to be read is not known: better than wrong.
  const large = joined(frames(32, 40_000), frames(320, 13_000)), source = countedSource(large);
  assert.equal((await readTags(source, { picture: false })).durationMs, undefined);
  assert.ok(source.bytesRead < 1 << 20, `${source.bytesRead}`);
});

test('MP3: what stands behind the music is no music', async () => {
  const music = frames(128, 230), item = (name, flags, value) => joined(little(value.length, 4), little(flags, 4), latin(name), [0], value);
  const items = joined(item('Title', 0, utf8('Only ☂')), item('Cover Art (Front)', 2, joined(latin('cover.jpg\0'), file('cover.jpg'), new Uint8Array(400_000))), item('ARTIST', 0, utf8('Ä\0B')));
  const foot = (flags) => joined(latin('APETAGEX'), little(2000, 4), little(items.length + 32, 4), little(3, 4), little(flags, 4), new Uint8Array(8));
  const old = joined(latin('TAG'), latin('Old'.padEnd(30, '\0')), new Uint8Array(95));
  for (const [what, bytes] of [
    ['a tag without a header', joined(music, items, foot(0))],
    ['one with a header', joined(music, foot(0xa0000000), items, foot(0x80000000))],
    ['one before ID3v1', joined(music, items, foot(0), old)],
  ]) {
    await lasts(what, bytes, 230 * FRAME_MS);
    const { title, artist, picture } = await readTags(countedSource(bytes));
    assert.deepEqual({ title, artist, type: picture?.type }, { title: 'Only ☂', artist: 'Ä, B', type: 'image/jpeg' }, what);
  }
  for (const bytes of beginnings(joined(items.subarray(0, 200), foot(0)), 300)) checkTags(await readTags(countedSource(joined(music, bytes, foot(0)))), 1e9);
});

test('AAC as a row of frames', async () => {
  const bytes = adts(300);
  assert.equal((await readTags(countedSource(bytes, 'a.aac'))).format, 'aac');
  await lasts('all of it', bytes, (300 * 1024) / 44.1);
  for (const part of beginnings(bytes, 3000, 8)) checkTags(await inTime(readTags(countedSource(part)), 5000), part.length);
});

test('Ogg: a stream that does not begin at 0, and FLAC in Ogg', async () => {
  for (const name of ['tagged.ogg', 'tagged.opus']) {
    await lasts(name, file(name), LENGTH);
    await lasts(`${name} out of a stream`, shifted(file(name), 44_100 * 3600 * 5), LENGTH);
  }
  // A page of many short packets of silence is no stream that began before.
  const head = joined(latin('\x01vorbis'), little(0, 4), [2], little(44_100, 4), new Uint8Array(12), [0xb8, 1]);
  const silent = joined(page(1, 0, 0, [head], { flags: 2 }), page(1, 1, 0, [new Uint8Array(40), new Uint8Array(40)]),
    page(1, 2, 200 * 1024, Array(200).fill(new Uint8Array(1))), page(1, 3, 201 * 1024, Array(8).fill(new Uint8Array(40)), { flags: 4 }));
  await lasts('silence', silent, (201 * 1024) / 44.1);
  const info = joined(latin('fLaC'), [0], big(34, 3), big(4096, 2), big(4096, 2), new Uint8Array(6), big(44_100 * 16 + 2, 3), [0xf0], big(0, 4), new Uint8Array(16));
  const comment = joined([0x84], big(30, 3), little(4, 4), latin('test'), little(1, 4), little(9, 4), latin('TITLE=In '), [0]);
  const flac = joined(page(3, 0, 0, [joined(latin('\x7fFLAC'), [1, 0], big(1, 2), info)], { flags: 2 }), page(3, 1, 0, [comment]),
    page(3, 2, 44_100, [new Uint8Array(200)]), page(3, 3, 88_200, [new Uint8Array(200)], { flags: 4 }));
  await lasts('FLAC in Ogg', flac, 2000);
  const { format, title } = await readTags(countedSource(flac));
  assert.deepEqual([format, title], ['oggflac', 'In']);
  for (const part of beginnings(flac)) checkTags(await readTags(countedSource(part)), part.length);
});

test('FLAC: by its last frame, whatever its header says', async () => {
  const bytes = file('plain.flac');
  await lasts('as it is', bytes, LENGTH);
  const cut = bytes.subarray(0, Math.floor(bytes.length * 0.6)), told = await lengthOf(cut);
  assert.ok(told > LENGTH * 0.4 && told < LENGTH * 0.8, `cut: ${told}`);
  const unknown = bytes.slice(), lying = bytes.slice();
  unknown[21] &= 0xf0;
  unknown.fill(0, 22, 26);
  await lasts('a header that does not know', unknown, LENGTH);
  lying.set(big(44_100 * 3000, 4), 22);
  await lasts('a header that lies', lying, LENGTH);
});

test('MP4: what was cut is as long as what is left of it', async () => {
  const bytes = file('early.m4a'), at = find(bytes, 'mdat') + 4;
  await lasts('cut', bytes.subarray(0, at + Math.floor((bytes.length - at) / 2)), LENGTH / 2);
});

test('WAV: compressed samples are counted, or not known', async () => {
  await lasts('ADPCM', adpcm(176_958), 4013);
  for (const wrong of [0, 1, 2 ** 31]) assert.equal(await lengthOf(adpcm(wrong)), undefined, `${wrong}`);
  const mulaw = wave([], new Uint8Array(8000)).slice();
  mulaw.set(little(7, 2), find(mulaw, 'fmt ') + 8);
  await lasts('µ-law', mulaw, 1000);
  const { format } = await readTags(countedSource(adpcm(176_958)));
  assert.equal(format, 'wav');
});

test('WebM: its length and its tags, as far as they are known', async () => {
  const { format, durationMs, title, artist } = await readTags(countedSource(webm(4008)));
  assert.deepEqual({ format, durationMs, title, artist }, { format: 'webm', durationMs: 4008, title: 'Röck', artist: 'Me' });
  assert.equal(await lengthOf(webm(0)), undefined);
  assert.equal(await lengthOf(webm(4008).subarray(0, webm(4008).length - 200)), undefined);
  assert.equal((await readTags(countedSource(element(0x1a45dfa3, latin('x'))))).format, null);
  for (const part of beginnings(webm(4008))) checkTags(await readTags(countedSource(part)), part.length);
});

test('files that are changed at random: no fault, no hang', { timeout: 600_000 }, async (t) => {
  const seed = seedOfRun();
  t.diagnostic(`BACKLINE_SEED=${seed}`);
  const one = file('xing.mp3');
  const files = [joined(one, one), joined(frames(32, 100), frames(256, 100)), adts(200), shifted(file('tagged.ogg'), 1e8), file('plain.flac').subarray(0, 60_000),
    webm(4008), adpcm(176_958, 4000), joined(box('ftyp', [latin('M4A ')]), file('early.m4a').subarray(0, 4000))];
  await mutate(files.map((bytes, i) => ({ name: `file ${i}`, bytes })), { seed, rounds: ROUNDS }, async (bytes) => checkTags(await readTags(countedSource(bytes)), bytes.length));
});
