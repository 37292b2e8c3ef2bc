// A list of songs with a number each: as ranks, or in the order of time.

import { h, keyed, text } from './dom.js';
import { sleeve } from './sleeve.js';

/**
 * @typedef {{key: string | number, title: string, artist?: string, second?: string, amount?: string, unit?: string, part?: number}} Song
 *   `amount` with its `unit` stands at the end; `part`, 0 … 1, is drawn as a line
 */

/**
 * A list with a heading, and a sentence where it is empty.
 *
 * @param {{name: string, about?: string, ranks?: boolean, level?: 2 | 3}} words `level` is that of the heading
 * @returns {{node: HTMLElement, show: (songs: readonly Song[], empty: string) => void}}
 */
export function ranking({ name, about, ranks = false, level = 3 }) {
  const list = h(ranks ? 'ol.ranking.ranks' : 'ul.ranking', { 'aria-label': name });
  const nothing = h('p.ranking-empty');
  const node = h('section.ranked', null, h(`h${level}.ranked-name`, null, name), about ? h('p.ranking-about', null, about) : null, nothing, list);
  return {
    node,
    show: (songs, empty) => {
      text(nothing, empty);
      nothing.hidden = songs.length > 0;
      list.hidden = songs.length === 0;
      keyed(list, songs, (song) => song.key, make, fill);
    },
  };
}

function make() {
  return h('li.ranked-song', null, h('span.ranked-sleeve', { 'aria-hidden': 'true' }),
    h('span.names', null, h('bdi.title', { dir: 'auto' }), h('bdi.artist', { dir: 'auto' }), h('span.second')),
    h('span.ranked-end', null, h('strong'), ' ', h('span.second')));
}

/**
 * @param {HTMLElement} row
 * @param {Song} song
 */
function fill(row, song) {
  const [face, names, end] = /** @type {any} */ (row.children);
  const looks = `${song.title}\n${song.artist ?? ''}`;
  if (face.dataset.of !== looks) {
    face.dataset.of = looks;
    face.replaceChildren(sleeve(song));
  }
  text(names.children[0], song.title);
  text(names.children[1], song.artist ?? '');
  text(names.children[2], song.second ?? '');
  text(end.firstElementChild, song.amount ?? '');
  text(end.lastElementChild, song.unit ?? '');
  end.hidden = song.amount === undefined;
  row.style.setProperty('--part', String(song.part ?? 0));
}
