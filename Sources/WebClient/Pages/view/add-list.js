// A pasted list of songs: what was understood, and adding it piece by piece.

import { t } from '../text/en-more.js';
import { manualId, songsHere, whyNot } from './add.js';
import { MOST_TRACKS, addAll } from './adding.js';
import { duration, h, number, svg, text } from './dom.js';
import { sleeve } from './sleeve.js';
import { songsOf } from './song-list.js';

/** @typedef {import('./dom.js').App} App */
/** @typedef {import('./song-list.js').Song} Song */

/** Songs and lines that the preview shows. */
const SHOWN = 6;

/** A pause in typing after which the list is read, in ms. */
const PAUSE = 180;

/**
 * The form for a list of songs.
 *
 * @param {App} app
 * @param {() => void} close called when all are added
 * @returns {import('./add.js').Form}
 */
export function listForm(app, close) {
  const area = /** @type {HTMLTextAreaElement} */ (h('textarea.add-area', {
    rows: 6, placeholder: t.add.listHint, 'aria-label': t.add.listLabel, 'aria-describedby': 'add-help', spellcheck: 'false', dir: 'auto',
  }));
  const swap = /** @type {HTMLInputElement} */ (h('input', { type: 'checkbox' }));
  const preview = h('div.add-preview', { 'aria-live': 'polite' });
  const bar = /** @type {HTMLProgressElement} */ (h('progress', { hidden: true, 'aria-label': t.add.titleDJ }));
  const told = h('p.add-told', { role: 'status' });
  const go = /** @type {HTMLButtonElement} */ (h('button.pill.primary', { type: 'submit', form: 'add-many', disabled: true }, t.add.add));
  const node = h('form.add-many#add-many', null, h('p.add-help', { id: 'add-help' }, t.add.listHelp), area,
    h('label.add-ask', null, swap, h('span', null, t.add.swap)), bar, told, preview);
  /** @type {Song[]} */
  let songs = [];
  let timer = 0;
  let isOpen = true;
  let isBusy = false;

  const read = () => {
    const here = songsHere(app);
    const list = songsOf(area.value, swap.checked, (song) => here.find(song) !== undefined);
    songs = list.songs;
    const reasons = { tooLong: t.add.tooLong('300'), lengthLong: t.add.lengthLong, doubled: t.add.doubled, isHere: t.add.isHere };
    preview.replaceChildren(
      ...songs.slice(0, SHOWN).map((song) => h('div.row', null, sleeve(song), h('div.names', null,
        h('bdi.title', song.title), h('span.second', null, h('bdi.artist', null, song.artist && song.album ? [h('bdi', song.artist), ' — ', h('bdi', song.album)] : song.artist ?? song.album))),
        song.durationMs === undefined ? null : h('span.length', null, duration(song.durationMs)))),
      ...(songs.length > SHOWN ? [h('p.add-more', null, t.add.moreLines(number(songs.length - SHOWN)))] : []),
      ...(list.left.length > 0 ? [h('details.add-left', null, h('summary', null, svg('info'), t.add.skipped(list.left.length, number(list.left.length))),
        h('ul', null, list.left.slice(0, 100).map(({ line, reason }) => h('li', null, t.add.line(number(line), reasons[reason])))))] : []),
    );
    text(go, songs.length > 0 ? t.add.addSongs(songs.length, number(songs.length)) : t.add.add);
    go.disabled = songs.length === 0 || isBusy;
  };
  const later = () => {
    clearTimeout(timer);
    timer = window.setTimeout(read, PAUSE);
  };
  const run = async () => {
    clearTimeout(timer);
    read();
    const all = songs;
    if (all.length === 0 || isBusy) return;
    isBusy = true;
    area.disabled = swap.disabled = go.disabled = true;
    bar.hidden = false;
    bar.max = all.length;
    let done = 0;
    try {
      const tracks = all.map((song) => ({ source: 'manual', sourceId: manualId(), ...song }));
      // At least five commands for a long list, so that its progress can be seen.
      await addAll(app, tracks, (added) => {
        done = added;
        bar.value = done;
        text(told, t.add.progress(number(done), number(all.length)));
        return isOpen;
      }, Math.min(MOST_TRACKS, Math.max(50, Math.ceil(all.length / 5))));
      if (!isOpen) return;
      area.value = '';
      close();
      app.toast(t.add.finished(done, number(done)));
    } catch (refusal) {
      text(told, `${t.add.progress(number(done), number(all.length))} · ${whyNot(refusal)}`);
    } finally {
      isBusy = false;
      area.disabled = swap.disabled = false;
      bar.hidden = true;
      if (isOpen) read();
    }
  };
  area.addEventListener('input', later);
  swap.addEventListener('change', read);
  node.addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    run();
  });
  return {
    node, go, first: area,
    destroy() {
      isOpen = false;
      clearTimeout(timer);
    },
  };
}
