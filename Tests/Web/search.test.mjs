// The search of a pool, by the table that the server, the library and the terminal are tested by too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Search, findable, searchable } from '../../Sources/WebClient/Pages/room/search.js';
import { entries, read } from '../Tables/search-forms.mjs';

/** @type {{ title: string, artist?: string, album?: string, query: string, found: boolean }[]} */
const table = JSON.parse(readFileSync(new URL('../Tables/search.json', import.meta.url), 'utf8'));

test('a search finds what the table says, and nothing else', () => {
  assert.ok(table.length > 150);
  for (const row of table) {
    assert.equal(new Search({ pool: [row] }).find(row.query).length === 1, row.found, JSON.stringify(row));
  }
});

test('typing a query letter by letter finds what a new search finds', () => {
  const room = { pool: table };
  const search = new Search(room);
  for (const { query } of table) {
    for (let length = 1; length <= query.length; length += 1) {
      const typed = query.slice(0, length);
      assert.deepEqual(search.find(typed), new Search(room).find(typed), typed);
    }
  }
});

test('the server has the forms that the page has', () => {
  const file = read();
  assert.ok(file.entries.length > 4_000);
  // Entries of characters that a version of Unicode has stay as they are in later ones.
  if (file.unicode === process.versions.unicode) assert.deepEqual(file.entries, entries());
  for (const entry of file.entries) {
    const [, first, last, sign, form] = /^([0-9a-f]+)(?::([0-9a-f]+))?([+=-])([0-9a-f.]*)$/.exec(entry) ?? assert.fail(entry);
    for (let value = parseInt(first, 16); value <= parseInt(last ?? first, 16); value += 1) {
      const distance = sign === '=' ? 0 : parseInt(form, 16);
      const letters = sign === '+' ? [value + distance] : sign === '-' ? [value - distance]
        : form === '' ? [] : form.split('.').map((letter) => parseInt(letter, 16));
      const scalar = String.fromCodePoint(value);
      if (/\P{Cn}/u.test(scalar)) assert.equal(searchable(scalar), String.fromCodePoint(...letters), entry);
    }
  }
});

test('a folded text stays as it is', () => {
  for (const { title } of table) assert.equal(findable(findable(title)), findable(title));
});
