// The one tab of a browser that plays: what its locks answer, and what becomes of a browser that gives none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Claim } from '../../Sources/WebClient/Pages/deck/claim.js';

/** A claim whose browser answers requests for locks with `request`; `told` is what it reports. */
function claiming(t, request) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  Object.defineProperty(globalThis, 'navigator', { value: request ? { locks: { request } } : {}, configurable: true });
  const told = [];
  const store = { link: { state: 'live' }, room: null, on: () => () => {}, post: ({ on }) => told.push(on ? 'claims' : 'gives up') };
  return { told, claim: new Claim(store, { look() {}, lost() {}, otherTab: () => told.push('other tab') }) };
}

/** What a promise has come to, a moment later. */
async function outcome(promise) {
  return Promise.race([promise, new Promise((resolve) => { setImmediate(() => setImmediate(() => resolve('nothing'))); })]);
}

test('a lock that is free is this tab’s, and one that another has is not', async (t) => {
  for (const lock of [{}, null]) {
    const { claim } = claiming(t, async (name, options, take) => take(lock));
    assert.equal(await outcome(claim.tab('r1', false)), lock !== null);
    t.mock.timers.reset();
  }
});

test('where the browser refuses locks, this tab plays', async (t) => {
  const { claim, told } = claiming(t, async () => { throw new DOMException('no', 'SecurityError'); });
  assert.equal(await outcome(claim.tab('r1', false)), true);
  assert.deepEqual(told, []);
  t.mock.timers.reset();
  assert.equal(await outcome(claiming(t, null).claim.tab('r1', false)), true);
});

test('a lock that is stolen before it is given belongs to the other tab', async (t) => {
  const { claim, told } = claiming(t, async () => { throw new DOMException('stolen', 'AbortError'); });
  assert.equal(await outcome(claim.tab('r1', true)), false);
  assert.deepEqual(told, []);
});

test('a lock that is stolen later ends this tab’s deck', async (t) => {
  let steal = () => {};
  const { claim, told } = claiming(t, (name, options, take) => Promise.race([
    take({}), new Promise((_, reject) => { steal = () => reject(new DOMException('stolen', 'AbortError')); }),
  ]));
  assert.equal(await outcome(claim.tab('r1', false)), true);
  claim.take();
  steal();
  await outcome(new Promise(() => {}));
  assert.deepEqual(told, ['claims', 'other tab']);
});
