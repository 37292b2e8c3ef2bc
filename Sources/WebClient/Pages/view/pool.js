import { PART } from '../room/room.js';
import { Search } from '../room/search.js';
import { t } from '../text/en.js';
import { adding, watchWait } from './adding.js';
import { announce, duration, h, number, svg, text } from './dom.js';
import { edits, handleTaps, pane, viewOf, whileDJ } from './lists.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/room.js').Track} Track
 */

/** Tracks whose texts are prepared for the search in one piece of idle time. */
const PREPARED_AT_ONCE = 400;

/** The longest query, in UTF-16 units. */
const LONGEST_QUERY = 80;

/**
 * The pane of all tracks of the room, with a search.
 *
 * @param {App} app
 */
export function poolPane(app) {
  const { node, body, list, empty, count } = pane('pool', t.lists.pool);
  const input = /** @type {HTMLInputElement} */ (h('input', {
    type: 'search', 'aria-label': t.pool.find, placeholder: t.pool.find, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false',
    enterkeyhint: 'search', maxlength: LONGEST_QUERY,
  }));
  const clear = h('button.act', { type: 'button', 'aria-label': t.pool.clear, hidden: true }, svg('close'));
  const add = h('button.pill.add', { type: 'button' });
  const note = h('p.pool-note', { hidden: true });
  const tools = h('div.pool-tools', null, h('div.find', null, svg('search'), input, clear), add, note);
  const message = h('p.strong');
  const more = h('p');
  const addHere = h('button.pill', { type: 'button' });
  empty.append(svg('music'), message, more, addHere);
  body.before(tools);
  list.setAttribute('data-search', '');

  const view = viewOf(app, 'pool');
  const shownOf = (/** @type {Track} */ track) => ({ track });
  handleTaps(app, list, (track) => ({ track }));
  const edit = whileDJ(app, (drag) => drag.draggingFrom(app, list, body));
  /** @type {Search | null} */
  let search = null;
  /** @type {import('../room/room.js').Room | null} */
  let searched = null;
  /** @type {Track[] | null} */
  let found = null;
  let query = '';
  let idle = 0;

  const show = (keepPlace = true) => {
    const { room } = app.store;
    if (!room) return;
    const items = found ?? room.pool;
    text(count, found ? t.pool.found(number(found.length), number(room.pool.length)) : room.pool.length > 0 ? number(room.pool.length) : '');
    list.show(items, view(edits(room), shownOf), keepPlace);
    tell(room.pool.length === 0, items.length === 0);
    edit(edits(room));
  };
  /** Looks again: after a new query in what was found, after a change of the pool in all of it. */
  const find = (poolChanged = false) => {
    const { room } = app.store;
    if (!room) return;
    if (!search || searched !== room) {
      search = search ?? new Search(room);
      search.reset(room);
      searched = room;
    } else if (poolChanged) search.reset();
    found = query.trim() === '' ? null : search.find(query);
  };
  const tell = (/** @type {boolean} */ noTracks, /** @type {boolean} */ noneShown) => {
    const { may } = adding(app);
    const isDJ = app.store.room?.isDJ ?? false;
    const mayAdd = may === 'yes';
    empty.hidden = !noneShown;
    tools.hidden = noTracks && may !== 'wait' && may !== 'locked';
    if (!noneShown) return;
    text(message, noTracks ? (isDJ ? t.pool.emptyDJ : mayAdd ? t.onAir.steps.add : t.onAir.steps.wait) : t.pool.none);
    text(more, noTracks ? (isDJ ? t.pool.emptyDJMore : mayAdd ? '' : t.pool.emptyGuestMore) : '');
    more.hidden = more.textContent === '';
    addHere.hidden = !mayAdd;
    addHere.classList.toggle('primary', noTracks);
    text(addHere, noTracks ? (isDJ ? t.pool.addMusic : t.pool.add) : t.pool.addThis(query.trim()));
  };
  /** The button and the sentence by which the viewer may add tracks, or not. */
  const allow = () => {
    const { may, waitMs } = adding(app);
    const isLive = app.store.link.state === 'live';
    const isDJ = app.store.room?.isDJ ?? false;
    add.hidden = may === 'no' || may === 'locked';
    add.disabled = may === 'wait' || !isLive;
    addHere.disabled = !isLive;
    add.classList.toggle('primary', isDJ);
    text(add, isDJ ? t.pool.addMusic : t.pool.add);
    note.hidden = may !== 'wait' && may !== 'locked';
    text(note, may === 'wait' ? t.pool.wait(duration(waitMs + 999)) : may === 'locked' ? t.pool.locked : '');
  };
  /** Prepares the search while nothing else happens, so that the first key is quick. */
  const prepare = (/** @type {number} */ from) => {
    const later = window.requestIdleCallback ?? ((/** @type {() => void} */ callback) => window.setTimeout(callback, 50));
    idle = later(() => {
      if (!app.store.room) return;
      if (!search || searched !== app.store.room) find();
      const next = search?.prepare(from, PREPARED_AT_ONCE) ?? Infinity;
      if (next < app.store.room.pool.length) prepare(next);
    });
  };

  const onInput = () => {
    query = input.value;
    clear.hidden = query === '';
    find();
    list.toTop();
    show(false);
    if (found) announce(t.pool.foundSaid(found.length));
  };
  input.addEventListener('input', onInput);
  // On a phone the keyboard takes half of the screen: what is found is to have the other half.
  input.addEventListener('focus', () => {
    if (matchMedia('(pointer: coarse) and (max-width: 56.1875em) and (min-height: 31.3125em)').matches) setTimeout(() => tools.scrollIntoView({ block: 'start' }), 250);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && input.value !== '') {
      event.preventDefault();
      event.stopPropagation();
      input.value = '';
      onInput();
    } else if (event.key === 'ArrowDown') {
      const button = list.querySelector('button');
      if (button instanceof HTMLElement) {
        event.preventDefault();
        button.focus();
      }
    }
  });
  clear.addEventListener('click', () => {
    input.value = '';
    onInput();
    input.focus();
  });
  add.addEventListener('click', () => app.open('add', {}));
  addHere.addEventListener('click', () => app.open('add', { title: query.trim() }));

  show();
  prepare(0);
  const stopWaiting = watchWait(app, allow);
  const stop = app.store.watch(PART.pool | PART.votes | PART.queue | PART.playback | PART.you | PART.pending | PART.link | PART.room | PART.deck, (/** @type {number} */ changed) => {
    if (changed & PART.pool || searched !== app.store.room) find(true);
    show();
    if (changed & (PART.you | PART.room | PART.link)) allow();
  });
  return {
    node,
    destroy() {
      stop();
      stopWaiting();
      edit(false);
      window.cancelIdleCallback?.(idle);
    },
  };
}
