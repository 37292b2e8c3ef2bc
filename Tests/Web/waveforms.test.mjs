// What is sent of the songs here: each waveform once, at a pace that leaves the deck its share, and again after a refusal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Waveforms } from '../../Sources/WebClient/Pages/deck/waveforms.js';
import { Refusal } from '../../Sources/WebClient/Pages/store/store.js';

const SONG = { sourceId: 's', lufs: -14, waveform: new Uint8Array(2048) };

/** A room whose tracks all have a song here; `answers` are the refusals of the first commands. */
function sending(t, { tracks = 3, answers = [] } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const sent = [], looked = [];
  const pool = Array.from({ length: tracks }, (_, place) => ({ track: place + 1 }));
  const store = {
    link: { state: 'live' },
    room: { isDJ: true, pool, queue: [], requests: [] },
    async send({ track }) {
      sent.push([track, Date.now()]);
      const code = answers.shift();
      if (code) throw new Refusal(...code);
      pool[track - 1].waveform = 1;
    },
  };
  const analysis = { want: (songs) => looked.push(songs) };
  const waveforms = new Waveforms(store, analysis, {}, () => SONG);
  const pass = async (ms) => {
    for (let left = ms; left > 0; left -= 50) {
      t.mock.timers.tick(50);
      for (let i = 0; i < 4; i++) await new Promise(setImmediate);
    }
  };
  return { store, sent, looked, pass, waveforms };
}

test('waveforms of a large pool are sent at a pace', async (t) => {
  const { sent, waveforms, pass } = sending(t, { tracks: 100 });
  waveforms.changed();
  await pass(6000);
  assert.ok(sent.length > 20 && sent.length < 40, `${sent.length} in 5 s`);
  waveforms.close();
  const { length } = sent;
  await pass(2000);
  assert.equal(sent.length, length, 'nothing is sent after the end');
});

test('a refusal that says nothing about a waveform delays it', async (t) => {
  for (const answer of [['rate_limited', 'x', { retryAfterMs: 2000 }], ['unavailable', 'x', { retryAfterMs: 2000 }], ['internal', 'x', { retryAfterMs: 2000 }]]) {
    const { sent, waveforms, pass } = sending(t, { tracks: 2, answers: [answer] });
    waveforms.changed();
    await pass(5000);
    assert.deepEqual(sent.map(([track]) => track).sort(), [1, 1, 2], answer[0]);
    assert.ok(sent[1][1] - sent[0][1] >= 2000, 'others wait, too');
    t.mock.timers.reset();
  }
});

test('a waveform that the room does not want is not sent again, and one of an hour’s rate holds up no other', async (t) => {
  const { sent, waveforms, pass } = sending(t, { tracks: 3, answers: [['forbidden'], ['rate_limited', 'x', { retryAfterMs: 3_600_000 }]] });
  waveforms.changed();
  await pass(20_000);
  assert.deepEqual(sent.map(([track]) => track), [1, 2, 3]);
});

test('the pool is looked through where something of it has changed', async (t) => {
  const { store, looked, waveforms, pass } = sending(t);
  for (let i = 0; i < 5; i++) {
    waveforms.changed();
    await pass(1100);
  }
  assert.equal(looked.length, 1);
  store.room.queue = [{ track: 2 }];
  waveforms.changed();
  await pass(1100);
  assert.equal(looked.length, 2);
  waveforms.libraryChanged();
  await pass(1100);
  assert.equal(looked.length, 3);
});
