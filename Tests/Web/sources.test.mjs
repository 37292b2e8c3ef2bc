// What holds for the page's sources: who imports whom, where texts stand, and what no file may do.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';

const PAGES = new URL('../../Sources/WebClient/Pages/', import.meta.url);

/** Each folder, and the folders that its files may import from. `main.js` wires everything. */
const ARROWS = {
  room: ['room'],
  text: ['text'],
  store: ['store', 'room'],
  wire: ['wire', 'store', 'room'],
  view: ['view', 'store', 'room', 'text'],
  deck: ['deck', 'store', 'wire', 'room', 'text'],
  'main.js': ['wire', 'store', 'room', 'view', 'deck', 'text'],
  'service-worker.js': [],
};

/** What no file of the page contains, and why. */
const FORBIDDEN = [
  [/\.(inner|outer)HTML\b|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser/, 'markup from strings'],
  [/\beval\(|new Function\(/, 'evaluated code'],
  [/setAttribute\(\s*['"`]style/, 'style attributes, which the policy forbids'],
  [/\bsetInterval\(/, 'polling'],
  [/https?:\/\/(?!www\.w3\.org\/)[a-z]/, 'addresses of other origins'],
  [/\bdebugger\b|console\.(log|debug|info)\(/, 'traces of debugging'],
];

/** Capital words that are names of the platform and not texts for people. */
const NAMES = new Set([
  'Enter', 'Escape', 'Tab', 'Home', 'End', 'Space', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown',
  'Delete', 'Backspace', 'Alt', 'Control', 'Shift', 'Meta', 'Gap', 'Refusal', 'SecurityError', 'AbortError',
  'NotAllowedError', 'TimeoutError', 'Files', 'Content-Type', 'Idempotency-Key', 'Guest',
  // The same in every language: the product, the label of a key, what languages call themselves.
  'Backline', 'Esc', 'English', 'Deutsch',
]);

const files = readdirSync(PAGES, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.js'))
  .map((entry) => posix.join((entry.parentPath ?? entry.path).slice(PAGES.pathname.length - 1), entry.name).replace(/^\//, ''))
  .sort();

const source = (file) => readFileSync(new URL(file, PAGES), 'utf8');

/** The tokens that matter of a file: its code without comments, and its literal texts in order. */
function read(file) {
  const text = source(file);
  let code = '', at = 0;
  const literals = [];
  // Comments, quoted texts, templates (their plain parts), and regular expressions after what begins an expression.
  const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[=(,:!&|?[]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g;
  for (const { 0: found, index } of text.matchAll(token)) {
    code += text.slice(at, index);
    at = index + found.length;
    if (found.startsWith('//') || found.startsWith('/*')) {
      code += ' ';
      continue;
    }
    code += found;
    const line = text.slice(0, index).split('\n').length;
    if (found[0] === '`') literals.push(...found.slice(1, -1).split(/\$\{[^}]*\}/).map((part) => [part, line]));
    else if (found[0] !== '/') literals.push([found.slice(1, -1), line]);
  }
  return { code: code + text.slice(at), literals };
}

/** The folder of a file, or the file itself at the top. */
const unit = (file) => (file.includes('/') ? file.split('/')[0] : file);

test('imports follow the arrows', () => {
  const wrong = [];
  for (const file of files) {
    const { code } = read(file);
    const allowed = ARROWS[unit(file)];
    assert.ok(allowed, `${file} is in no known folder`);
    for (const [, , name] of code.matchAll(/(\bfrom\s*|\bimport\s*\(?\s*)['"`]([^'"`]+)['"`]/g)) {
      if (!name.startsWith('.')) wrong.push(`${file}: ${name} is no relative path`);
      else if (!allowed.includes(unit(posix.join(posix.dirname(file), name)))) wrong.push(`${file}: ${name}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('nothing imports in a circle', () => {
  const imports = new Map(files.map((file) => [file, [...read(file).code.matchAll(/^(?:import|export)\b[^;]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]/gm)]
    .map(([, name, bare]) => posix.join(posix.dirname(file), name ?? bare))]));
  const state = new Map();
  const visit = (file, path) => {
    assert.notEqual(state.get(file), 'open', `a circle: ${[...path, file].join(' → ')}`);
    if (state.has(file)) return;
    state.set(file, 'open');
    for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of files) visit(file, []);
});

test('texts for people stand in text/ only', () => {
  const found = [];
  for (const file of files.filter((one) => one.startsWith('view/') || one.startsWith('store/') || one.startsWith('room/'))) {
    const lines = source(file).split('\n');
    for (const [text, line] of read(file).literals) {
      // A song whose sleeve is drawn from its names, which are not shown.
      if (/\{ title: '[^']*', artist: '[^']*' \}/.test(lines[line - 1])) continue;
      const isSentence = /\p{Lu}\p{Ll}+['’]?\p{Ll}* \p{L}/u.test(text) || /\p{Ll}{2} \p{Ll}+[.!?…]$/u.test(text);
      const isWord = /^\p{Lu}\p{Ll}{2,}[.!?…]?$/u.test(text) && !NAMES.has(text);
      if (isSentence || isWord) found.push(`${file}:${line}: ${text}`);
    }
  }
  assert.deepEqual(found, []);
});

test('no file does what the page does not do', () => {
  const found = [];
  for (const file of files) {
    const { code } = read(file);
    for (const [pattern, what] of FORBIDDEN) if (pattern.test(code)) found.push(`${file}: ${what}: ${pattern.exec(code)[0]}`);
  }
  assert.deepEqual(found, []);
});

test('the service worker and the pure parts touch nothing that is not theirs', () => {
  assert.doesNotMatch(read('service-worker.js').code, /\/v1\b/);
  for (const file of files.filter((one) => one.startsWith('room/'))) {
    assert.doesNotMatch(read(file).code, /\b(document|window|fetch|localStorage|setTimeout|performance|Date|requestAnimationFrame|Math\.random)\b[.(]/, file);
  }
});

test('index.html loads beforehand what main.js needs at its start, and nothing else', () => {
  const start = /\bawait all\(\[([\s\S]*?)\]\)/.exec(source('main.js'))[1];
  const needed = new Set();
  const need = (file) => {
    if (needed.has(file)) return;
    needed.add(file);
    for (const [, name] of read(file).code.matchAll(/^(?:import|export)\b[^;]*?['"](\.[^'"]+)['"]/gm)) need(posix.join(posix.dirname(file), name));
  };
  for (const [, name] of start.matchAll(/import\(['"]([^'"]+)['"]\)/g)) need(posix.normalize(name));
  const html = readFileSync(new URL('index.html', PAGES), 'utf8');
  const loaded = [...html.matchAll(/rel="modulepreload" href="\/assets\/\{version\}\/([^"]+)"/g)].map(([, file]) => file);
  assert.deepEqual(loaded.sort(), [...needed].sort());
});
