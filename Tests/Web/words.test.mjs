// One word a thing, in both languages: the texts of the page by the table of Documentation/Web.md.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import '../../Sources/WebClient/Pages/text/en-deck.js';
import { t } from '../../Sources/WebClient/Pages/text/en-statistics.js';
import { de } from '../../Sources/WebClient/Pages/text/de.js';

/**
 * Every text by its key, without the options of commands; what a function says, it says of one and of two.
 *
 * @returns {Map<string, string>}
 */
function textsOf(tree, path = '', into = new Map()) {
  for (const [name, value] of Object.entries(tree)) {
    const key = path ? `${path}.${name}` : name;
    if (typeof value === 'object') textsOf(value, key, into);
    else into.set(key, (typeof value === 'function' ? [1, 2].map((n) => value(n, n, n)).join(' | ') : value).replace(/--[a-z-]+/g, ''));
  }
  return into;
}

const english = textsOf(t), german = textsOf(de);
const page = readFileSync(new URL('../../Documentation/Web.md', import.meta.url), 'utf8');
const rows = page.split('### Words')[1].split('\n## ')[0].split('\n').filter((line) => /^\| (?!thing|-)/.test(line))
  .map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
const words = (column) => rows.flatMap((row) => row[column].split(', ')).filter((word) => word && word !== '–');

/** The texts with a word, whatever its case and ending: `Lied` is in `Lieder`, and not in `Mitglied`. */
const having = (texts, word) => [...texts].filter(([, text]) => new RegExp(`(?<![\\p{L}])${word}(e|s|n|er|ern|es|en|ed|ing)?(?![\\p{L}])`, 'iu').test(text))
  .map(([key, text]) => `${key}: ${text}`);

test('the glossary is read', () => {
  assert.ok(rows.length >= 10 && rows.every((row) => row.length === 5), JSON.stringify(rows));
  assert.deepEqual(having(new Map([['a', 'Lieder'], ['b', 'Mitglied'], ['c', 'das Lied!']]), 'Lied'), ['a: Lieder', 'c: das Lied!']);
});

test('no text has a word that stands for a thing with another word', () => {
  // "No tracking" is another word.
  const found = [...words(2).flatMap((word) => having(english, word).map((text) => `${word} in ${text}`)),
    ...words(4).flatMap((word) => having(german, word).map((text) => `${word} in ${text}`))];
  assert.deepEqual(found.filter((one) => !one.startsWith('track in preferences.privacy:')), []);
});

test('the words of the glossary are those of the texts', () => {
  for (const [column, texts] of [[1, english], [3, german]]) {
    for (const word of words(column)) assert.notDeepEqual(having(texts, word.replace(/en$/, '(?:en|t)?')), [], word);
  }
});

test('a title is the name of a song in a form or a file, and no song', () => {
  const fields = /^add\.(songTitle|titleMissing|listHint|swap)$|^deck\.(stay|titles)/;
  for (const [texts, word] of [[english, 'title'], [german, 'Titel']]) {
    assert.deepEqual(having(texts, word).filter((text) => !fields.test(text.split(':')[0])), []);
  }
});

/** Pairs that are two words in one language and one in the other. */
const TWO_WORDS = [
  ['home.roles.owner', 'statistics.yours'],
  ['home.starting', 'deck.starting'],
  ['home.start', 'home.create'],
  ['onAir.paused', 'dj.pause'],
  ['dj.resume', 'deck.goOn'],
  ['lists.addedBy', 'people.bannedBy'],
].map((pair) => pair.join());

test('what is called the same in one language is called the same in the other', () => {
  const found = [];
  for (const [texts, others] of [[english, german], [german, english]]) {
    const keys = new Map();
    for (const [key, text] of texts) {
      const first = keys.get(text);
      if (first === undefined) keys.set(text, key);
      else if (others.get(first) !== others.get(key) && !TWO_WORDS.includes([first, key].join()) && !TWO_WORDS.includes([key, first].join())) {
        found.push(`${first} and ${key}: ${text}; ${others.get(first)}, ${others.get(key)}`);
      }
    }
  }
  assert.deepEqual(found, []);
});

test('a choice and a dialog have one name wherever they are named', () => {
  const view = (name) => readFileSync(new URL(`../../Sources/WebClient/Pages/view/${name}.js`, import.meta.url), 'utf8');
  for (const name of ['start-room', 'settings']) {
    for (const choice of ['modes', 'visibilities']) assert.match(view(name), new RegExp(`offered\\(t\\.choices\\.${choice}, t\\.choices\\.${choice}About\\)`));
    for (const label of ['mode', 'visibility']) assert.match(view(name), new RegExp(`\\bt\\.choices\\.${label}\\b`));
  }
  for (const name of ['people', 'settings', 'share', 'preferences', 'keys', 'statistics']) assert.match(view(name), new RegExp(`title: t\\.menu\\.${name}\\b`), name);
  assert.match(view('history'), /title: t\.header\.history/);
  // The label of a setting is no other label: somebody who looks for one finds one.
  const named = [...english].filter(([key]) => /^(settings|choices)\..*(name|mode|visibility)$/.test(key)).map(([, text]) => text);
  assert.equal(new Set(named).size, named.length, named.join());
});
