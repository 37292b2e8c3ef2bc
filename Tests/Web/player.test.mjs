// The two elements and the taps that a browser wants: with elements that play only once a tap has started them.
import assert from 'node:assert/strict';
import { test } from 'node:test';

/** Whether a tap is being handled. */
let inTap = false;

class StrictAudio {
  paused = true;
  ended = false;
  seeking = false;
  readyState = 4;
  currentTime = 0;
  duration = 200;
  error = null;
  isFree = false;
  src = '';

  async play() {
    this.isFree ||= inTap;
    if (!this.isFree) throw new DOMException('no tap', 'NotAllowedError');
    this.paused = false;
  }

  pause() {
    this.paused = true;
  }

  removeAttribute() {}
  load() {}
}

const made = [];
globalThis.Audio = class extends StrictAudio {
  constructor() {
    super();
    made.push(this);
  }
};
const { Player } = await import('../../Sources/WebClient/Pages/deck/player.js');

const SILENCE = new Blob(['']), FILE = new Blob(['music']);
const AT_ONCE = { positionMs: 0, level: 1, fadeMs: 0, plays: true };

function tap(run) {
  inTap = true;
  try {
    return run();
  } finally {
    inTap = false;
  }
}

test('after a reload one tap frees both elements: the next song plays by itself', async () => {
  const player = new Player({ ended() {}, paused() {}, playing() {}, stalled() {}, failed() {} });
  // The deck goes on by itself, and the browser wants a tap; the next song is open by then.
  await assert.rejects(player.play('1', FILE, AT_ONCE), { name: 'NotAllowedError' });
  player.prepare('2', FILE);
  player.pause();
  player.prepare('2', FILE);
  const resumed = tap(() => {
    player.unlock(SILENCE);
    return player.resume();
  });
  player.prepare('2', FILE);
  await resumed;
  assert.equal(player.key, '1');
  await player.play('2', null, AT_ONCE);
  assert.deepEqual([player.key, player.isHeard], ['2', true]);
  player.close();
});

test('a tap does not disturb what sounds', async () => {
  const player = new Player({ ended() {}, paused() {}, playing() {}, stalled() {}, failed() {} });
  await tap(() => {
    player.unlock(SILENCE);
    return player.play('1', FILE, AT_ONCE);
  });
  const element = made.find((one) => !one.paused);
  tap(() => player.unlock(SILENCE));
  assert.deepEqual([player.key, player.isHeard, element.paused], ['1', true, false]);
  player.close();
});
