// What is counted of a room, as the page follows it: the subscription, and the questions behind it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Counted } from '../../Sources/WebClient/Pages/store/counted.js';
import { Refusal, Store } from '../../Sources/WebClient/Pages/store/store.js';
import { ROOM, snapshot } from './samples.mjs';

const NOW = Date.UTC(2026, 10, 25, 21, 37, 20);
const MINUTE = 60_000;
const YOU = { member: 2, role: 'guest', votes: [] };
const SONG = { track: 1, title: 'One', plays: 1, skips: 0, playedMs: 1000 };

/** A store that follows a room, and what is counted of it; `answers` has bodies or refusals for the ends of paths. */
async function followed(t, { you = YOU, span = 'evening' } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: NOW });
  const store = new Store({ frame: () => {}, now: () => Date.now() - NOW });
  const answers = { statistics: { epoch: 'e', seq: 1, step: 'quarter', from: 0, to: 0, buckets: [], observed: [] }, tracks: { tracks: [SONG] }, plays: { plays: [] } };
  const asked = [];
  const request = async (_, path) => {
    asked.push(path);
    const answer = answers[/(\w+)\?/.exec(path)[1]];
    if (answer instanceof Refusal) throw answer;
    return answer;
  };
  const settle = async () => { for (let i = 0; i < 8; i++) await new Promise(setImmediate); };
  const connect = () => {
    const sent = [];
    store.connected({ send: (message) => sent.push(message) });
    store.receive(snapshot({ you }));
    return sent;
  };
  const sent = connect();
  let changes = 0;
  const counted = new Counted(store, request, { offsetMinutes: 60, span, changed: () => { changes += 1; } });
  t.after(() => counted.close());
  await settle();
  const sub = sent.find(({ type }) => type === 'statistics');
  store.receive({ type: 'statistics', re: sub.id, room: ROOM, epoch: 'e', seq: 1, minutes: [], today: { at: NOW } });
  const bucket = (fields) => ({ at: Math.floor(Date.now() / MINUTE) * MINUTE, ...fields });
  return {
    store, counted, answers, asked, sent, connect, settle, sub, changes: () => changes,
    pass: async (ms) => { t.mock.timers.tick(ms); await settle(); },
    tell: async (fields, type = 'statisticsDelta', id = sub.id) => {
      store.receive({ type, [type === 'statistics' ? 're' : 'sub']: id, room: ROOM, epoch: 'e', seq: 2, minutes: [bucket(fields)], today: bucket(fields) });
      await settle();
    },
    plays: () => counted.bars.reduce((sum, { counts }) => sum + (counts.plays ?? 0), 0),
  };
}

test('counts are subscribed to with the offset of local time, and asked for once', async (t) => {
  const { sub, sent, asked, counted } = await followed(t);
  assert.deepEqual(sub, { type: 'statistics', id: sub.id, offsetMinutes: 60, room: ROOM });
  assert.equal(asked.length, 3);
  assert.match(asked[0], new RegExp(`^/v1/rooms/${ROOM}/statistics\\?from=\\d+&to=\\d+&step=quarter&offsetMinutes=60$`));
  assert.deepEqual([counted.isRead, counted.tracks], [true, [SONG]]);
  counted.close();
  const { type, sub: ended } = sent.at(-1);
  assert.deepEqual([type, ended], ['statisticsStop', sub.id]);
});

test('a vote changes the bars, and asks for nothing', async (t) => {
  const { asked, tell, pass, counted, changes } = await followed(t);
  const before = changes();
  await tell({ votes: 3 });
  await pass(10_000);
  assert.equal(counted.bars.at(-1).counts.votes, 3);
  assert.equal(asked.length, 3);
  assert.ok(changes() > before);
});

test('a song that ends asks for the lists again, soon, and once for several', async (t) => {
  const { asked, tell, pass, plays } = await followed(t);
  await pass(5000);
  await tell({ plays: 1 });
  assert.deepEqual([plays(), asked.length], [1, 3]);
  await tell({ plays: 2 });
  await pass(300);
  assert.equal(asked.length, 6);
  await tell({ plays: 3 });
  await pass(1600);
  assert.equal(asked.length, 6);
  await pass(400);
  assert.equal(asked.length, 9);
  await pass(60_000);
  assert.equal(asked.length, 9);
});

test('a song that leaves the span asks again, too', async (t) => {
  const { asked, tell, pass, counted, plays } = await followed(t, { span: 'hour' });
  await tell({ plays: 1 });
  await pass(3000);
  const before = asked.length;
  await pass(65 * MINUTE);
  counted.look();
  await pass(300);
  assert.deepEqual([plays(), asked.length - before], [0, 3]);
});

test('after a reconnect it subscribes and asks again, and what was there stays', async (t) => {
  const { store, connect, tell, sub, plays, pass, asked } = await followed(t);
  await tell({ plays: 2 });
  await pass(5000);
  const before = asked.length;
  store.disconnected({ retryAt: 5 });
  assert.equal(plays(), 2);
  const sent = connect(), again = sent.find(({ type }) => type === 'statistics');
  assert.notEqual(again.id, sub.id);
  await tell({ plays: 9 }, 'statisticsDelta', sub.id);
  assert.equal(plays(), 2);
  // As where everything was missed that is older than an hour.
  await tell({ plays: 2 }, 'statistics', again.id);
  await pass(2000);
  assert.deepEqual([plays(), asked.length - before], [2, 3]);
  await tell({ plays: 3 }, 'statisticsDelta', again.id);
  assert.equal(plays(), 3);
});

test('a server that counts nothing is no failure that passes', async (t) => {
  const world = await followed(t);
  world.store.receive({ type: 'error', re: world.sub.id, code: 'not_found', message: '' });
  await world.pass(60_000);
  assert.ok(world.counted.isOff);
  assert.equal(world.sent.filter(({ type }) => type === 'statistics').length, 1);
});

test('an end of the subscription is left to the link', async (t) => {
  const { store, counted, sub, pass, sent } = await followed(t);
  store.receive({ type: 'statisticsEnd', sub: sub.id, code: 'not_found' });
  await pass(60_000);
  assert.deepEqual([counted.isOff, counted.silence, sent.filter(({ type }) => type === 'statistics').length], [false, null, 1]);
});

test('where no answer comes over a link that is live, it is asked again', async (t) => {
  const { answers, asked, counted, pass } = await followed(t);
  answers.tracks = new Refusal('offline');
  counted.show('week');
  await pass(0);
  assert.deepEqual([counted.refusal.code, asked.length], ['offline', 6]);
  await pass(10_000);
  assert.equal(asked.length, 9);
});

test('a refused subscription is tried again when the server says, else later', async (t) => {
  const { store, sent, sub, pass, counted, tell } = await followed(t);
  const asked = () => sent.filter(({ type }) => type === 'statistics');
  store.receive({ type: 'error', re: sub.id, code: 'rate_limited', message: '', retryAfterMs: 3000 });
  await pass(2900);
  assert.deepEqual([asked().length, counted.silence.code], [1, 'rate_limited']);
  await pass(100);
  store.receive({ type: 'error', re: asked()[1].id, code: 'unavailable', message: '' });
  await pass(10_000);
  assert.equal(asked().length, 3);
  await tell({}, 'statistics', asked()[2].id);
  assert.equal(counted.silence, null);
});

test('where a question fails, what is shown stays, and it is asked again when the server says', async (t) => {
  const { answers, asked, counted, tell, pass } = await followed(t);
  const { statistics } = answers;
  answers.statistics = new Refusal('rate_limited', '', { retryAfterMs: 4000 });
  await pass(5000);
  await tell({ plays: 1 });
  await pass(300);
  assert.deepEqual([counted.refusal.code, counted.tracks.length, counted.isRead, asked.length], ['rate_limited', 1, true, 6]);
  answers.statistics = statistics;
  await pass(4000);
  assert.deepEqual([counted.refusal, asked.length], [null, 9]);
});

test('one’s own songs are those that one has added, from all pages', async (t) => {
  const { answers, counted, settle, pass, asked } = await followed(t);
  const play = (entry, addedBy) => ({ entry, track: entry, title: 'x', addedBy, startedAt: 1, endedAt: 2, reason: 'ended', playedMs: 1, isPlay: true });
  answers.plays = { plays: [play(4, 2), play(3, 1)], next: 'a.b' };
  counted.show('week');
  await settle();
  assert.equal(asked.filter((path) => path.endsWith('&cursor=a.b')).length, 3);
  assert.deepEqual(counted.own.map(({ entry }) => entry), [4, 4, 4, 4]);
  await pass(0);
});

test('somebody who only looks has no songs, and they are not asked for', async (t) => {
  const { asked, counted } = await followed(t, { you: null });
  assert.equal(asked.filter((path) => path.includes('/plays')).length, 0);
  assert.deepEqual(counted.own, []);
});
