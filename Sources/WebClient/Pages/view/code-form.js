// The ways to a room: its code, a new one, rooms nearby. On the start page, and where there is no room.

import { roomOf } from '../room/code.js';
import { t } from '../text/en-more.js';
import { h, svg, text } from './dom.js';

/** @typedef {import('./dom.js').App} App */

/**
 * The field for a code or a link, which goes to the room. Its style is that of the start page.
 *
 * @param {App} app
 * @param {string} [typed]  what stands in it
 * @returns {HTMLFormElement}
 */
export function codeForm(app, typed = '') {
  const wrong = h('p.home-wrong', { role: 'alert', id: 'home-wrong' });
  const code = /** @type {HTMLInputElement} */ (h('input.home-code', {
    type: 'text', name: 'code', 'aria-label': t.home.code, 'aria-describedby': 'home-wrong', placeholder: t.home.codeHint, autocomplete: 'off',
    autocapitalize: 'characters', spellcheck: 'false', enterkeyhint: 'go', dir: 'ltr', value: typed,
  }));
  const begun = () => {
    code.removeAttribute('aria-invalid');
    text(wrong, '');
  };
  /** Puts the room of a link into the field; tells whether there is one. */
  const takeLink = (/** @type {string} */ pasted) => {
    const read = pasted.includes('/') ? roomOf(pasted) : null;
    if (read === null) return false;
    code.value = read;
    begun();
    return true;
  };
  const form = h('form.home-enter', { novalidate: true }, code, h('button.pill.primary', { type: 'submit' }, t.home.join), wrong);
  form.addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    const read = roomOf(code.value);
    text(wrong, code.value.trim() === '' ? t.home.codeMissing : read === null ? t.home.codeWrong : '');
    if (read === null) {
      code.setAttribute('aria-invalid', 'true');
      code.focus();
    } else app.go(`/r/${read}`);
  });
  code.addEventListener('input', () => {
    if (!takeLink(code.value)) begun();
  });
  // The field itself would join the lines of a message.
  code.addEventListener('paste', (/** @type {ClipboardEvent} */ event) => {
    if (takeLink(event.clipboardData?.getData('text') ?? '')) event.preventDefault();
  });
  return form;
}

/**
 * What else there is: a room of one's own, and rooms nearby.
 *
 * @param {App} app
 * @returns {HTMLElement}
 */
export function waysOn(app) {
  const start = h('button.home-card.strong', { type: 'button', onclick: () => app.open('start-room') },
    h('span.badge', null, svg('plus')), h('span.words', null, h('span.head', null, t.home.start), h('span.more', null, t.home.startMore)));
  const nearby = h('a.home-card', { href: '/nearby' },
    h('span.badge', null, svg('radar')), h('span.words', null, h('span.head', null, t.nearby.title), h('span.more', null, t.home.nearbyMore)));
  return h('section.home-cards', null, start, nearby);
}
