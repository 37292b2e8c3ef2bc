// Rooms nearby: a list, and a radar without a map.

import { t } from '../text/en-more.js';
import { choice } from './controls.js';
import { isolated, sentenceOf } from './dialog.js';
import { h, keyed, stylesheet, svg, text } from './dom.js';
import { whereAmI } from './place.js';
import { distance, radar } from './radar.js';
import { sleeve } from './sleeve.js';
import { trending } from './trending.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../wire/messages').NearbyRoom} NearbyRoom
 */

/** Radii to choose from, in metres; the last one is half of the earth's circumference. */
const RADII = [1000, 5000, 25_000, 20_037_508];

/**
 * The screen `/nearby`. The place is asked for on a tap only, after a sentence that says why.
 *
 * @param {App} app
 * @returns {{node: HTMLElement, destroy: () => void}}
 */
export function nearbyScreen(app) {
  const style = Promise.all([stylesheet('dialogs'), stylesheet('statistics')]);
  const node = h('main.nearby', { hidden: true, 'aria-labelledby': 'nearby-title' });
  style.then(() => { node.hidden = false; });
  /** @type {{lat: number, lon: number} | null} */
  let place = null;
  let radius = 5000;
  /** @type {readonly NearbyRoom[]} */
  let rooms = [];
  /** @type {import('../wire/nearby.js').NearbyState} */
  let state = { state: 'connecting' };
  /** @type {import('../wire/nearby.js').Trends | null} */
  let trends = null;
  let answered = false;
  /** @type {(() => void) | null} */
  let stop = null;
  let gone = false;

  const note = h('p.nearby-note', { role: 'status' });
  const enter = h('a.pill', { href: '/', hidden: true, onclick: (/** @type {Event} */ event) => { event.preventDefault(); app.go('/'); } }, t.nearby.enterCode);
  const use = h('button.pill.primary', { type: 'button', onclick: () => ask() }, svg('place'), t.nearby.use);
  const intro = h('section.nearby-intro', null,
    h('div.nearby-picture', { 'aria-hidden': 'true' }, h('i'), h('i'), h('i')),
    h('p', null, t.nearby.why), note, h('div.buttons.centred', null, use, enter));

  const chooser = choice(RADII.map((of) => [String(of), of > 1_000_000 ? t.nearby.world : distance(of)]), String(radius), (value) => {
    radius = Number(value);
    search();
  });
  chooser.node.setAttribute('aria-label', t.nearby.radius);
  const shown = radar((id) => mark(id, true), (id) => {
    const row = list.querySelector(`[data-room="${id}"]`);
    if (row instanceof HTMLElement) {
      row.scrollIntoView({ block: 'nearest', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' });
      row.focus({ preventScroll: true });
    }
  });
  const list = h('ol.nearby-list', { 'aria-label': t.nearby.title });
  const found = h('p.nearby-found', { role: 'status' });
  const start = h('button.pill.primary', { type: 'button', onclick: () => app.open('start-room') }, t.home.start);
  const nobody = h('div.nearby-nobody', { hidden: true }, h('p', null, t.nearby.nobody), start);
  const anew = h('div.buttons.centred', { hidden: true }, h('button.pill.primary', { type: 'button', onclick: () => app.startAgain() }, t.link.startAgain));
  const songs = trending();
  const results = h('section.nearby-results', { hidden: true }, shown.node,
    h('div.nearby-side', null, chooser.node, found, anew, list, nobody, songs.node));

  node.append(
    h('div.nearby-tint', { 'aria-hidden': 'true' }),
    h('header.screen-head', null,
      h('a.round', { href: '/', 'aria-label': t.nearby.back, onclick: (/** @type {Event} */ event) => { event.preventDefault(); app.go('/'); } }, svg('back')),
      h('h1', { id: 'nearby-title' }, t.nearby.title)),
    intro, results);

  /**
   * Marks a room in the list and on the radar, or takes the mark away.
   *
   * @param {string | null} id
   * @param {boolean} on
   */
  function mark(id, on) {
    shown.mark(on ? id : null);
    for (const row of list.querySelectorAll('.marked')) row.classList.remove('marked');
    if (on && id !== null) list.querySelector(`[data-room="${id}"]`)?.classList.add('marked');
  }
  for (const [type, on] of /** @type {const} */ ([['pointerover', true], ['pointerleave', false], ['focusin', true], ['focusout', false]])) {
    list.addEventListener(type, (/** @type {Event} */ event) => {
      const row = event.target instanceof Element ? event.target.closest('[data-room]') : null;
      mark(row instanceof HTMLElement ? row.dataset.room ?? null : null, on);
    });
  }
  list.addEventListener('click', (/** @type {MouseEvent} */ event) => {
    const row = event.target instanceof Element ? event.target.closest('a') : null;
    if (!row || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    app.go(row.pathname);
  });

  async function ask() {
    use.disabled = true;
    enter.hidden = true;
    text(note, t.nearby.locating);
    try {
      place = await whereAmI();
      if (gone) return;
      intro.hidden = true;
      results.hidden = false;
      search();
      /** @type {HTMLElement | null} */ (chooser.node.querySelector('input:checked'))?.focus({ preventScroll: true });
    } catch (error) {
      text(note, /** @type {Error} */ (error).message);
      enter.hidden = false;
    } finally {
      use.disabled = false;
    }
  }

  function search() {
    stop?.();
    stop = null;
    if (!place || gone) return;
    answered = false;
    rooms = [];
    trends = null;
    state = { state: 'connecting' };
    stop = app.nearby({ ...place, radiusMeters: radius }, (now, how, played) => {
      rooms = now ?? [];
      trends = played ?? null;
      state = how;
      answered ||= how.state === 'live';
      render();
    });
    render();
  }

  function render() {
    if (!place) return;
    const words = state.state === 'refused' || state.state === 'ended' ? sentenceOf(state)
      : state.state === 'waiting' ? (answered ? t.link.reconnecting : t.link.connecting)
        : !answered ? t.nearby.searching
          : rooms.length === 0 ? '' : t.nearby.found(rooms.length);
    text(found, words);
    // Another try at an address that is not private ends in the same way.
    anew.hidden = state.state !== 'ended' || state.code === 'insecure';
    nobody.hidden = !answered || rooms.length > 0 || !anew.hidden;
    keyed(list, rooms, (room) => room.id, makeRow, fillRow);
    shown.show(place, radius, rooms);
    songs.show(rooms.length > 0 ? trends : null);
  }

  return {
    node,
    destroy: () => {
      gone = true;
      stop?.();
    },
  };
}

/**
 * A row without a room.
 *
 * @param {NearbyRoom} room
 */
function makeRow(room) {
  return h('li', null, h('a.nearby-row', { href: `/r/${room.code}`, dataset: { room: room.id } },
    h('span.nearby-sleeve', { 'aria-hidden': 'true' }),
    h('span.names', null, h('bdi.title', { dir: 'auto' }), h('span.second', { dir: 'auto' })),
    h('span.nearby-end', null, h('span.nearby-far'), h('span.second'))));
}

/**
 * Fills a row.
 *
 * @param {HTMLElement} row
 * @param {NearbyRoom} room
 */
function fillRow(row, room) {
  const [face, names, end] = /** @type {any} */ (row.firstElementChild).children;
  text(names.firstElementChild, room.name);
  const song = room.nowPlaying;
  const looks = song ? `${song.title}\n${song.artist ?? ''}` : '';
  if (face.dataset.of !== looks) {
    face.dataset.of = looks;
    face.replaceChildren(song ? sleeve(song) : svg('music'));
    if (song) names.lastElementChild.replaceChildren(...(song.artist ? [h('bdi', song.title), ' — ', h('bdi', song.artist)] : [h('bdi', song.title)]));
  }
  if (!song) text(names.lastElementChild, room.djName ? t.home.dj(isolated(room.djName)) : t.onAir.nothing);
  text(end.firstElementChild, distance(room.distanceMeters));
  text(end.lastElementChild, room.listeners > 0 ? t.nearby.here(room.listeners) : '');
}
