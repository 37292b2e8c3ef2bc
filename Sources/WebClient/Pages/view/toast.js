/** One sentence at the lower edge of the page, with an optional button. A new one takes the place of the last. */

import { t } from '../text/en.js';
import { floor, h, stylesheet, svg } from './dom.js';

/** A sentence of more characters has its button below it. */
const LONG = 80;

let timer = 0;
/** @type {HTMLElement | null} */
let shown = null;

/**
 * Shows a sentence. Its time stands still while the pointer or the focus is on it.
 *
 * @param {string} sentence
 * @param {{ label?: string, action?: () => void, seconds?: number }} [options]  5 s, with a button 8 s
 * @returns {() => void} takes it away
 */
export function toast(sentence, options = {}) {
  const { label, action, seconds = label ? 8 : 5 } = options;
  close();
  const node = h('div.floating.toast', { role: 'status', class: label && sentence.length > LONG ? 'long' : '' }, h('p', null, sentence));
  if (label) {
    node.append(h('button', { type: 'button', onclick: () => { close(); action?.(); } }, label));
  }
  node.append(h('button.round.quiet.shut', { type: 'button', 'aria-label': t.link.close, onclick: close }, svg('close')));
  const run = () => { timer = window.setTimeout(close, seconds * 1000); };
  const hold = () => clearTimeout(timer);
  const release = () => { hold(); if (!node.matches(':hover, :focus-within')) run(); };
  node.addEventListener('pointerenter', hold);
  node.addEventListener('pointerleave', release);
  node.addEventListener('focusin', hold);
  node.addEventListener('focusout', () => setTimeout(release));
  shown = node;
  stylesheet('later').then(() => {
    if (shown !== node) return;
    floor().append(node);
    run();
  });
  return () => { if (shown === node) close(); };
}

function close() {
  clearTimeout(timer);
  shown?.remove();
  shown = null;
}
