// Back, with sheets and with music, on a model of a browser's history: moves are made later, one at a time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from './samples.mjs';

let copies = 0;

/** A browser with one tab, and in it the page, which may be left only after a question where `music` is true. */
class Tab {
  entries = [{ path: 'elsewhere', state: null }];
  index = 0;
  moves = [];
  music = false;
  answer = null;
  /** Sheets that are open, and screens that have been shown. */
  sheets = [];
  screens = [];

  async load(path, state = null) {
    this.entries = [...this.entries.slice(0, this.index + 1), { path, state }];
    this.index += 1;
    await this.reload();
  }

  async reload() {
    const tab = this;
    this.sheets = [];
    this.shown = this.entry.path;
    globalThis.location = { get pathname() { return tab.entry.path; } };
    globalThis.addEventListener = (_, listener) => { this.popped = listener; };
    globalThis.history = {
      get length() { return tab.entries.length; },
      get state() { return tab.entry.state; },
      pushState: (state, _, path = this.entry.path) => {
        this.entries = [...this.entries.slice(0, this.index + 1), { path, state }];
        this.index += 1;
      },
      replaceState: (state, _, path = this.entry.path) => { this.entries[this.index] = { path, state }; },
      go: (by) => this.moves.push(by),
    };
    this.back = await import(`../../Sources/WebClient/Pages/view/back.js?copy=${copies += 1}`);
    this.back.followHistory({
      shown: () => this.shown,
      show: () => this.show(),
      mayLeave: () => !this.music,
      ask: () => new Promise((resolve) => { this.answer = resolve; this.open('ask', () => resolve(false)); }),
    });
    await this.rest();
  }

  get entry() { return this.entries[this.index]; }

  show() {
    this.back.closeSheets();
    this.shown = this.entry.path;
    this.screens.push(this.shown);
    if (this.shown !== '/r/A') this.music = false;
  }

  /** Makes the moves that wait. */
  async rest() {
    for (let turn = 0; turn < 200; turn += 1) {
      await Promise.resolve();
      if (this.moves.length > 0) this.#move(this.moves.shift());
    }
    assert.equal(this.moves.length, 0, 'the page comes to rest');
  }

  #move(by) {
    const to = this.index + by;
    if (to < 1 || to >= this.entries.length) return;
    this.index = to;
    this.popped();
  }

  /** The person presses Back, or Forward. */
  async press(by = -1) {
    this.moves.push(by);
    await this.rest();
  }

  open(name, onClose = () => {}) {
    const sheet = { name, close: () => {} };
    const close = () => {
      const index = this.sheets.indexOf(sheet);
      if (index < 0) return;
      this.sheets.splice(index, 1);
      left();
      onClose();
    };
    sheet.close = close;
    this.sheets.push(sheet);
    const left = this.back.sheetOpened(close);
    return close;
  }

  go(path) {
    this.back.goTo(path, false, () => this.show());
  }

  get names() { return this.sheets.map((sheet) => sheet.name); }

  /** Where as many presses of Back lead as there are. */
  async backs() {
    const seen = [];
    while (this.index > 1) {
      await this.press();
      seen.push(this.shown);
    }
    return seen;
  }
}

async function inRoom() {
  const tab = new Tab();
  await tab.load('/');
  tab.go('/r/A');
  await tab.rest();
  return tab;
}

test('Back closes the sheet on top, then the one below, and then leaves the room', async () => {
  const tab = await inRoom();
  tab.open('settings');
  tab.open('ask');
  await tab.press();
  assert.deepEqual([tab.names, tab.shown], [['settings'], '/r/A']);
  await tab.press();
  assert.deepEqual([tab.names, tab.shown], [[], '/r/A']);
  await tab.press();
  assert.equal(tab.shown, '/');
  // Forward shows the room, and beyond it there is nothing.
  await tab.press(1);
  await tab.press(1);
  assert.deepEqual([tab.shown, tab.index], ['/r/A', 2]);
});

test('a sheet that is closed by its button leaves no step behind', async () => {
  const tab = await inRoom();
  for (let n = 0; n < 3; n += 1) {
    const close = tab.open('menu');
    close();
    // The next one opens before the browser has made its move.
    const next = tab.open('people');
    await tab.rest();
    assert.deepEqual([tab.names, tab.index], [['people'], 3]);
    next();
    await tab.rest();
  }
  assert.deepEqual([tab.shown, await tab.backs()], ['/r/A', ['/']]);
});

test('a sheet that leads to another screen leaves no step behind', async () => {
  const tab = new Tab();
  await tab.load('/');
  tab.open('start');
  tab.go('/r/A');
  await tab.rest();
  assert.deepEqual([tab.names, tab.shown], [[], '/r/A']);
  assert.ok((await tab.backs()).length <= 1);
  // Also where it was closed a moment before.
  const other = await inRoom();
  other.open('leave')();
  other.go('/nearby');
  await other.rest();
  assert.deepEqual([other.shown, await other.backs()], ['/nearby', ['/r/A', '/']]);
});

test('a page that is loaded again with a sheet open stands where the sheet was opened', async () => {
  const tab = await inRoom();
  tab.open('settings');
  tab.open('ask');
  await tab.reload();
  assert.deepEqual([tab.names, tab.shown, tab.index], [[], '/r/A', 2]);
  assert.deepEqual(await tab.backs(), ['/']);
  // A tab that has nothing before it.
  const copy = new Tab();
  copy.entries = [];
  copy.index = -1;
  await copy.load('/r/A', { at: 4, sheets: 1 });
  assert.deepEqual([copy.index, copy.entries.length, copy.entry.state.sheets], [0, 1, 0]);
});

test('an address that the person changes is a step of its own', async () => {
  const tab = await inRoom();
  tab.open('menu');
  tab.entries = [...tab.entries.slice(0, tab.index + 1), { path: '/r/A', state: null }];
  await tab.press(1);
  assert.deepEqual([tab.names, tab.shown], [[], '/r/A']);
  await tab.press();
  await tab.press();
  assert.equal(tab.shown, '/');
});

test('Back asks before music ends, and the room stays where the answer is no', async () => {
  for (const jump of [-1, -2]) {
    const tab = await inRoom();
    tab.go('/nearby');
    tab.go('/r/A');
    await tab.rest();
    tab.music = true;
    const shows = tab.screens.length;
    await tab.press(jump);
    if (jump === -2) {
      // The same room stands there.
      assert.deepEqual([tab.names, tab.shown, tab.screens.length], [[], '/r/A', shows]);
      continue;
    }
    assert.deepEqual([tab.names, tab.shown, tab.entry.path], [['ask'], '/r/A', '/r/A']);
    // Back once more is to stay.
    await tab.press();
    assert.deepEqual([tab.names, tab.shown, tab.screens.length, tab.music], [[], '/r/A', shows, true]);
    await tab.press();
    tab.answer(true);
    tab.sheets.at(-1).close();
    await tab.rest();
    assert.deepEqual([tab.names, tab.shown, tab.music], [[], '/nearby', false]);
    // The next time there is music, it asks again.
    await tab.press();
    tab.music = true;
    await tab.press();
    assert.deepEqual([tab.names, tab.shown], [['ask'], '/r/A']);
  }
});

test('Forward asks as well, and leads there', async () => {
  for (const jump of [1, 2]) {
    const tab = await inRoom();
    tab.go('/nearby');
    tab.go('/r/B');
    await tab.rest();
    await tab.press(-2);
    tab.music = true;
    await tab.press(jump);
    assert.deepEqual([tab.names, tab.shown, tab.entry.path], [['ask'], '/r/A', '/r/A']);
    tab.answer(true);
    tab.sheets.at(-1).close();
    await tab.rest();
    assert.deepEqual([tab.names, tab.shown, tab.music], [[], ['/nearby', '/r/B'][jump - 1], false]);
    // The page stands still, and Back leads back.
    tab.go('/');
    await tab.rest();
    assert.deepEqual([tab.shown, await tab.backs()], ['/', [['/nearby', '/r/B'][jump - 1], '/r/A', '/']]);
  }
});

test('in any order of what people and the page do, the steps are those of the sheets', async (t) => {
  const { seed, random } = seeded(t);
  for (let world = 0; world < 200; world += 1) {
    const tab = await inRoom();
    for (let turn = 0; turn < 25; turn += 1) {
      const act = random(7);
      if (act < 2) tab.open(`sheet ${turn}`);
      else if (act === 2) tab.sheets[random(tab.sheets.length)]?.close();
      else if (act === 3) tab.go(['/', '/r/A', '/nearby'][random(3)]);
      else if (act === 4) tab.moves.push(random(2) ? -1 : 1);
      else if (act === 5) tab.music = tab.shown === '/r/A' && random(2) === 0;
      else await tab.rest();
    }
    await tab.rest();
    const told = `seed ${seed}, world ${world}`;
    assert.equal(tab.entry.state?.sheets ?? 0, tab.index === 0 ? 0 : tab.sheets.length, told);
    assert.equal(tab.shown, tab.entry.path, told);
  }
});
