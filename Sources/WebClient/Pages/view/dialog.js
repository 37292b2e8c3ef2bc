// Dialogs: a sheet at the bottom of a phone, a card in the middle of a laptop.

import { t } from '../text/en-more.js';
import { sheetOpened } from './back.js';
import { duration, h, stylesheet, svg, text } from './dom.js';

/** @typedef {{label: string, act: () => void}} NoticeAction */
/** @typedef {{node: HTMLDialogElement, close: () => void,
 *   notice: (sentence: string | null, action?: NoticeAction) => void}} Dialog */

/**
 * Dialogs that are open, the one on top last.
 *
 * @type {Dialog[]}
 */
const open = [];

/** Keeps the page behind from scrolling and from moving sideways while a dialog is open. */
function holdPage() {
  const root = document.documentElement;
  const bar = open.length > 0 && !root.classList.contains('held') ? window.innerWidth - root.clientWidth : null;
  root.classList.toggle('held', open.length > 0);
  if (open.length === 0) root.style.removeProperty('--held-gap');
  else if (bar !== null) root.style.setProperty('--held-gap', `${bar}px`);
}

/**
 * Opens a dialog over the page.
 *
 * Escape, the backdrop, the close button and the browser's Back close it; the focus goes back to where it was. The first element with
 * `autofocus` gets the focus, else the title. Opening one while another is open puts it on top.
 *
 * @param {{title: string, body: Node, foot?: Node, wide?: boolean, className?: string, onClose?: () => void}} options
 *   `foot` stays below the body while that scrolls; `wide` is for lists
 * @returns {Dialog} `notice` shows one sentence at the bottom of the dialog, null takes it away; it is read out politely
 */
export function dialog({ title, body, foot, wide = false, className = '', onClose }) {
  const before = document.activeElement;
  const heading = h('h2', { tabindex: '-1' }, title);
  const status = h('p.dialog-notice', { role: 'status' });
  const shut = h('button.round.dialog-close', { type: 'button', 'aria-label': t.menu.close, onclick: () => close() }, svg('close'));
  const content = h('div.dialog-body', null, body);
  const card = h('div.dialog-card', null, h('header.dialog-head', null, heading, shut), content, foot ?? null, status);
  const node = /** @type {HTMLDialogElement} */ (h('dialog.dialog', { class: `${wide ? 'wide' : ''} ${className}`.trim() }, card));
  node.setAttribute('aria-label', title);
  let pressedOutside = false;
  let closed = false;
  node.addEventListener('pointerdown', (event) => { pressedOutside = event.target === node; });
  node.addEventListener('click', (event) => { if (pressedOutside && event.target === node) close(); });
  node.addEventListener('close', () => finish());

  function close() {
    if (node.open) node.close();
    finish();
  }

  function finish() {
    if (closed) return;
    closed = true;
    open.splice(open.indexOf(handle), 1);
    left();
    node.remove();
    holdPage();
    if (before instanceof HTMLElement && before.isConnected && document.activeElement === document.body) {
      before.focus({ preventScroll: true });
    }
    onClose?.();
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /**
   * @param {string | null} sentence
   * @param {NoticeAction} [action]
   */
  function notice(sentence, action) {
    clearTimeout(timer);
    text(status, sentence ?? '');
    if (sentence === null) return;
    if (action) {
      status.append(h('button.text-button', {
        type: 'button',
        onclick: () => { notice(null); action.act(); },
      }, action.label));
    }
    timer = setTimeout(() => status.replaceChildren(), action ? 12_000 : 8_000);
  }

  /** @type {Dialog} */
  const handle = { node, close, notice };
  open.push(handle);
  const left = sheetOpened(close);
  document.body.append(node);
  stylesheet('dialogs').catch(() => {}).then(() => {
    if (closed) return;
    holdPage();
    node.showModal();
    const first = node.querySelector('[autofocus]');
    if (first instanceof HTMLElement) first.focus({ preventScroll: true });
    else heading.focus({ preventScroll: true });
  });
  return handle;
}

export { isolated } from '../text/en.js';

/**
 * Asks before something that cannot be taken back.
 *
 * @param {{title: string, text: string | Node, action: string, cancel?: string, danger?: boolean}} options
 * @returns {Promise<boolean>} false where the dialog was closed in another way
 */
export function confirm({ title, text, action, cancel = t.menu.cancel, danger = true }) {
  return new Promise((resolve) => {
    let answer = false;
    /** @param {boolean} value */
    const end = (value) => { answer = value; asked.close(); };
    const asked = dialog({
      title,
      className: 'ask',
      body: typeof text === 'string' ? h('p', null, text) : text,
      foot: h('footer.dialog-foot', null,
        h('button.pill', { type: 'button', autofocus: true, onclick: () => end(false) }, cancel),
        h('button.pill', { type: 'button', class: danger ? 'danger' : 'primary', onclick: () => end(true) }, action)),
      onClose: () => resolve(answer),
    });
  });
}

/**
 * The sentence of a refused command or request, with the time to wait where there is one.
 *
 * @param {unknown} error a Refusal; anything else is told in general
 * @returns {string}
 */
export function sentenceOf(error) {
  const { code, retryAfterMs } = /** @type {{code?: string, retryAfterMs?: number}} */ (error ?? {});
  const sentences = /** @type {Record<string, any>} */ (t.refusals);
  const sentence = typeof code === 'string' && typeof sentences[code] === 'string' ? sentences[code] : t.refusals.other;
  return retryAfterMs ? t.refusals.again(sentence, duration(retryAfterMs + 999)) : sentence;
}

/**
 * Watches the room for a dialog that shows a part of it, and closes the dialog where the room is gone.
 *
 * @param {import('./dom.js').App} app
 * @param {number} mask parts of the room; the link is watched as well
 * @param {() => Dialog} opened
 * @param {(changed: number) => void} render
 * @returns {() => void} stops watching
 */
export function follow(app, mask, opened, render) {
  return app.store.watch(mask, (changed) => {
    if (app.store.room === null || app.store.link.state === 'ended') opened().close();
    else render(changed);
  });
}
