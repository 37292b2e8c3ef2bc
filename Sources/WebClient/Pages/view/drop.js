// Files that a DJ drags over the page.

import { t } from '../text/en-deck.js';
import { h, svg } from './dom.js';

/** @typedef {import('./dom.js').App} App */

/**
 * Takes files and folders that are dropped anywhere on the page. A zone shows up while they are dragged over it.
 *
 * @param {App} app
 * @returns {() => void} ends it
 */
export function takeDrops(app) {
  const zone = h('div.drop-page', { 'aria-hidden': 'true' }, svg('plus'), t.deck.dropAnywhere);
  /** @type {any} */
  let library = null;
  let timer = 0;
  const has = (/** @type {DragEvent} */ event) => Boolean(event.dataTransfer?.types.includes('Files')) && app.store.room?.isDJ && app.store.room.closedAt === undefined;
  const end = () => {
    clearTimeout(timer);
    zone.remove();
    document.documentElement.classList.remove('dropping');
  };
  const over = (/** @type {DragEvent} */ event) => {
    if (!has(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
    if (!zone.isConnected) {
      document.body.append(zone);
      document.documentElement.classList.add('dropping');
      app.device().then(async (device) => {
        await device?.ready;
        library = device?.library ?? library;
      }, () => {});
    }
    // While something is dragged this comes several times a second; leaving the window is not always told.
    clearTimeout(timer);
    timer = window.setTimeout(end, 700);
  };
  const drop = (/** @type {DragEvent} */ event) => {
    if (!has(event) || !event.dataTransfer) return;
    event.preventDefault();
    end();
    // The browser empties it after the event.
    const items = library ? library.fromDrop(event.dataTransfer) : [...event.dataTransfer.files];
    app.open('add', { items });
  };
  document.addEventListener('dragover', over);
  document.addEventListener('drop', drop);
  return () => {
    end();
    document.removeEventListener('dragover', over);
    document.removeEventListener('drop', drop);
  };
}
