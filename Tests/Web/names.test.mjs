// How people with equal names are told apart.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { markOf, nameOf, takenHint } from '../../Sources/WebClient/Pages/view/names.js';

const table = JSON.parse(readFileSync(new URL('../Tables/names.json', import.meta.url), 'utf8'));

/** A room with these names, by number; `seq` is that of its newest event. */
const roomOf = (names, you, seq = 1) => ({
  seq, you: you === undefined ? null : { member: you }, members: new Map(Object.entries(names).map(([number, name]) => [Number(number), { member: Number(number), name }])),
});
const shown = (room) => [...room.members.values()].map((member) => member.name + markOf(room, member));

test('names that look equal have the numbers of their members, and no others', () => {
  for (const { names, shown: expected } of table) assert.deepEqual(shown(roomOf(names)), Object.values(expected), JSON.stringify(names));
  // Other kinds of letters, which the terminal does not know.
  assert.deepEqual(shown(roomOf({ 3: 'Ana', 4: '\uff21na' })), ['Ana (3)', '\uff21na (4)']);
});

test('a name with a mark is kept from changing the direction of the mark', () => {
  const room = roomOf({ 3: 'محمد', 4: 'محمد', 5: 'Ana' });
  assert.deepEqual([...room.members.values()].map((member) => nameOf(room, member)), ['\u2068محمد\u2069 (3)', '\u2068محمد\u2069 (4)', 'Ana']);
});

test('a mark comes and goes with the other, and stays the same number meanwhile', () => {
  const room = roomOf({ 3: 'Ana', 17: 'Bo' });
  assert.deepEqual(shown(room), ['Ana', 'Bo']);
  Object.assign(room, { seq: 2 });
  room.members.get(17).name = 'Ana';
  assert.deepEqual(shown(room), ['Ana (3)', 'Ana (17)']);
  Object.assign(room, { seq: 3 });
  room.members.delete(3);
  assert.deepEqual(shown(room), ['Ana']);
});

test('who is not in the room is told apart from those beside', () => {
  const room = roomOf({ 3: 'Ana' }), gone = [{ member: 5, name: 'Bo' }, { member: 6, name: 'bo' }, { member: 7, name: 'Cy' }, { member: 8, name: 'ana' }];
  assert.deepEqual(gone.map((one) => markOf(room, one, gone)), [' (5)', ' (6)', '', ' (8)']);
});

test('a name that another has is told, and one of one\'s own is not', () => {
  const names = { 3: 'Ana', 4: 'Bo' };
  for (const [name, you, told] of [['ana ', undefined, true], ['Ana', 4, true], ['Ana', 3, false], ['Cy', undefined, false], ['', undefined, false]]) {
    assert.equal(takenHint(roomOf(names, you), name) !== '', told, `${name} of ${you}`);
  }
  assert.equal(takenHint(null, 'Ana'), '');
});
