// Codes of rooms as people type and paste them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { roomOf } from '../../Sources/WebClient/Pages/room/code.js';

const table = JSON.parse(readFileSync(new URL('../Tables/room-links.json', import.meta.url), 'utf8'));

test('the room of a text is read as the table has it', () => {
  for (const { text, room } of table.texts) assert.equal(roomOf(text), room, JSON.stringify(text));
});

test('the room of an address is read as the table has it', () => {
  for (const { path, room } of table.addresses) assert.equal(roomOf(path), room, path);
});
