// A line of a DJ's page that no list hides: nobody hears the room's music, and what makes it heard.

import { PART } from '../room/room.js';
import { t } from '../text/en-deck.js';
import { choose, untilClosed } from './choose.js';
import { choosesFolders, h, number, svg, text } from './dom.js';

/** @typedef {import('./dom.js').App} App */

/** A deck that has vanished may come back within this time; one that this page has not heard of may be there within that. */
const GRACE_MS = 15_000;
const FIRST_MS = 3000;

/**
 * The line.
 *
 * @param {App} app
 * @returns {{ node: HTMLElement, destroy(): void }}
 */
export function silence(app) {
  const sentence = h('span'), unkept = h('span');
  const buttons = h('div.silence-buttons');
  const node = h('div.silence', { role: 'alert', hidden: true }, svg('speaker'), h('p', sentence, ' ', unkept), buttons);
  /** What was there before the silence. */
  let before = /** @type {'nothing' | 'rest' | 'deck'} */ ('nothing');
  let from = Infinity;
  /** So many songs without a file are left as they are. */
  let left = 0;
  let isBusy = false;
  let timer = 0;

  /** @param {() => unknown} run  within a tap */
  const act = async (run) => {
    if (isBusy) return;
    isBusy = true;
    show();
    try {
      await run();
    } catch (error) {
      app.refused(error);
    } finally {
      isBusy = false;
      show();
    }
  };
  /**
   * @param {string} label
   * @param {() => unknown} run
   * @param {boolean} [isFirst]
   */
  const button = (label, run, isFirst = false) => h('button.pill', { type: 'button', class: isFirst ? 'primary' : '', onclick: run }, label);
  /** Asks for the files again. */
  const pickers = () => {
    const ask = (/** @type {'files' | 'folder'} */ kind) => () => choose(app, () => app.playing?.refill(kind));
    const hasFolders = choosesFolders();
    return [...hasFolders ? [button(t.deck.chooseFolder, ask('folder'), true)] : [], button(t.deck.chooseFiles, ask('files'), !hasFolders)];
  };

  /**
   * What there is to say.
   *
   * @param {import('../room/room.js').Room} room
   * @returns {{ key: string, told: string, make: () => Node[] } | null}
   */
  const need = (room) => {
    const device = app.playing;
    if (device?.phase === 'on') {
      const { lost } = device.lack;
      if (device.lacksFiles) return { key: 'files', told: device.promisesMusic ? t.deck.noFiles : t.deck.noFilesYet, make: pickers };
      left = Math.min(left, lost);
      if (lost === left) return null;
      return { key: 'lost', told: t.deck.lostFiles(lost, number(lost)), make: () => [...pickers(), button(t.deck.leaveOut, () => act(() => { left = app.playing?.lack.lost ?? 0; }))] };
    }
    if (device?.phase === 'starting' || room.closedAt !== undefined || app.store.link.state !== 'live') return null;
    const isHeard = room.deck.member !== undefined;
    if (isHeard || room.playback.status !== 'playing') {
      before = isHeard ? 'deck' : 'rest';
      from = Infinity;
      return null;
    }
    const now = performance.now();
    from = Math.min(from, now + { nothing: FIRST_MS, rest: 0, deck: GRACE_MS }[before]);
    if (from > now) {
      timer = window.setTimeout(show, from - now + 5);
      return null;
    }
    const hear = async () => {
      app.unlock();
      await (await app.device())?.start();
    };
    return { key: 'nobody', told: t.deck.unheard, make: () => [button(t.deck.hear, () => act(hear), true)] };
  };

  function show() {
    clearTimeout(timer);
    const { room } = app.store;
    const needed = room && room.isDJ ? need(room) : null;
    node.hidden = needed === null;
    const key = needed?.key ?? '';
    if (node.dataset.key !== key) {
      node.dataset.key = key;
      buttons.replaceChildren(...needed?.make() ?? []);
    }
    text(sentence, needed?.told ?? '');
    text(unkept, needed && app.playing?.phase === 'on' ? untilClosed(app.playing) : '');
    for (const one of buttons.children) one.setAttribute('aria-busy', String(isBusy));
  }

  show();
  const stop = app.store.watch(PART.deck | PART.link | PART.playback | PART.queue | PART.votes | PART.pool | PART.you | PART.room, show);
  return {
    node,
    destroy() {
      stop();
      clearTimeout(timer);
      node.remove();
    },
  };
}
