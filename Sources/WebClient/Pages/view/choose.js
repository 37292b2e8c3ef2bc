// Files that are asked for: what came of that, and whether the browser keeps them.

import { isolated } from '../text/en.js';
import { t } from '../text/en-deck.js';
import { number } from './dom.js';

/**
 * Why a file was left out.
 *
 * @param {string} why
 */
export const reasonOf = (why) => /** @type {Record<string, string>} */ (t.deck.why)[why] ?? t.deck.why.unreadable;

/**
 * What is said of files that are here until the page is left; empty where the browser keeps them.
 *
 * @param {import('../deck/device.js').Device} device
 */
export function untilClosed({ library, lack: { unkept } }) {
  if (library?.state.keeps === false) return t.deck.untilClosed;
  return unkept > 0 ? t.deck.unkept(unkept, number(unkept)) : '';
}

/**
 * Asks for files, and says why where none of them was taken. To be called inside a gesture. It may be called again before
 * it has ended: not every browser tells that its chooser was closed.
 *
 * @param {import('./dom.js').App} app
 * @param {() => Promise<import('../deck/library.js').Skipped[]> | undefined} ask
 */
export async function choose(app, ask) {
  try {
    const [first, ...others] = await ask() ?? [];
    if (first) app.toast(`${isolated(first.name)}: ${reasonOf(first.why)}${others.length > 0 ? ` (${t.deck.more(number(others.length))})` : ''}`);
  } catch (error) {
    app.refused(error);
  }
}
