// Packets of every format: the same that ffmpeg sees, from whole files, damaged ones, and files that are cut or changed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open } from '../../Sources/WebClient/Pages/deck/demux/open.js';
import { Refused } from '../../Sources/WebClient/Pages/deck/demux/window.js';
import { examine } from './examine.mjs';
import { beginnings, countedSource, joined, mutate, random, seedOfRun } from './mutations.mjs';
import { NAMES, decoded, run, tone } from './tones.mjs';

const SECONDS = 6.17;
const ROUNDS = Number(process.env.BACKLINE_ROUNDS ?? 600);

const bytesOf = (name) => new Uint8Array(readFileSync(tone(name)));
const opened = (bytes) => open(countedSource(bytes));
const md5 = (data) => createHash('md5').update(data).digest('hex');

/** All packets of a file. */
async function packets(bytes) {
  const found = [];
  for await (const packet of (await opened(bytes)).packets) found.push(packet);
  return found;
}

/** What a file is refused for. */
const refusal = (bytes) => packets(bytes).then(() => assert.fail('it was read'), (error) => {
  assert.ok(error instanceof Refused, error.stack);
  return error.message;
});

/** The packets that ffmpeg sees: bytes, hash, and when they begin and how long they are in seconds. */
function seen(name) {
  const { packets: all } = JSON.parse(String(run('ffprobe', [
    '-v', 'error', '-select_streams', 'a:0', '-show_packets', '-show_data_hash', 'md5', '-of', 'json', tone(name)])));
  return all.map((one) => ({ size: Number(one.size), hash: one.data_hash.slice(4), start: Number(one.pts_time), duration: Number(one.duration_time) }));
}

test('packets are those that ffmpeg sees, byte by byte, with their times', async () => {
  for (const name of NAMES.filter((one) => !/\.wav$|^layer2/.test(one))) {
    const mine = await packets(bytesOf(name)), theirs = seen(name);
    assert.deepEqual(mine.map(({ data }) => [data.length, md5(data)]), theirs.map(({ size, hash }) => [size, hash]), name);
    for (const [i, { timestampUs, durationUs }] of mine.entries()) {
      const start = theirs[i].start - theirs[0].start;
      assert.ok(Number.isSafeInteger(timestampUs) && timestampUs >= (mine[i - 1]?.timestampUs ?? 0), `${name}, packet ${i}`);
      // Vorbis tells of pages only when they begin.
      if (durationUs === undefined) assert.ok(timestampUs / 1e6 <= start + 0.05, `${name}, packet ${i}: ${timestampUs} µs is not before ${start} s`);
      else {
        assert.ok(Math.abs(timestampUs / 1e6 - start) < 0.001, `${name}, packet ${i}: ${timestampUs} µs is not ${start} s`);
        // The last one is cut in what ffmpeg tells of Ogg and MP4, and it does not tell all.
        if (i < mine.length - 1 && theirs[i].duration) assert.ok(Math.abs(durationUs / 1e6 - theirs[i].duration) < 0.001, `${name}, packet ${i}`);
      }
    }
  }
});

test('decoders are told what they need, and what of the samples is no music', async () => {
  const told = async (name) => (await opened(bytesOf(name)));
  const { config: mp3, trim } = await told('vbr.mp3');
  assert.deepEqual([mp3, trim.start], [{ codec: 'mp3', sampleRate: 44_100, numberOfChannels: 2 }, 576 + 529]);
  assert.equal((await packets(bytesOf('vbr.mp3'))).length * 1152 - trim.start - trim.end, Math.round(SECONDS * 44_100));
  assert.deepEqual((await told('mpeg25.mp3')).config, { codec: 'mp3', sampleRate: 8000, numberOfChannels: 1 });
  assert.equal((await told('plain.mp3')).trim, undefined);

  for (const name of ['music.m4a', 'front.m4a', 'old.mov']) {
    const { config: aac, trim: cut } = await told(name);
    assert.deepEqual([aac.codec, aac.sampleRate, aac.numberOfChannels], ['mp4a.40.2', 44_100, 2], name);
    // AAC-LC (2), 44.1 kHz (4), two channels.
    assert.deepEqual([...aac.description.subarray(0, 2)], [0x12, 0x10], name);
    assert.deepEqual(cut, { start: 1024, length: Math.round(SECONDS * 44_100) }, name);
  }
  assert.equal((await told('mp3.mp4')).config.codec, 'mp3');
  const alac = await told('alac.m4a');
  assert.deepEqual([alac.config.codec, alac.config.description.length], ['alac', 24]);

  const flac = await told('music.flac');
  assert.deepEqual([flac.config.codec, flac.config.numberOfChannels, flac.trim], ['flac', 2, undefined]);
  assert.deepEqual([String.fromCharCode(...flac.config.description.subarray(0, 4)), ...flac.config.description.subarray(4, 8), flac.config.description.length], ['fLaC', 0x80, 0, 0, 34, 42]);
  assert.deepEqual((await told('fine.flac')).config.sampleRate, 96_000);

  const vorbis = (await told('music.ogg')).config;
  const [count, first, second] = vorbis.description;
  assert.deepEqual([vorbis.codec, count, first, second], ['vorbis', 2, 30, 16]);
  assert.deepEqual([3, 3 + 30, 3 + 46].map((at) => String.fromCharCode(vorbis.description[at], ...vorbis.description.subarray(at + 1, at + 7))), ['\x01vorbis', '\x03vorbis', '\x05vorbis']);
  const opus = await told('music.opus');
  assert.deepEqual([opus.config.codec, opus.config.sampleRate, String.fromCharCode(...opus.config.description.subarray(0, 8))], ['opus', 48_000, 'OpusHead']);
  assert.deepEqual(opus.trim, { start: 312, length: Math.round(SECONDS * 48_000) });

  for (const name of NAMES.filter((one) => !/tiny|mulaw|adpcm|layer2|plain|pieces|mp3\.mp4|surround|silence|fine|aac/.test(one))) {
    assert.ok(Math.abs((await told(name)).durationMs - 1000 * SECONDS) < 2, name);
  }
});

test('samples of a WAV are those that ffmpeg reads', async () => {
  for (const name of NAMES.filter((one) => /\.wav$/.test(one) && !/adpcm|mulaw/.test(one))) {
    const { rate, channels } = decoded(tone(name));
    let at = 0;
    for (const { samples, rate: mine } of await packets(bytesOf(name))) {
      assert.deepEqual([mine, samples.length], [rate, channels.length], name);
      for (const [c, plane] of samples.entries()) {
        const wrong = plane.findIndex((x, i) => Math.abs(x - channels[c][at + i]) > 1e-7);
        assert.equal(wrong, -1, `${name}, channel ${c}, sample ${at + wrong}`);
      }
      at += samples[0].length;
    }
    assert.equal(at, channels[0].length, name);
  }
});

test('what cannot be read is refused with a word', async () => {
  assert.deepEqual(await Promise.all([
    refusal(bytesOf('layer2.mp3')), refusal(bytesOf('adpcm.wav')), refusal(new Uint8Array()), refusal(new Uint8Array(100_000)),
    refusal(new TextEncoder().encode('no music '.repeat(5000))), refusal(bytesOf('music.m4a').subarray(0, 100_000)),
  ]), ['format', 'codec', 'format', 'format', 'format', 'format']);
  // A source that cannot be read is no fault of the file.
  await assert.rejects(open({ size: 10, name: '', read: async () => { throw new TypeError('gone'); } }), /gone/);
});

test('what lies before, between and behind packets is passed over', async () => {
  const seed = seedOfRun(), next = random(seed);
  const noise = (length) => new Uint8Array(length).map(() => Math.floor(next() * 256));
  const id3 = (length) => joined(Uint8Array.of(0x49, 0x44, 0x33, 4, 0, 0, 0, 0, length >> 7, length & 127), new Uint8Array(length));
  const hashes = (all) => all.map(({ data }) => md5(data));
  const text = (value) => new TextEncoder().encode(value);
  for (const name of ['vbr.mp3', 'plain.mp3', 'music.flac', 'music.ogg', 'music.opus']) {
    const bytes = bytesOf(name), whole = await packets(bytes), expected = hashes(whole);
    const around = hashes(await packets(joined(id3(5000), id3(300), bytes, text('TAG'), new Uint8Array(125))));
    // The last frame of a FLAC ends with the file.
    assert.deepEqual(around.slice(0, -1), expected.slice(0, -1), `${name}, seed ${seed}`);

    const at = Math.floor(bytes.length / 2);
    const found = new Set(hashes(await packets(joined(bytes.subarray(0, at), noise(20_000), bytes.subarray(at)))));
    // One packet is cut in two, or a page of them is.
    const lost = expected.filter((hash) => !found.has(hash)).length;
    assert.ok(lost <= (name.startsWith('music.o') ? 200 : 3), `${name}, seed ${seed}: ${lost} packets of ${expected.length} are lost`);
  }
});

test('of two streams in one Ogg, the first one of music is taken', async () => {
  const pagesOf = (bytes) => {
    const pages = [];
    for (let at = 0; at < bytes.length;) {
      const end = at + 27 + bytes[at + 26] + bytes.subarray(at + 27, at + 27 + bytes[at + 26]).reduce((sum, one) => sum + one, 0);
      pages.push(bytes.subarray(at, end));
      at = end;
    }
    return pages;
  };
  const other = pagesOf(bytesOf('mono.opus')), music = pagesOf(bytesOf('music.ogg'));
  const strange = joined(music[0].subarray(0, 14), Uint8Array.of(1, 2, 3, 4), music[0].subarray(18, 28), new TextEncoder().encode('\x80theora'), new Uint8Array(music[0].length - 35));
  const both = joined(strange, music[0], other[0], ...music.slice(1).flatMap((page, i) => [page, ...(other[i + 1] ? [other[i + 1]] : [])]));
  const { config, packets: all } = await opened(both);
  const found = [];
  for await (const { data } of all) found.push(md5(data));
  assert.deepEqual([config.codec, found], ['vorbis', (await packets(bytesOf('music.ogg'))).map(({ data }) => md5(data))]);
});

/** A file of Ogg whose streams have another name, or whose positions begin later. */
function changed(bytes, { serial, later = 0 }) {
  const copy = bytes.slice(), view = new DataView(copy.buffer);
  for (let at = 0; at < copy.length;) {
    if (serial) view.setUint32(at + 14, serial, true);
    if (view.getBigInt64(at + 6, true) > 0n) view.setBigInt64(at + 6, view.getBigInt64(at + 6, true) + BigInt(later), true);
    at += 27 + copy[at + 26] + copy.subarray(at + 27, at + 27 + copy[at + 26]).reduce((sum, one) => sum + one, 0);
  }
  return copy;
}

test('what another decoder knows is left to it: streams behind each other, rows of AAC, WebM', async () => {
  const music = bytesOf('music.ogg'), chained = joined(music, changed(music, { serial: 77 }));
  await assert.rejects(packets(chained), { message: 'codec' });
  assert.equal(await refusal(joined(Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3), new Uint8Array(5000))), 'codec');
  assert.equal(await refusal(joined(Uint8Array.of(0xff, 0xf1, 0x50, 0x80), new Uint8Array(5000))), 'codec');
});

test('a stream that does not begin at 0, and a tag that claims to be longer than the file', async () => {
  const times = (all) => all.map(({ timestampUs }) => timestampUs), whole = times(await packets(bytesOf('music.ogg')));
  const later = times(await packets(changed(bytesOf('music.ogg'), { later: 44_100 * 3600 })));
  // The first page's length is not known.
  assert.ok(later.every((time, i) => time <= whole[i] && time >= whole[i] - 1_500_000), `${later.at(-1)} for ${whole.at(-1)}`);
  const beyond = joined(Uint8Array.of(0x49, 0x44, 0x33, 4, 0, 0, 0x7f, 0, 0, 0), new Uint8Array(300));
  const hashes = (all) => all.map(({ data }) => md5(data));
  assert.deepEqual(hashes(await packets(joined(beyond, bytesOf('vbr.mp3')))), hashes(await packets(bytesOf('vbr.mp3'))));
});

test('comments of any length are no packets of music', async () => {
  const path = tone('music.opus'), bytes = new Uint8Array(run('ffmpeg', ['-v', 'error', '-i', path, '-c', 'copy', '-metadata', `comment=${'x'.repeat(120_000)}`, '-f', 'opus', '-']));
  assert.ok(bytes.length > bytesOf('music.opus').length + 100_000, 'the comment is there');
  assert.deepEqual((await packets(bytes)).map(({ data }) => md5(data)), (await packets(bytesOf('music.opus'))).map(({ data }) => md5(data)));
});

test('files that end anywhere: no throw but a refusal, no hang, bounded reads', async () => {
  // How long the headers of each file are, with a packet or two.
  const headers = {
    'vbr.mp3': 1500, 'front.m4a': 4500, 'music.m4a': 100, 'pieces.mp4': 2500, 'old.mov': 100, 'music.flac': 600, 'music.ogg': 4600,
    'music.opus': 1000, 's24.wav': 200, 'rf64.wav': 200,
  };
  for (const [name, most] of Object.entries(headers)) {
    const bytes = bytesOf(name);
    for (const part of beginnings(bytes.subarray(0, 12_000), most, 20)) await examine(part, name);
    if (name !== 'music.m4a') continue;
    // What tells of the music stands at its end.
    const from = bytes.length - 3500;
    for (let cut = from; cut < bytes.length; cut += 1) await examine(bytes.subarray(0, cut), name);
  }
});

test('files that were changed anywhere: no throw but a refusal, no hang, bounded reads', async (t) => {
  const seed = seedOfRun();
  t.diagnostic(`BACKLINE_SEED=${seed}`);
  const names = ['vbr.mp3', 'mpeg25.mp3', 'front.m4a', 'pieces.mp4', 'old.mov', 'music.flac', 'music.ogg', 'mono.opus', 'u8.wav'];
  await mutate(names.map((name) => ({ name, bytes: bytesOf(name).slice(0, 60_000), headers: name === 'front.m4a' ? 6000 : 2048 })), { seed, rounds: ROUNDS }, examine);
});
