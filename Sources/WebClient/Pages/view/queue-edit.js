// The commands with which a DJ changes the queue, each with its way back, and the menu of a row.

import { standingOf } from '../room/room.js';
import { isolated, t } from '../text/en.js';
import { sheetOpened } from './back.js';
import { h, stylesheet, svg } from './dom.js';
import { fillRow, trackRow, vote } from './lists.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/room.js').Track} Track
 * @typedef {import('../room/room.js').QueueEntry} QueueEntry
 */

/** How long a change can be taken back. */
const UNDO_SECONDS = 8;

/** The longest title that a toast quotes, in UTF-16 units. */
const QUOTED = 48;

/**
 * A title short enough for a toast, isolated from the words beside it.
 *
 * @param {Track} track
 */
export function quoted(track) {
  return isolated(track.title.length > QUOTED ? `${track.title.slice(0, QUOTED - 1).trimEnd()}…` : track.title);
}

/**
 * Shows a refusal; `conflict` and the like have their own sentence where one is given.
 *
 * @param {App} app
 * @param {Record<string, string>} sentences by code
 */
function refusedWith(app, sentences) {
  return (/** @type {any} */ refusal) => {
    const sentence = sentences[refusal?.code];
    if (sentence) app.toast(sentence);
    else app.refused(refusal);
  };
}

/**
 * Puts a track into the queue, at its end where no place is given.
 *
 * @param {App} app
 * @param {Track} track
 * @param {number} [at] a place; beyond the end counts as the end
 */
export async function enqueue(app, track, at) {
  const { store } = app;
  if (store.isPending('enqueue', 'track', track.track)) return;
  const place = at === undefined || at >= (store.room?.queue.length ?? 0) ? {} : { at };
  try {
    const { entry } = await app.act({ type: 'enqueue', track: track.track, ...place });
    app.toast(t.lists.queued(quoted(track)), {
      label: t.lists.undo, seconds: UNDO_SECONDS, action: () => { app.act({ type: 'dequeue', entry }).catch(app.refused); },
    });
  } catch (refusal) {
    refusedWith(app, { conflict: t.lists.repeated })(refusal);
  }
}

/**
 * Takes an entry out of the queue; taking that back puts the track at the place where it was.
 *
 * @param {App} app
 * @param {QueueEntry} entry
 * @param {Track} track
 */
export async function dequeue(app, entry, track) {
  const place = placeOf(app, entry);
  try {
    await app.act({ type: 'dequeue', entry: entry.entry });
    app.toast(t.lists.unqueued(quoted(track)), {
      label: t.lists.undo, seconds: UNDO_SECONDS, action: () => { restore(app, track, place); },
    });
  } catch (refusal) {
    app.refused(refusal);
  }
}

/**
 * @param {App} app
 * @param {Track} track
 * @param {number} place
 */
async function restore(app, track, place) {
  const at = Math.min(place, app.store.room?.queue.length ?? 0);
  await app.act({ type: 'enqueue', track: track.track, at }).catch(app.refused);
}

/**
 * Moves an entry to a place; resolves to whether it is there.
 *
 * @param {App} app
 * @param {QueueEntry} entry
 * @param {Track} track
 * @param {number} to from 0
 */
export async function move(app, entry, track, to) {
  const from = placeOf(app, entry);
  const last = (app.store.room?.queue.length ?? 0) - 1;
  if (from < 0 || to === from || to < 0 || to > last) return false;
  try {
    await app.act({ type: 'move', entry: entry.entry, to });
    app.toast(t.lists.movedTo(quoted(track), to + 1), {
      label: t.lists.undo, seconds: UNDO_SECONDS, action: () => { moveBack(app, entry, from); },
    });
    return true;
  } catch (refusal) {
    app.refused(refusal);
    return false;
  }
}

/**
 * @param {App} app
 * @param {QueueEntry} entry
 * @param {number} place
 */
function moveBack(app, entry, place) {
  const to = Math.min(place, (app.store.room?.queue.length ?? 1) - 1);
  app.act({ type: 'move', entry: entry.entry, to }).catch(app.refused);
}

/**
 * The place of an entry in the queue; -1 where it waits no more.
 *
 * @param {App} app
 * @param {QueueEntry} entry
 */
export function placeOf(app, entry) {
  return app.store.room?.queue.findIndex((other) => other.entry === entry.entry) ?? -1;
}

/**
 * @param {App} app
 * @param {Track} track
 */
async function removeTrack(app, track) {
  const { confirm } = await import('./dialog.js');
  const sure = await confirm({ title: t.lists.removeNamed(quoted(track)), text: t.lists.removeSure, action: t.lists.removeYes });
  if (!sure) return;
  try {
    await app.store.send({ type: 'removeTracks', tracks: [track.track] });
    app.toast(t.lists.trackRemoved(quoted(track)));
  } catch (refusal) {
    refusedWith(app, { conflict: t.lists.onAir })(refusal);
  }
}

/**
 * Opens the menu of a row: of a waiting entry where one is given, else of a track.
 *
 * @param {App} app
 * @param {HTMLElement} button that was tapped; it has the focus again afterwards
 * @param {Track} track
 * @param {QueueEntry} [entry]
 */
export async function openMenu(app, button, track, entry) {
  await stylesheet('queue');
  const { store } = app;
  const place = entry ? placeOf(app, entry) : -1;
  const last = (store.room?.queue.length ?? 0) - 1;
  /** @type {[icon: string, label: string, act: () => unknown, marks?: { off?: boolean, danger?: boolean }][]} */
  const items = entry ? [
    ['play', t.lists.playNow, () => app.act({ type: 'play', entry: entry.entry }).catch(app.refused)],
    ['top', t.lists.toTop, () => move(app, entry, track, 0), { off: place <= 0 }],
    ['arrowUp', t.lists.moveUp, () => move(app, entry, track, placeOf(app, entry) - 1), { off: place <= 0 }],
    ['arrowDown', t.lists.moveDown, () => move(app, entry, track, placeOf(app, entry) + 1), { off: place >= last }],
    ['minus', t.lists.remove, () => dequeue(app, entry, track), { danger: true }],
  ] : [
    ['plus', t.lists.enqueue, () => enqueue(app, track)],
    ['next', t.lists.playNext, () => enqueue(app, track, 0)],
    ['up', store.votesOf(track).mine ? t.lists.withdraw : t.lists.ask, () => vote(app, track), { off: store.room !== null && standingOf(store.room, track.track) !== null }],
    ['trash', t.lists.removeTrack, () => removeTrack(app, track), { danger: true }],
  ];

  const face = trackRow('pool', false);
  face.querySelector('.vote')?.remove();
  fillRow(app, face, { track }, true);
  const head = h('div.row', null, ...face.childNodes);
  const node = /** @type {HTMLDialogElement} */ (h('dialog.row-menu', { 'aria-label': t.lists.moreNamed(track.title) }, head,
    items.map(([icon, label, act, marks]) => h('button.menu-item', {
      type: 'button', class: marks?.danger ? 'danger' : '', disabled: marks?.off ?? false,
      onclick: () => { node.close(); act(); },
    }, svg(icon), label))));
  node.addEventListener('click', (event) => { if (event.target === node) node.close(); });
  const left = sheetOpened(() => node.close());
  node.addEventListener('close', () => { left(); node.remove(); });
  node.addEventListener('keydown', (event) => step(node, event));
  document.body.append(node);
  node.showModal();
  if (matchMedia('(min-width: 45em)').matches) standBeside(node, button);
  const first = node.querySelector('button:not(:disabled)');
  if (first instanceof HTMLElement) first.focus({ preventScroll: true });
}

/**
 * Puts a menu beside its button, inside the window.
 *
 * @param {HTMLElement} node
 * @param {HTMLElement} button
 */
function standBeside(node, button) {
  const at = button.getBoundingClientRect();
  const size = node.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.right - size.width, innerWidth - size.width - 8));
  const below = at.bottom + 4;
  const top = below + size.height + 8 <= innerHeight ? below : Math.max(8, at.top - size.height - 4);
  node.style.setProperty('left', `${left}px`);
  node.style.setProperty('top', `${Math.min(top, Math.max(8, innerHeight - size.height - 8))}px`);
}

/**
 * Arrow keys, Home and End go through a menu.
 *
 * @param {HTMLElement} node
 * @param {KeyboardEvent} event
 */
function step(node, event) {
  const items = [...node.querySelectorAll('button:not(:disabled)')];
  const at = items.indexOf(/** @type {Element} */ (document.activeElement));
  /** @type {Record<string, number>} */
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 };
  if (!(event.key in to)) return;
  event.preventDefault();
  const item = items[to[event.key] % items.length];
  if (item instanceof HTMLElement) item.focus();
}
