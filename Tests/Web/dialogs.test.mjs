// What the dialogs, the radar and the transport compute.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isolated } from '../../Sources/WebClient/Pages/text/en.js';
import { untilMorning } from '../../Sources/WebClient/Pages/view/member.js';
import { bearing, distance, scaleOf } from '../../Sources/WebClient/Pages/view/radar.js';
import { isLoopback } from '../../Sources/WebClient/Pages/view/share.js';
import { refusedName, shownLength } from '../../Sources/WebClient/Pages/view/names.js';
import { nextStep } from '../../Sources/WebClient/Pages/view/transport.js';

const at = (...parts) => new Date(...parts).getTime();
const HOUR = 3_600_000;

test('a ban for the evening ends at six in the morning, at least two hours later', () => {
  const ends = (now) => new Date(now + untilMorning(now));
  for (const [now, day, hours] of [
    [at(2026, 5, 10, 21, 15), 11, 8.75],
    [at(2026, 5, 10, 23, 59), 11, 6.02],
    [at(2026, 5, 11, 0, 30), 11, 5.5],
    [at(2026, 5, 11, 4, 0), 11, 2],
    [at(2026, 5, 11, 5, 30), 12, 24.5],
    [at(2026, 5, 11, 6, 0), 12, 24],
  ]) {
    const end = ends(now);
    assert.deepEqual([end.getDate(), end.getHours(), end.getMinutes()], [day, 6, 0]);
    assert.ok(Math.abs(untilMorning(now) / HOUR - hours) < 0.05);
  }
});

test('a refused name is told with the character that the server names', () => {
  const said = (message) => refusedName({ code: 'bad_request', message });
  assert.match(said('name must not have U+0009, which is a control character'), /U\+0009, which controls the text/);
  assert.match(said('name must not have U+E0067, which is an invisible tag character'), /U\+E0067, an invisible tag/);
  for (const message of ['name must have 1 to 40 characters, one of them visible', undefined]) {
    assert.match(said(message), /character that can be seen/);
  }
  assert.equal(shownLength('\u200bAna\u202e \u{1F469}\u200d\u{1F467}'), 6);
});

test('bearings are clockwise from north, across the antimeridian too', () => {
  const degrees = (from, to) => Math.round((bearing(from, to) * 180) / Math.PI);
  const porto = { lat: 41.15, lon: -8.61 };
  assert.equal(degrees(porto, { lat: 42, lon: -8.61 }), 0);
  assert.equal(degrees({ lat: 0, lon: 0 }, { lat: 0, lon: 1 }), 90);
  assert.equal(degrees({ lat: 0, lon: 0 }, { lat: 0, lon: -1 }), -90);
  assert.equal(degrees({ lat: 0, lon: 179.5 }, { lat: 0, lon: -179.5 }), 90);
  assert.equal(Math.abs(degrees(porto, { lat: 40, lon: -8.61 })), 180);
});

test('the radar shows the radius searched, and of the world what the rooms need', () => {
  const rooms = [{ distanceMeters: 300 }, { distanceMeters: 270_000 }];
  assert.equal(scaleOf(5000, rooms), 5000);
  assert.equal(scaleOf(20_037_508, rooms), 500_000);
  assert.equal(scaleOf(20_037_508, [{ distanceMeters: 12_000_000 }]), 20_000_000);
  assert.equal(scaleOf(20_037_508, []), 1000);
});

test('distances have no more digits than a rounded place gives', () => {
  assert.deepEqual([40, 260, 970, 1000, 12_345, 270_400].map(distance), ['100 m', '300 m', '1 km', '1 km', '12 km', '270 km']);
});

test('play continues, else starts the head of the queue, else the most wanted song where the room chooses', () => {
  const track = { track: 7, title: 'A' };
  const room = (more) => ({
    playback: { status: 'stopped' }, queue: [], requests: [], settings: { queueMode: 'votes' }, tracks: new Map([[7, track]]), ...more,
  });
  const does = (more) => nextStep(room(more)).does;
  assert.equal(does({ playback: { status: 'playing', track: 7 } }), 'pause');
  assert.equal(does({ playback: { status: 'paused', track: 7 }, queue: [{ entry: 1, track: 7 }] }), 'resume');
  assert.equal(does({ queue: [{ entry: 1, track: 7 }], requests: [track] }), 'head');
  assert.equal(does({ requests: [track] }), 'request');
  assert.equal(does({ requests: [track], settings: { queueMode: 'fair' } }), 'request');
  assert.equal(does({ requests: [track], settings: { queueMode: 'dj' } }), 'nothing');
  assert.equal(does({}), 'nothing');
});

test('a text among other words ends what it begins, and nothing else', () => {
  const inside = (words) => isolated(words).slice(1, -1);
  assert.equal(isolated('Maré'), '\u2068Maré\u2069');
  for (const [words, kept] of [
    ['a\u2069b', 'ab'],
    ['\u2067a\u2069b', '\u2067a\u2069b'],
    ['\u2067a\u2069\u2069b', '\u2067a\u2069b'],
    ['\u2066\u2068a', '\u2066\u2068a\u2069\u2069'],
    ['\u202egnorw', '\u202egnorw'],
  ]) assert.equal(inside(words), kept);
});

test('names that mean this very device lead nobody else here', () => {
  const table = JSON.parse(readFileSync(new URL('../Tables/loopback.json', import.meta.url), 'utf8'));
  const written = (host) => (host.includes(':') ? `[${host}]` : host);
  for (const host of table['this device']) assert.ok(isLoopback(written(host)), host);
  // As a browser writes ::ffff:127.0.0.1.
  assert.ok(isLoopback('[::ffff:7f00:1]'));
  for (const host of table.others) assert.ok(!isLoopback(written(host)), host);
});
