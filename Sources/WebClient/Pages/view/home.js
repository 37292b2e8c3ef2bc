// The start page: a code to enter, a room to start, and the rooms that are open.

import { t } from '../text/en-more.js';
import { codeForm, waysOn } from './code-form.js';
import { isolated, sentenceOf } from './dialog.js';
import { h, keyed, number, stylesheet, svg, text } from './dom.js';
import { sleeve, sleeveHues } from './sleeve.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {{ id: string, code: string, name: string, listeners: number, djName?: string, role?: 'owner' | 'dj' | 'guest',
 *   nowPlaying?: { title: string, artist?: string } }} Summary
 */

/** Rooms of one page of the listing. */
const PAGE = 24;

/** The rooms of one's own that are shown at first. */
const OWN_AT_FIRST = 6;

/** A pause in typing after which rooms are looked for, in ms. */
const PAUSE = 250;

/** Rooms that are older than this are loaded again when the page is seen again, in ms. */
const FRESH = 20_000;

/** Songs whose sleeves adorn the page where too few rooms play anything. */
const ADORNING = [
  { title: 'Maré Alta', artist: 'Linha Azul' }, { title: 'Warm Machines', artist: 'Dora & the Tides' }, { title: 'Salt Horizon', artist: 'Amber Room' },
  { title: 'Golden Machines', artist: 'Moss' }, { title: 'Broken Fever', artist: 'Amber Room' }, { title: 'Second Parade', artist: 'Zonda' },
];

/** When a new session was made in place of one that had ended. */
let renewedAt = -Infinity;

/**
 * The screen `/`.
 *
 * @param {App} app
 * @returns {{ node: HTMLElement, destroy: () => void }}
 */
export function homeScreen(app) {
  const node = h('main.home', { hidden: true });
  const enter = codeForm(app);
  const collage = h('div.collage', { 'aria-hidden': 'true' });
  const top = h('header.home-top', null,
    h('span.wordmark', null, svg('bars'), h('span', null, 'Backline')),
    h('button.round', { type: 'button', 'aria-label': t.menu.preferences, onclick: () => app.open('preferences') }, svg('theme')));
  const own = roomList('home-own', t.home.yours);
  const allOwn = h('button.pill', { type: 'button', hidden: true });
  own.head.append(allOwn);
  const open = roomList('home-open', t.home.rooms);
  const query = /** @type {HTMLInputElement} */ (h('input', { type: 'search', 'aria-label': t.home.search, placeholder: t.home.search, autocomplete: 'off', spellcheck: 'false', maxlength: 80 }));
  const find = h('div.find', { hidden: true }, svg('search'), query);
  const told = h('p.home-told', { role: 'status' });
  const again = h('button.pill', { type: 'button', hidden: true, onclick: () => load() }, t.home.again);
  const more = h('button.pill', { type: 'button', hidden: true, onclick: () => loadMore() }, t.home.more);
  open.head.append(find);
  open.node.append(told, h('div.home-more', null, again, more));
  node.append(h('div.home-tint', { 'aria-hidden': 'true' }), top,
    h('section.hero', null, collage, h('div.hero-words', null, h('h1', null, t.home.title), h('p.lead', null, t.home.lead), enter)),
    waysOn(app), own.node, open.node);

  /** @type {Summary[]} */
  let rooms = [];
  /** The rooms in which this person is a member. */
  let mine = new Set();
  /** @type {string | undefined} */
  let next;
  /** The newest request: answers to earlier ones are dropped. */
  let asked = 0;
  let loadedAt = -Infinity;
  let gone = false;
  let timer = 0;

  const showRooms = () => {
    const searches = query.value.trim() !== '';
    // One's own rooms stand above already.
    const others = searches ? rooms : rooms.filter((room) => !mine.has(room.id));
    open.show(others);
    open.node.hidden = others.length === 0 && rooms.length > 0 && !searches && next === undefined;
    find.hidden = rooms.length < 6 && query.value === '' && next === undefined;
    more.hidden = next === undefined;
    again.hidden = true;
    text(told, rooms.length > 0 || next !== undefined ? '' : searches ? t.home.noMatch : t.home.noRooms);
  };
  const showOwn = (/** @type {Summary[]} */ members, /** @type {boolean} */ all) => {
    own.show(all ? members : members.slice(0, OWN_AT_FIRST));
    allOwn.hidden = all || members.length <= OWN_AT_FIRST;
    text(allOwn, t.home.allYours(number(members.length)));
    allOwn.onclick = () => {
      showOwn(members, true);
      const next = own.list.children[OWN_AT_FIRST]?.querySelector('a');
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
    };
  };
  const page = (/** @type {string | undefined} */ cursor) => {
    const q = query.value.trim();
    const fields = [`limit=${PAGE}`, cursor === undefined ? '' : `cursor=${encodeURIComponent(cursor)}`, q === '' ? '' : `q=${encodeURIComponent(q)}`];
    return app.http.request('GET', `/v1/rooms?${fields.filter(Boolean).join('&')}`);
  };
  /** Loads the first page, and one's own rooms with it. */
  const load = async () => {
    const turn = (asked += 1);
    try {
      await app.session();
      const [listed, members] = await Promise.all([page(undefined), query.value === '' ? ownRooms(app) : null]);
      if (gone || turn !== asked) return;
      rooms = listed.rooms;
      next = listed.next ?? undefined;
      loadedAt = performance.now();
      if (members) {
        mine = new Set(members.map((room) => room.id));
        showOwn(members, false);
      }
      showRooms();
      if (query.value === '') adorn(collage, [...rooms].sort((a, b) => b.listeners - a.listeners));
    } catch (refusal) {
      if (gone || turn !== asked) return;
      const { code: why } = /** @type {{ code?: string }} */ (refusal);
      // The browser's note of a session is out of date: begin anew, but not again and again.
      if (why === 'unauthorized' && performance.now() - renewedAt > FRESH) {
        renewedAt = performance.now();
        app.startAgain();
        return;
      }
      text(told, why === undefined || why === 'offline' ? t.home.offline : sentenceOf(refusal));
      again.hidden = false;
      more.hidden = true;
    }
  };
  const loadMore = async () => {
    const turn = (asked += 1);
    more.disabled = true;
    const known = open.list.children.length;
    try {
      const listed = await page(next);
      if (gone || turn !== asked) return;
      const seen = new Set(rooms.map((room) => room.id));
      rooms = [...rooms, ...listed.rooms.filter((/** @type {Summary} */ room) => !seen.has(room.id))];
      next = listed.next ?? undefined;
      showRooms();
      const first = open.list.children[known]?.querySelector('a');
      if (more.hidden && first instanceof HTMLElement) first.focus({ preventScroll: true });
    } catch (refusal) {
      app.refused(refusal);
    } finally {
      more.disabled = false;
    }
  };

  query.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(load, PAUSE);
  });
  const onVisible = () => {
    if (!document.hidden && performance.now() - loadedAt > FRESH && rooms.length <= PAGE) load();
  };
  document.addEventListener('visibilitychange', onVisible);
  own.show([]);
  adorn(collage, []);
  stylesheet('home').then(() => {
    node.hidden = false;
    if (!gone && matchMedia('(pointer: fine)').matches && document.activeElement === document.body) enter.querySelector('input')?.focus({ preventScroll: true });
  });
  load();
  return {
    node,
    destroy() {
      gone = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    },
  };
}

/**
 * The rooms in which this session is a member; null where the server does not tell.
 *
 * @param {App} app
 * @returns {Promise<Summary[] | null>}
 */
async function ownRooms(app) {
  try {
    return (await app.http.request('GET', '/v1/session/rooms')).rooms;
  } catch (refusal) {
    if (/** @type {{ code?: string }} */ (refusal).code === 'offline') throw refusal;
    return null;
  }
}

/**
 * A headline and cards of rooms, hidden while there are none of one's own.
 *
 * @param {string} id
 * @param {string} title
 */
function roomList(id, title) {
  const list = h('ul.room-cards', { role: 'list' });
  const head = h('div.home-head', null, h('h2', { id }, title));
  const node = h('section.home-rooms', { id: `${id}-section`, 'aria-labelledby': id }, head, list);
  const show = (/** @type {Summary[]} */ rooms) => {
    keyed(list, rooms, (room) => room.id, roomCard, fillCard);
    list.hidden = rooms.length === 0;
    if (id === 'home-own') node.hidden = rooms.length === 0;
  };
  return { node, head, list, show };
}

/**
 * A card without content.
 *
 * @param {Summary} room
 */
function roomCard(room) {
  return h('li', null, h('a.room-card', { href: `/r/${room.code}` },
    h('span.face'), h('span.words', null, h('bdi.name'), h('span.playing', { dir: 'auto' }), h('span.about', null, h('span.online'), h('span.with', { dir: 'auto' }))),
    h('span.role')));
}

/**
 * @param {HTMLElement} card
 * @param {Summary} room
 */
function fillCard(card, room) {
  const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (card.querySelector(`.${name}`));
  const playing = room.nowPlaying;
  const face = part('face');
  const shows = playing ? `${playing.title}\n${playing.artist ?? ''}` : '';
  if (face.dataset.shows !== shows) {
    face.dataset.shows = shows;
    face.replaceChildren(playing ? sleeve(playing) : h('span.sleeve.bare', null, svg('bars')));
    part('playing').replaceChildren(...(playing?.artist ? [h('bdi', playing.title), ' · ', h('bdi', playing.artist)] : [playing ? h('bdi', playing.title) : t.onAir.nothing]));
  }
  text(part('name'), room.name);
  part('playing').classList.toggle('quiet', !playing);
  text(part('online'), t.home.listeners(room.listeners, number(room.listeners)));
  part('online').classList.toggle('nobody', room.listeners === 0);
  text(part('with'), room.djName ? t.home.dj(isolated(room.djName)) : '');
  text(part('role'), room.role && room.role !== 'guest' ? t.home.roles[room.role] : '');
}

/**
 * Hangs sleeves of what the rooms play beside the headline, and takes the page's hues from the first.
 *
 * @param {HTMLElement} collage
 * @param {Summary[]} rooms
 */
function adorn(collage, rooms) {
  const titles = new Set();
  const songs = [];
  for (const song of [...rooms.flatMap((room) => room.nowPlaying ?? []), ...ADORNING]) {
    if (titles.has(song.title) || songs.length === 6) continue;
    titles.add(song.title);
    songs.push(song);
  }
  const shows = songs.map((song) => song.title).join('\n');
  if (collage.dataset.shows === shows) return;
  collage.dataset.shows = shows;
  collage.replaceChildren(...songs.map((song) => sleeve(song)));
  const [a, b] = sleeveHues(songs[0]);
  document.body.style.setProperty('--hue-a', String(a));
  document.body.style.setProperty('--hue-b', String(b));
}
