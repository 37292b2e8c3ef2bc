import { PART, standingOf, startTimes } from '../room/room.js';
import { isolated, t } from '../text/en.js';
import { duration, h, number, svg, text } from './dom.js';
import { nameOf } from './names.js';
import { marks, sleeve } from './sleeve.js';
import './windowed-list.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/room.js').Track} Track
 * @typedef {import('../room/room.js').QueueEntry} QueueEntry
 * @typedef {import('./windowed-list.js').WindowedList} WindowedList
 * @typedef {'request' | 'entry' | 'pool'} Kind which list a row stands in
 */

/**
 * What a track's row shows.
 *
 * @typedef {object} Shown
 * @property {Track} track
 * @property {number} [rank]
 * @property {string} [when] when it starts; else its length is shown
 * @property {string} [by] the person who added it
 */

/**
 * @typedef {object} Parts of a row
 * @property {Track | null} track the one that the row's sleeve shows
 * @property {HTMLElement | null} rank
 * @property {HTMLElement} sleeve
 * @property {HTMLElement} title
 * @property {HTMLElement} artist
 * @property {HTMLElement} second the line that the artist stands in
 * @property {HTMLElement} when
 * @property {HTMLElement | null} by
 * @property {HTMLElement | null} vote
 * @property {HTMLElement | null} votes
 * @property {HTMLElement[]} named buttons whose names have the title
 * @property {HTMLElement} [mark] what is said of its track
 */

/** @type {WeakMap<HTMLElement, Parts>} */
const partsOf = new WeakMap();

let panes = 0;

/**
 * A pane: a headline with a count, and a body that scrolls where panes stand side by side.
 *
 * @param {string} kind as in `data-pane`
 * @param {string} title
 */
export function pane(kind, title) {
  const id = `pane-${(panes += 1)}`;
  const count = h('span.count');
  const list = /** @type {WindowedList} */ (h('track-list'));
  list.list.setAttribute('aria-labelledby', id);
  const empty = h('div.empty', { hidden: true });
  const body = h('div.pane-body', null, list, empty);
  const node = h('section.pane', { 'data-pane': kind, 'aria-labelledby': id }, h('header.pane-head', null, h('h2', { id }, title), count), body);
  return { node, body, list, empty, count };
}

/**
 * A new row for tracks, without content.
 *
 * @param {Kind} kind
 * @param {boolean} isDJ whether it has what changes the queue
 */
export function trackRow(kind, isDJ) {
  const rank = kind === 'request' ? h('span.rank', { 'aria-hidden': 'true' }) : null;
  const face = h('span.sleeve', { 'aria-hidden': 'true' });
  const title = h('bdi.title');
  const artist = h('bdi.artist');
  const when = h('span.when');
  const by = kind === 'entry' ? h('span.by') : null;
  const votes = kind === 'entry' ? null : h('span.votes');
  const vote = kind === 'entry' ? null : h('button.vote', { type: 'button', 'data-do': 'vote', 'aria-pressed': 'false' }, svg('tick'), svg('up'), votes);
  const enqueue = isDJ && kind !== 'entry' ? h('button.act.enqueue', { type: 'button', 'data-do': 'enqueue' }, svg('plus')) : null;
  const more = isDJ && kind !== 'request' ? h('button.act.more', { type: 'button', 'data-do': 'more', 'aria-haspopup': 'dialog' }, svg('dots')) : null;
  const grip = isDJ && kind === 'entry' ? h('span.grip', { 'aria-hidden': 'true' }, svg('grip')) : null;
  const main = h('span.main', null, artist, when);
  const second = h('span.second', null, main, by);
  const row = h(`li.row.${kind}`, null, rank, face, h('span.names', null, title, second), vote, enqueue, more, grip);
  const named = [enqueue, more].filter((button) => button !== null);
  partsOf.set(row, { track: null, rank, sleeve: face, title, second: main, artist, when, by, vote, votes, named: /** @type {HTMLElement[]} */ (named) });
  return row;
}

/**
 * Fills a track's row.
 *
 * @param {App} app
 * @param {HTMLElement} row
 * @param {Shown} shown
 * @param {boolean} withAlbum
 */
export function fillRow(app, row, shown, withAlbum = false) {
  const parts = partsOf.get(row);
  if (!parts) return;
  const { track } = shown;
  if (parts.track !== track) {
    const face = sleeve(track);
    parts.sleeve.dataset.cut = face.dataset.cut;
    parts.sleeve.style.cssText = face.style.cssText;
    parts.track = track;
    text(parts.title, track.title);
    if (withAlbum && track.artist && track.album) parts.artist.replaceChildren(h('bdi', track.artist), ' — ', h('bdi', track.album));
    else text(parts.artist, track.artist ?? '');
    for (const button of parts.named) {
      button.setAttribute('aria-label', button.dataset.do === 'enqueue' ? t.lists.enqueueNamed(track.title) : t.lists.moreNamed(track.title));
    }
  }
  const mark = marks.of?.(track) || (track.missing ? t.lists.missing : '');
  row.classList.toggle('away', mark !== '');
  if (mark && !parts.mark) parts.second.prepend(parts.mark = h('span.mark'));
  if (parts.mark) text(parts.mark, mark);
  if (parts.rank) text(parts.rank, String(shown.rank ?? ''));
  const after = shown.when ?? (track.durationMs ? duration(track.durationMs) : '');
  text(parts.when, after && (track.artist || mark) ? ` · ${after}` : after);
  if (parts.by) text(parts.by, shown.by ?? '');
  if (parts.vote && parts.votes) fillVote(app, parts.vote, parts.votes, track);
}

/**
 * @param {App} app
 * @param {HTMLElement} vote
 * @param {HTMLElement} votes
 * @param {Track} track
 */
function fillVote(app, vote, votes, track) {
  const { count, mine, pending } = app.store.votesOf(track);
  const standing = app.store.room ? standingOf(app.store.room, track.track) : null;
  // What plays or waits cannot be asked for: its button, which may have the focus, stays and says so.
  const isClosed = app.store.room?.closedAt !== undefined;
  vote.classList.toggle('standing', standing !== null || isClosed);
  const where = standing === null || isClosed ? null : t.lists.standing(standing);
  text(votes, where ? where[0] : count > 0 ? number(count) : '');
  set(vote, 'aria-pressed', where || isClosed ? null : String(mine));
  set(vote, 'aria-label', where ? `${track.title}, ${where[1]}` : t.lists.vote(track.title, count));
  set(vote, 'aria-busy', pending ? 'true' : null);
  set(vote, 'aria-disabled', where || !mayVote(app) ? 'true' : null);
}

/**
 * Sets or removes an attribute, where it differs.
 *
 * @param {HTMLElement} node
 * @param {string} name
 * @param {string | null} value
 */
function set(node, name, value) {
  if (node.getAttribute(name) === value) return;
  if (value === null) node.removeAttribute(name);
  else node.setAttribute(name, value);
}

/**
 * Whether votes can be sent now.
 *
 * @param {App} app
 */
function mayVote(app) {
  return app.store.link.state === 'live' && app.store.room?.closedAt === undefined;
}

/**
 * Votes for a track, or withdraws the vote.
 *
 * @param {App} app
 * @param {Track} track
 */
export function vote(app, track) {
  app.store.toggleVote(track).catch((refusal) => {
    // Somebody has queued or played it at the same moment.
    if (refusal?.code === 'conflict') app.toast(t.lists.late);
    else app.refused(refusal);
  });
}

/**
 * Handles the taps on a list's rows, all in one place.
 *
 * @param {App} app
 * @param {WindowedList} list
 * @param {(item: any) => { track: Track, entry?: QueueEntry }} trackOf
 */
export function handleTaps(app, list, trackOf) {
  list.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    const at = button && list.at(button);
    if (!button || !at || button.getAttribute('aria-disabled') === 'true') return;
    const { track, entry } = trackOf(at.item);
    switch (button.dataset.do) {
      case 'vote':
        vote(app, track);
        break;
      case 'enqueue':
        app.load(() => import('./queue-edit.js')).then((edit) => edit?.enqueue(app, track));
        break;
      case 'more':
        app.load(() => import('./queue-edit.js')).then((edit) => edit?.openMenu(app, button, track, entry));
        break;
    }
  });
}

/**
 * Whether the viewer changes the queue and the pool of a room.
 *
 * @param {import('../room/room.js').Room} room
 */
export function edits(room) {
  return room.isDJ && room.closedAt === undefined;
}

/**
 * Adds what a DJ can do with a list by pointer and keys, and takes it away from others.
 *
 * @param {App} app
 * @param {(drag: typeof import('./queue-drag.js')) => () => void} begin returns what ends it
 */
export function whileDJ(app, begin) {
  let is = false;
  /** @type {(() => void) | null} */
  let end = null;
  return (/** @type {boolean} */ isDJ) => {
    if (isDJ === is) return;
    is = isDJ;
    end?.();
    end = null;
    if (isDJ) app.load(() => import('./queue-drag.js')).then((drag) => { if (drag && is && !end) end = begin(drag); });
  };
}

/**
 * What stands in the place of a list without rows; it is loaded when a list has none.
 *
 * @param {App} app
 * @param {'requests' | 'queue'} kind
 * @param {HTMLElement} place
 */
function emptyList(app, kind, place) {
  /** @type {((room: import('../room/room.js').Room) => void) | null} */
  let fill = null;
  let isLoading = false;
  return (/** @type {import('../room/room.js').Room} */ room, /** @type {boolean} */ isEmpty) => {
    place.hidden = !isEmpty;
    if (!isEmpty) return;
    fill?.(room);
    if (fill || isLoading) return;
    isLoading = true;
    app.load(() => import('./empty-list.js')).then((loaded) => {
      isLoading = false;
      fill = loaded?.emptyList(app, kind, place) ?? null;
      if (app.store.room) fill?.(app.store.room);
    });
  };
}

/**
 * The pane of the tracks that people have voted for, most votes first.
 *
 * @param {App} app
 */
export function requestsPane(app) {
  const { node, body, list, empty, count } = pane('requests', t.lists.requests);
  list.setAttribute('glide', '');
  const without = emptyList(app, 'requests', empty);
  const view = viewOf(app, 'request');
  handleTaps(app, list, (track) => ({ track }));
  const edit = whileDJ(app, (drag) => drag.draggingFrom(app, list, body));
  const show = () => {
    const { room } = app.store;
    if (!room) return;
    text(count, room.requests.length > 0 ? number(room.requests.length) : '');
    without(room, room.requests.length === 0);
    list.show(room.requests, view(edits(room), (track, index) => ({ track, rank: index + 1 })));
    edit(edits(room));
  };
  show();
  const stop = app.store.watch(PART.votes | PART.queue | PART.playback | PART.pool | PART.you | PART.pending | PART.link | PART.room | PART.deck, show);
  return {
    node,
    destroy() {
      stop();
      edit(false);
    },
  };
}

/**
 * Returns what gives the rows of a list: the same rows for as long as the viewer's role stays.
 *
 * @param {App} app
 * @param {Kind} kind
 */
export function viewOf(app, kind) {
  /** @type {import('./windowed-list.js').RowView<any> & { isDJ: boolean } | null} */
  let view = null;
  return (/** @type {boolean} */ isDJ, /** @type {(item: any, index: number) => Shown | null} */ shownOf) => {
    if (view?.isDJ !== isDJ) {
      view = {
        isDJ,
        key: kind === 'entry' ? (entry) => entry.entry : (track) => track.track,
        make: () => trackRow(kind, isDJ),
        update: (row, item, index) => {
          const shown = shownOf(item, index);
          if (shown) fillRow(app, row, shown, kind === 'pool');
        },
      };
    }
    return view;
  };
}

/**
 * The pane of the entries that wait to be played, with the time of each.
 *
 * @param {App} app
 */
export function queuePane(app) {
  const { node, body, list, empty, count } = pane('queue', t.lists.queue);
  list.setAttribute('glide', '');
  const without = emptyList(app, 'queue', empty);
  const view = viewOf(app, 'entry');
  /** @type {(number | null)[]} */
  let starts = [];
  /** @type {number | undefined} */
  let timer;
  /** @type {{ items: QueueEntry[], of: QueueEntry[] } | null} */
  let preview = null;

  const shownOf = (/** @type {QueueEntry} */ entry, /** @type {number} */ index) => {
    const { room } = app.store;
    const track = room?.tracks.get(entry.track);
    const member = room?.members.get(entry.addedBy ?? 0);
    const start = starts[index];
    return track ? {
      track,
      when: start === null || start === undefined ? '' : soon(start),
      by: room && member && member.member !== room.you?.member ? t.lists.addedBy(isolated(nameOf(room, member))) : '',
    } : null;
  };
  const show = () => {
    const { room } = app.store;
    if (!room) return;
    if (preview && preview.of !== room.queue) preview = null;
    const items = preview ? preview.items : room.queue;
    starts = room.closedAt === undefined ? startTimes(room, app.store.clock.now()) : [];
    text(count, items.length > 0 ? number(items.length) : '');
    without(room, items.length === 0);
    // Where its rows hold nothing that takes the focus, the list does, to be scrolled by keys.
    list.list.tabIndex = !edits(room) && items.length > 0 ? 0 : -1;
    list.show(items, view(edits(room), shownOf));
    wake();
    edit(edits(room));
  };
  /** Shows the times again at the next whole minute of the server's clock, while they pass. */
  const wake = () => {
    clearTimeout(timer);
    timer = undefined;
    const { room } = app.store;
    if (document.hidden || !room || room.closedAt !== undefined || room.queue.length === 0 || room.playback.status !== 'playing') return;
    timer = setTimeout(show, 60_000 - (app.store.clock.now() % 60_000) + 50);
  };
  const edit = whileDJ(app, (drag) => drag.dragging(app, list, body, (items) => {
    preview = items && app.store.room ? { items, of: app.store.room.queue } : null;
    list.removeAttribute('glide');
    show();
    list.setAttribute('glide', '');
  }));
  const onVisible = () => (document.hidden ? wake() : show());
  document.addEventListener('visibilitychange', onVisible);
  handleTaps(app, list, (entry) => ({ track: /** @type {Track} */ (app.store.room?.tracks.get(entry.track)), entry }));
  show();
  const stop = app.store.watch(PART.queue | PART.playback | PART.pool | PART.votes | PART.members | PART.you | PART.room | PART.link | PART.deck, show);
  return {
    node,
    destroy() {
      stop();
      clearTimeout(timer);
      edit(false);
      document.removeEventListener('visibilitychange', onVisible);
    },
  };
}

/**
 * The time until a start, in plain words.
 *
 * @param {number} ms
 */
function soon(ms) {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return t.lists.inAMoment;
  return minutes < 60 ? t.lists.inMinutes(minutes) : t.lists.inHours(Math.floor(minutes / 60), minutes % 60);
}
