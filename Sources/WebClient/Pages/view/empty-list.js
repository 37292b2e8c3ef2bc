/** What a list of a room says while it has no rows, and the way on from there. */

import { nextTrack, stepOf } from '../room/next.js';
import { isolated, t } from '../text/en.js';
import { h, svg, text } from './dom.js';

/** @typedef {import('../room/room.js').Room} Room */

/**
 * Fills a pane's place for that, and returns what shows it for a room.
 *
 * @param {import('./dom.js').App} app
 * @param {'requests' | 'queue'} kind
 * @param {HTMLElement} place
 * @returns {(room: Room) => void}
 */
export function emptyList(app, kind, place) {
  const sentence = h('p', { dir: 'auto' });
  const on = h('button.pill.way-on', { type: 'button' });
  const add = h('button.pill.primary.way-on', { type: 'button', onclick: () => app.open('add', {}) });
  // The list of all songs is a tab; where it stands beside this list already, with a button of its own, the style hides these.
  on.addEventListener('click', () => document.getElementById('tab-pool')?.click());
  text(on, t.lists.toSongs);
  place.replaceChildren(svg(kind === 'queue' ? 'music' : 'up'), sentence, on, add);
  return (room) => {
    const step = stepOf(room);
    text(sentence, kind === 'requests' ? t.lists.noRequests : reason(room));
    on.hidden = room.pool.length === 0;
    add.hidden = step !== 'addMusic' && step !== 'add';
    text(add, room.isDJ ? t.pool.addMusic : t.pool.add);
  };
}

/**
 * What comes next where nothing waits.
 *
 * @param {Room} room
 */
function reason(room) {
  const { queueMode, queueLocked } = room.settings;
  const words = t.lists.emptyQueue;
  if (room.closedAt !== undefined || room.isDJ && queueMode === 'dj') return words.none;
  if (queueMode === 'dj') return words.dj;
  if (queueLocked) return words.locked;
  if (room.requests.length === 0) return words.unasked[queueMode];
  if (queueMode === 'fair') return words.fair;
  const next = nextTrack(room);
  if (next) return words.votes(isolated(next.title));
  return room.requests.every(({ missing }) => missing) ? words.missing : words.resting;
}
