// Codes of rooms as people type and paste them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf } from '../../Sources/WebClient/Pages/room/code.js';

test('a code is read with what stands around it and between', () => {
  for (const text of [
    'ABC123', 'abc123', ' abc 123 ', 'abc-123', 'ABC–123', 'abc_1.23', '\u200bABC123\ufeff', '\u2068ABC123\u2069',
    '#ABC123', '*ABC123*', '(ABC123)', '„ABC123“', '«abc123»', 'ABC123.', 'ABC123!', '🎵 ABC123 🎵', '`ABC-123`,', '【ABC123】',
    'ＡＢＣ１２３', 'ａｂｃ－１２３', '＃ＡＢＣ１２３',
  ]) assert.equal(codeOf(text), 'ABC123', text);
  assert.equal(codeOf('oil-oil'), '011011');
  assert.equal(codeOf('#abcd-1234'), 'ABCD1234');
});

test('a link to a room has its code', () => {
  for (const text of [
    'https://party.example/r/ABC123', 'https://party.example/r/abc-123/', 'https://party.example/r/ABC123)', '<https://party.example/r/ABC123>',
    'https://party.example/r/ABC123?from=chat', 'https://party.example/r/ABC123/#top', 'Come over: https://party.example/r/ABC123, now!',
    'party.example／r／ＡＢＣ１２３', '/R/ABC123.', '[the room](https://party.example/r/ABC123)',
  ]) assert.equal(codeOf(text), 'ABC123', text);
});

test('other texts have no code', () => {
  for (const text of ['', '#', '12345', 'ABC1234', 'ABC12U', 'A(B)C123', 'nearby', 'https://party.example/r/', 'https://party.example/ABC123'])
    assert.equal(codeOf(text), null, text);
});
