// Files that a person chooses: the chooser of a browser without pickers of its own, and what is said of files that were left out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { picked } from '../../Sources/WebClient/Pages/deck/items.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

/** A page whose choosers hold their elements no more than WebKit does. */
function choosing() {
  const body = new Set(), choosers = [];
  const createElement = () => {
    const input = {
      files: [],
      click() { choosers.push({ input: new WeakRef(input), isInPage: body.has(input) }); },
      remove() { body.delete(input); },
    };
    return input;
  };
  Object.assign(globalThis, { window: {}, document: { createElement, body: { append: (node) => body.add(node) } } });
  return {
    body, choosers,
    /** The person chooses, after some time in which the browser has collected its garbage. */
    async choose(at, ...files) {
      // An element that was just made, or looked at, lives until this task has ended.
      await new Promise(setImmediate);
      collectGarbage();
      const input = choosers[at].input.deref();
      if (!input) return;
      input.files = files;
      input.onchange();
    },
  };
}

for (const kind of ['files', 'folder']) {
  test(`${kind} arrive that were chosen after the browser has collected its garbage`, async () => {
    const { body, choosers, choose } = choosing(), song = { name: 'a.mp3' };
    let chosen;
    picked(kind).then((items) => { chosen = items; });
    await choose(0, song);
    await null;
    assert.deepEqual([chosen, choosers[0].isInPage, body.size], [[song], true, 0]);
  });
}

test('a chooser ends the wait for the one before, of which the browser may have told nothing', async () => {
  const { body, choose } = choosing();
  const first = picked('files'), second = picked('files');
  assert.deepEqual([await first, body.size], [[], 1]);
  await choose(1, { name: 'b.mp3' });
  assert.deepEqual([(await second).map(({ name }) => name), body.size], [['b.mp3'], 0]);
});

test('a second tap opens no other picker, and no chooser beside it', async () => {
  const { choosers } = choosing(), opened = [];
  window.showOpenFilePicker = () => new Promise((resolve) => { opened.push(resolve); });
  const first = picked('files');
  assert.deepEqual([await picked('files'), opened.length, choosers.length], [[], 1, 0]);
  opened[0](['a handle']);
  assert.deepEqual(await first, ['a handle']);
});

test('a chooser that is closed leaves nothing behind', async () => {
  const { body, choosers } = choosing(), items = picked('files');
  choosers[0].input.deref().oncancel();
  assert.deepEqual([await items, body.size], [[], 0]);
});

test('files of which none was taken are told with the name and the reason', async () => {
  const { choose } = await import('../../Sources/WebClient/Pages/view/choose.js');
  const told = [], app = { toast: (sentence) => told.push(sentence.replace(/[\u2066-\u2069]/g, '')) };
  await choose(app, async () => [{ name: 'a.ogg', why: 'foreign' }]);
  await choose(app, async () => [{ name: 'a.ogg', why: 'foreign' }, { name: 'b.doc', why: 'format' }]);
  await choose(app, async () => []);
  await choose(app, () => undefined);
  assert.deepEqual(told, ['a.ogg: this browser cannot play this format', 'a.ogg: this browser cannot play this format (and 1 more)']);
});
