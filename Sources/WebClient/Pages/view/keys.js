// Keys: what they do, and the list of them.

import { t } from '../text/en-more.js';
import { dialog } from './dialog.js';
import { h, keyOf } from './dom.js';

/** @typedef {import('./dom.js').App} App */

/**
 * Opens the list.
 *
 * @param {App} app
 */
export function open(app) {
  /**
   * @param {string[]} names
   * @param {string} does
   */
  const line = (names, does) => h('div.key-line', null, h('dt', null, names.map((name) => h('kbd', null, name))), h('dd', null, does));
  const isDJ = app.store.room?.isDJ === true;
  return dialog({
    title: t.menu.keys,
    body: h('div', null,
      h('dl.keys', null,
        isDJ ? [line([t.keys.space], t.keys.toggle), line(['N'], t.keys.next)] : null,
        line(['/'], t.keys.search),
        line(['1', '2', '3'], t.keys.panes),
        line(['↑', '↓'], t.keys.rows),
        line(['Esc'], t.keys.close),
        line(['?'], t.keys.list)),
      h('p.setting-about', null, app.preferences.keys ? t.keys.canTurnOff : t.keys.areOff)),
  });
}

/**
 * Does what a key asks for that nothing else takes.
 *
 * @param {App} app
 * @param {KeyboardEvent} event
 */
export function handleKey(app, event) {
  if (act(app, keyOf(event))) event.preventDefault();
}

/**
 * @param {App} app
 * @param {string} key
 * @returns {boolean} whether the key did something
 */
function act(app, key) {
  const isDJ = app.store.room?.isDJ === true && app.store.room.closedAt === undefined;
  switch (key) {
    case '?':
      app.open('keys');
      return true;
    case ' ':
      if (isDJ) import('./transport.js').then((deck) => deck.togglePlay(app), app.refused);
      return isDJ;
    case 'n':
      if (isDJ) import('./transport.js').then((deck) => deck.skip(app), app.refused);
      return isDJ;
    case '/':
      return search();
    case '1':
    case '2':
    case '3':
      return pane(Number(key) - 1) !== null;
  }
  return false;
}

/**
 * Whether an element is shown.
 *
 * @param {Element} node
 */
const isShown = (node) => node.getClientRects().length > 0;

/**
 * Goes to a pane: by its tab, or, where panes stand side by side, by the focus.
 *
 * @param {number} index from the left
 * @returns {Element | null} null where there is none
 */
function pane(index) {
  const tab = [...document.querySelectorAll('[role=tab]')].filter(isShown)[index];
  if (tab instanceof HTMLElement) {
    tab.click();
    tab.focus();
    return tab;
  }
  const place = [...document.querySelectorAll('[data-pane]')].filter(isShown)[index];
  if (!place) return null;
  const inside = place.querySelector('track-list button') ?? place.querySelector('track-list ol, button');
  if (inside instanceof HTMLElement) inside.focus();
  return place;
}

/** Goes to the field that finds a song; opens its pane first, which may have to be loaded. */
function search() {
  const field = () => [...document.querySelectorAll('main input[type=search], #page input[type=search]')].find(isShown);
  const go = () => {
    const found = field();
    if (!(found instanceof HTMLInputElement)) return false;
    found.focus();
    found.select();
    return true;
  };
  if (go()) return true;
  const tabs = [...document.querySelectorAll('[role=tab]')].filter(isShown);
  const last = tabs.at(-1);
  if (!(last instanceof HTMLElement)) return false;
  const seen = new MutationObserver(() => { if (go()) seen.disconnect(); });
  seen.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['hidden'] });
  setTimeout(() => seen.disconnect(), 3000);
  last.click();
  if (go()) seen.disconnect();
  return true;
}
