/** The sheet before the room, for somebody who is not a member: a name, and in. */

import { PART } from '../room/room.js';
import { isolated, t } from '../text/en.js';
import { announce, floor, h, stylesheet, text } from './dom.js';
import { refusedName, shownLength, takenHint } from './names.js';

/** @typedef {import('./dom.js').App} App */

/** A session that nobody has named has this name. */
const UNNAMED = 'Guest';
const NAME_LENGTH = 40;
/** The name that somebody has joined with on this page: their session has it soon. */
let used = '';

/**
 * The sheet. "Look around first" puts a bar in its place, from which it comes back.
 *
 * @param {App} app
 * @param {(open: boolean) => void} onCover  told whether the room is covered
 * @param {string} [reason]  the sentence on why the viewer stands outside again
 * @returns {{ node: HTMLElement, destroy(): void }}
 */
export function joinSheet(app, onCover, reason = '') {
  const named = app.store.session?.name ?? UNNAMED;
  const known = named === UNNAMED ? used : named;
  const title = h('h2#join-title', { tabindex: '-1' });
  const wrong = h('p.wrong#join-wrong', { role: 'alert', hidden: true });
  const taken = h('p.taken#join-taken', { role: 'status' });
  const field = /** @type {HTMLInputElement} */ (h('input.field#join-name', {
    value: known, dir: 'auto', maxlength: 120, autocomplete: 'nickname', autocapitalize: 'words', enterkeyhint: 'go',
    spellcheck: 'false', required: true, 'aria-describedby': 'join-wrong join-taken',
  }));
  const label = h('span.label-text');
  const button = h('button.pill.primary', { type: 'submit' }, label);
  const form = h('form', { novalidate: true },
    h('label.label', { for: 'join-name' }, t.join.name), field, wrong, taken, button,
    h('button.pill.quiet', { type: 'button', onclick: () => cover(false) }, t.join.look));
  const sheet = h('section.sheet', { role: 'dialog', 'aria-modal': 'true', 'aria-labelledby': 'join-title' }, title, reason && h('p.sub', { role: 'status' }, reason), form);
  const node = h('div.sheet-back', sheet);
  const bar = h('div.floating.join-bar', h('p', t.join.looking),
    h('button.pill.primary', { type: 'button', onclick: () => cover(true) }, t.join.join));
  let busy = false;

  const show = () => {
    const { room, link } = app.store;
    if (!room) return;
    const [before, after] = t.join.here('\u0000', room.online).split('\u0000');
    if (title.dataset.key !== `${room.name} ${room.online}`) {
      title.dataset.key = `${room.name} ${room.online}`;
      title.replaceChildren(before, h('bdi', room.name), after);
    }
    const name = field.value.trim();
    text(taken, takenHint(room, name));
    text(label, busy ? t.join.joining : known && name === known ? t.join.joinAs(isolated(name)) : t.join.join);
    button.disabled = busy || link.state !== 'live';
  };

  /** @param {string} sentence  empty: nothing is wrong */
  const complain = (sentence) => {
    wrong.hidden = !sentence;
    text(wrong, sentence);
    field.setAttribute('aria-invalid', String(Boolean(sentence)));
  };

  /** @param {any} error */
  const refused = (error) => {
    if (error?.code === 'bad_request') complain(refusedName(error));
    else if (error?.code === 'limit_reached') complain(t.join.full);
    else if (error?.code === 'rate_limited') {
      complain(t.refusals.again(t.join.crowd, app.waitingTime(error.retryAfterMs ?? 1000)));
    } else app.refused(error);
    if (!wrong.hidden) field.focus();
  };

  form.addEventListener('submit', async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy || app.store.link.state !== 'live') return;
    const name = field.value.trim();
    complain(name === '' ? t.join.nameMissing : shownLength(name) > NAME_LENGTH ? t.join.nameLong : '');
    if (!wrong.hidden) return field.focus();
    busy = true;
    show();
    try {
      await app.store.send({ type: 'join', name });
      used = name;
      const room = app.store.room?.name ?? '';
      announce(t.announce.joined(isolated(room)));
      if (name !== app.store.session?.name) {
        app.http.renameSession(name).then((/** @type {any} */ session) => { app.store.session = session; }, () => {});
      }
    } catch (error) {
      refused(error);
    } finally {
      busy = false;
      show();
    }
  });
  field.addEventListener('input', () => { complain(''); show(); });
  sheet.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => { if (event.key === 'Escape') cover(false); });

  /**
   * Covers the room with the sheet, or leaves a bar.
   *
   * @param {boolean} covered
   */
  const cover = (covered) => {
    node.hidden = !covered;
    onCover(covered);
    if (covered) {
      bar.remove();
      // A phone's keyboard would cover half of the room that somebody wants to look at.
      if (matchMedia('(pointer: fine)').matches) field.focus({ preventScroll: true });
      else title.focus({ preventScroll: true });
    } else {
      stylesheet('later').then(() => {
        if (!node.hidden || !node.isConnected) return;
        floor().append(bar);
        bar.querySelector('button')?.focus({ preventScroll: true });
      });
    }
  };

  const stop = app.store.watch(PART.room | PART.members | PART.presence | PART.link, show);
  show();
  queueMicrotask(() => cover(true));
  return {
    node,
    destroy() {
      stop();
      bar.remove();
      node.remove();
      onCover(false);
    },
  };
}
