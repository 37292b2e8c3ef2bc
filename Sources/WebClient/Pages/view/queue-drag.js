// Dragging: rows of the queue to another place, and requests and tracks into the queue.

import { h, stylesheet } from './dom.js';
import { enqueue, move, placeOf } from './queue-edit.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/room.js').Track} Track
 * @typedef {import('../room/room.js').QueueEntry} QueueEntry
 * @typedef {import('./windowed-list.js').WindowedList} WindowedList
 */

/** A pointer that moves by less than this, in pixels, drags nothing. */
const SLACK = 6;

/** This near to an edge, in pixels, the list scrolls while something is dragged. */
const EDGE = 56;

/** @typedef {{ list: WindowedList, body: HTMLElement }} Queue the list into which things are dropped, and what it scrolls in */

/**
 * The queue that is shown, as the place to drop things.
 *
 * @type {Queue | null}
 */
let queue = null;

/**
 * Lets a DJ drag the rows of the queue, and move the row with the focus by Alt and an arrow key.
 *
 * A mouse drags a row by any part that is no button, a finger by its handle. Escape puts it back.
 *
 * @param {App} app
 * @param {WindowedList} list of `QueueEntry`
 * @param {HTMLElement} body
 * @param {(items: QueueEntry[] | null) => void} preview shows an order before the room has it; null: the room's
 * @returns {() => void} ends it
 */
export function dragging(app, list, body, preview) {
  stylesheet('queue');
  queue = { list, body };
  const end = draggable(list, body, '.grip', {
    key: (/** @type {QueueEntry} */ entry) => entry.entry,
    isThere: (/** @type {QueueEntry} */ entry) => placeOf(app, entry) >= 0,
    placeOf: (/** @type {QueueEntry} */ entry) => placeOf(app, entry),
    drop: async (/** @type {QueueEntry} */ entry, slot) => {
      const { room } = app.store;
      const track = room?.tracks.get(entry.track);
      const from = placeOf(app, entry);
      const to = slot > from ? slot - 1 : slot;
      if (!room || !track || from < 0 || to === from) return;
      const items = room.queue.filter((other) => other !== room.queue[from]);
      items.splice(to, 0, room.queue[from]);
      preview(items);
      if (!await move(app, entry, track, to)) preview(null);
    },
  });
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    const at = event.altKey && step !== 0 ? list.at(event.target) : null;
    if (!at) return;
    event.preventDefault();
    const track = app.store.room?.tracks.get(at.item.track);
    if (track) move(app, at.item, track, placeOf(app, at.item) + step);
  };
  list.addEventListener('keydown', onKey);
  return () => {
    end();
    list.removeEventListener('keydown', onKey);
    if (queue?.list === list) queue = null;
  };
}

/**
 * Lets a DJ drag tracks of a list into the queue, where that stands beside it. A mouse only: a finger scrolls.
 *
 * @param {App} app
 * @param {WindowedList} list of `Track`
 * @param {HTMLElement} body
 * @returns {() => void} ends it
 */
export function draggingFrom(app, list, body) {
  stylesheet('queue');
  return draggable(list, body, '', {
    key: (/** @type {Track} */ track) => track.track,
    isThere: (/** @type {Track} */ track) => app.store.room?.tracks.has(track.track) ?? false,
    placeOf: () => -1,
    drop: (/** @type {Track} */ track, slot) => enqueue(app, track, slot),
  });
}

/**
 * @typedef {object} Dragged
 * @property {(item: any) => string | number} key
 * @property {(item: any) => boolean} isThere whether it can still be dropped
 * @property {(item: any) => number} placeOf its place in the queue; -1 where it is not in it
 * @property {(item: any, slot: number) => unknown} drop before the entry that is at `slot`
 */

/**
 * @param {WindowedList} list
 * @param {HTMLElement} body
 * @param {string} handle what a finger takes; empty: nothing
 * @param {Dragged} dragged
 */
function draggable(list, body, handle, dragged) {
  /** @type {(() => void) | null} */
  let stop = null;
  const onDown = (/** @type {PointerEvent} */ event) => {
    const at = list.at(event.target);
    if (!at || event.button !== 0 || stop || !(event.target instanceof Element) || event.target.closest('button')) return;
    const byHandle = handle !== '' && event.target.closest(handle) !== null;
    if (event.pointerType === 'touch' && !byHandle) return;
    stop = follow(event, list, at, dragged, () => { stop = null; });
  };
  body.classList.add('can-drag');
  list.addEventListener('pointerdown', onDown);
  return () => {
    stop?.();
    body.classList.remove('can-drag');
    list.removeEventListener('pointerdown', onDown);
  };
}

/**
 * Follows one pointer from its press to its end.
 *
 * @param {PointerEvent} press
 * @param {WindowedList} list
 * @param {{ item: any, row: HTMLElement }} at
 * @param {Dragged} dragged
 * @param {() => void} ended
 * @returns {() => void} puts everything back
 */
function follow(press, list, at, dragged, ended) {
  const box = at.row.getBoundingClientRect();
  const grabbed = { x: press.clientX - box.left, y: press.clientY - box.top };
  const gap = h('div.drop-gap', { hidden: true });
  /** @type {HTMLElement | null} */
  let ghost = null;
  /** @type {HTMLElement | null} */
  let lifted = null;
  let pointer = { x: press.clientX, y: press.clientY };
  let slot = -1;
  let frame = 0;

  const onMove = (/** @type {PointerEvent} */ event) => {
    if (event.pointerId !== press.pointerId) return;
    pointer = { x: event.clientX, y: event.clientY };
    if (!ghost && Math.hypot(pointer.x - press.clientX, pointer.y - press.clientY) < SLACK) return;
    if (!ghost) begin();
    event.preventDefault();
    show();
  };
  const begin = () => {
    ghost = /** @type {HTMLElement} */ (h('div', { 'aria-hidden': 'true', class: `${at.row.className} drag-ghost` }));
    for (const part of at.row.querySelectorAll(':scope > .sleeve, :scope > .names')) ghost.append(part.cloneNode(true));
    ghost.style.setProperty('width', `${Math.min(box.width, 420)}px`);
    document.body.append(ghost);
    document.documentElement.classList.add('is-dragging');
    queue?.list.append(gap);
  };
  const show = () => {
    if (!ghost || !queue || !dragged.isThere(at.item)) return finish(false);
    ghost.style.setProperty('transform', `translate(${pointer.x - Math.min(grabbed.x, 380)}px, ${pointer.y - grabbed.y}px)`);
    const row = list.rowFor(dragged.key(at.item));
    if (row !== lifted) {
      lifted?.classList.remove('lifted');
      row?.classList.add('lifted');
      lifted = row;
    }
    const target = queue.list;
    const into = queue.body.getBoundingClientRect();
    const within = target === list || (pointer.x >= into.left && pointer.x <= into.right && pointer.y >= into.top && pointer.y <= into.bottom);
    const height = target.rowHeight;
    const middle = pointer.y - grabbed.y + height / 2 - target.list.getBoundingClientRect().top;
    const count = Math.round(target.list.getBoundingClientRect().height / height);
    const from = dragged.placeOf(at.item);
    const place = Math.max(0, Math.min(from < 0 ? count : count - 1, Math.floor(middle / height)));
    slot = !within ? -1 : from >= 0 && place > from ? place + 1 : place;
    gap.hidden = slot < 0;
    queue.body.classList.toggle('drop-here', slot >= 0 && count === 0);
    if (slot >= 0) gap.style.setProperty('transform', `translateY(${place * height}px)`);
    for (const { li, index } of target.rows) {
      // The entry's own place closes, and the rows from the gap on make room for it.
      const by = slot < 0 || index === from ? 0 : (from >= 0 && index > from ? -1 : 0) + (index >= slot ? 1 : 0);
      const shift = by === 0 ? '' : `0 ${by * height}px`;
      li.classList.add('makes-room');
      if (li.style.translate !== shift) li.style.translate = shift;
    }
    if (within && speed(target) !== 0 && frame === 0) frame = requestAnimationFrame(scroll);
  };
  /** Closes the gap at once: the list then shows the new order. */
  const close = () => {
    gap.remove();
    for (const { li } of queue?.list.rows ?? []) {
      li.classList.remove('makes-room');
      li.style.translate = '';
    }
  };
  /**
   * Pixels to scroll in a frame; 0 away from the edges.
   *
   * @param {WindowedList} target
   */
  const speed = (target) => {
    const { top, bottom } = target.bounds;
    if (pointer.y < top + EDGE) return -Math.ceil((top + EDGE - pointer.y) / 5);
    if (pointer.y > bottom - EDGE) return Math.ceil((pointer.y - bottom + EDGE) / 5);
    return 0;
  };
  const scroll = () => {
    frame = 0;
    if (!queue || !ghost) return;
    const by = Math.max(-16, Math.min(16, speed(queue.list)));
    const before = queue.list.scroller.scrollTop;
    if (by !== 0) queue.list.scroller.scrollTop += by;
    if (queue.list.scroller.scrollTop !== before) show();
  };
  const finish = (/** @type {boolean} */ drop) => {
    removeEventListener('pointermove', onMove);
    removeEventListener('pointerup', onUp);
    removeEventListener('pointercancel', onCancel);
    removeEventListener('keydown', onKey, true);
    cancelAnimationFrame(frame);
    const wasDragging = ghost !== null;
    ghost?.remove();
    close();
    lifted?.classList.remove('lifted');
    queue?.body.classList.remove('drop-here');
    document.documentElement.classList.remove('is-dragging');
    ghost = null;
    ended();
    if (drop && wasDragging && slot >= 0) dragged.drop(at.item, slot);
  };
  const onUp = (/** @type {PointerEvent} */ event) => { if (event.pointerId === press.pointerId) finish(true); };
  const onCancel = (/** @type {PointerEvent} */ event) => { if (event.pointerId === press.pointerId) finish(false); };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape' || !ghost) return;
    event.preventDefault();
    event.stopPropagation();
    finish(false);
  };
  addEventListener('pointermove', onMove, { passive: false });
  addEventListener('pointerup', onUp);
  addEventListener('pointercancel', onCancel);
  addEventListener('keydown', onKey, true);
  return () => finish(false);
}
