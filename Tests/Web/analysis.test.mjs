// The page's analysis with its worker: which of the browser's two decoders looks at a song, and what is remembered of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analysis } from '../../Sources/WebClient/Pages/deck/analysis.js';
import { decoderThatGives } from './fake-media.mjs';
import { file } from './tagged-files.mjs';

const WORKER = '../../Sources/WebClient/Pages/deck/analysis-worker.js';
let workers = 0;

/** The page's worker, in this process; it is loaded by then. */
async function loadWorker() {
  const worker = { postMessage: (data) => inside.onmessage({ data }), terminate: () => { inside.postMessage = () => {}; } };
  const inside = globalThis.self = { postMessage: (data) => worker.onmessage?.({ data }) };
  await import(`${WORKER}?${workers += 1}`);
  return worker;
}

/**
 * A page that looks at `songs`, all the same MP3. `gives` says what its `AudioDecoder` does; `isDeaf`: its other decoder
 * reads nothing either.
 */
function looking(t, { gives, isDeaf = false, songs = [{}], length = 30_000 }) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const asked = [], whole = [], remembered = [], done = [];
  Object.assign(globalThis, {
    EncodedAudioChunk: class {},
    AudioDecoder: decoderThatGives(gives, () => asked.push(Date.now())),
    OfflineAudioContext: class {
      decodeAudioData = async () => {
        whole.push(Date.now());
        if (isDeaf) throw new DOMException('', 'EncodingError');
        return { length, sampleRate: 22_050, numberOfChannels: 1, copyFromChannel: (into) => into.fill(0.25) };
      };
    },
  });
  const known = new Map(songs.map((song, i) => [`${i}`, { sourceId: `${i}`, title: 'A', size: 1, ...song }]));
  const library = {
    songs: known, file: async () => new File([file('cbr.mp3')], 'a.mp3'),
    remember: (id, found) => {
      remembered.push(id);
      Object.assign(known.get(id), found);
    },
  };
  /** Looks at all, until nothing is left. */
  const look = async (analysis) => {
    analysis.want([...known.keys()]);
    for (let i = 0; analysis.state.waiting > 0; i += 1) {
      assert.ok(i < 20_000, 'it comes to an end');
      // Reading a file takes some turns of this process, and is to take no time.
      t.mock.timers.tick(1);
      await new Promise(setImmediate);
    }
  };
  const visit = async () => {
    const worker = await loadWorker();
    globalThis.Worker = function Worker() { return worker; };
    return new Analysis({ library, scriptURL: String, done: ({ sourceId }) => done.push(sourceId) });
  };
  return { asked, whole, remembered, done, known, look, visit };
}

test('a song is measured by the decoder of packets where that gives samples', async (t) => {
  const { whole, remembered, known, look, visit } = looking(t, { gives: 'tone' });
  await look(await visit());
  const { waveform, lufs } = known.get('0');
  assert.deepEqual([waveform.length, Math.round(lufs), remembered, whole], [2048, -6, ['0'], []]);
});

test('where a decoder takes all packets and gives nothing, the other one measures the song', async (t) => {
  const { asked, whole, known, look, visit } = looking(t, { gives: 'nothing' });
  await look(await visit());
  const { waveform, lufs } = known.get('0');
  assert.deepEqual([asked.length, whole.length, waveform?.length, typeof lufs], [1, 1, 2048, 'number']);
});

test('a decoder that says nothing is given up after three seconds', async (t) => {
  const { asked, whole, known, look, visit } = looking(t, { gives: 'no word' });
  await look(await visit());
  assert.equal(known.get('0').waveform?.length, 2048);
  const took = whole[0] - asked[0];
  assert.ok(took >= 3000 && took < 3500, `after ${took} ms`);
});

for (const [device, isTouched, most] of [['a laptop', false, 15], ['a phone', true, 7]]) {
  test(`${device} decodes songs of up to ${most} minutes whole, where packets give nothing`, async (t) => {
    t.after(() => { delete globalThis.matchMedia; });
    globalThis.matchMedia = (asked) => ({ matches: asked === '(pointer: coarse)' && isTouched });
    const { known, look, visit } = looking(t, { gives: 'nothing', songs: [{ durationMs: most * 60_000 }, { durationMs: (most + 1) * 60_000 }] });
    await look(await visit());
    assert.deepEqual([...known.values()].map(({ waveform }) => waveform?.length), [2048, undefined]);
  });
}

test('what was decoded whole is handed on piece by piece, each once the one before is taken', async (t) => {
  const { known, look, visit } = looking(t, { gives: 'nothing', length: 1_000_000 });
  const analysis = await visit(), worker = new globalThis.Worker(), { postMessage } = worker;
  let untaken = 0, most = 0, pieces = 0;
  worker.postMessage = async (question) => {
    if (!question.samples) return postMessage(question);
    pieces += 1;
    most = Math.max(most, untaken += 1);
    await new Promise(setImmediate);
    untaken -= 1;
    return postMessage(question);
  };
  await look(analysis);
  assert.deepEqual([known.get('0').waveform?.length, pieces, most], [2048, 4, 1]);
});

for (const gives of ['nothing', 'no word']) {
  test(`a decoder that gives ${gives} is asked for one song, and not for the next ones`, async (t) => {
    const { asked, whole, known, look, visit } = looking(t, { gives, songs: [{}, {}, {}] });
    await look(await visit());
    assert.deepEqual([asked.length, whole.length, [...known.values()].every(({ waveform }) => waveform)], [1, 3, true]);
  });
}

test('what no decoder reads is told once and not remembered: the next visit looks at it again', async (t) => {
  const { whole, remembered, done, known, look, visit } = looking(t, { gives: 'nothing', isDeaf: true });
  const first = await visit();
  await look(first);
  await look(first);
  assert.deepEqual([whole.length, remembered, done, known.get('0').lufs], [1, [], ['0'], undefined]);
  await look(await visit());
  assert.equal(whole.length, 2);
});

test('a song is looked at that a release before could not measure', async (t) => {
  const { remembered, look, visit } = looking(t, { gives: 'tone', songs: [{ lufs: null }, { lufs: null, waveform: new Uint8Array(2048) }] });
  await look(await visit());
  assert.deepEqual(remembered, ['0'], 'the other one is silence');
});
