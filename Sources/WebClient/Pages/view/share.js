// Sharing a room: its QR code, its code in large letters, its link.

import { PART } from '../room/room.js';
import { t } from '../text/en-more.js';
import { dialog, follow, isolated } from './dialog.js';
import { h, svg, text } from './dom.js';
import { LONGEST, qrCode } from './qr.js';

/**
 * The address of a room on this server.
 *
 * @param {string} code
 */
export const linkOf = (code) => `${location.origin}/r/${code}`;

/**
 * Whether a host's name means, on every device, that device itself: no other one gets here by it.
 *
 * @param {string} hostname  as in `location.hostname`
 */
export function isLoopback(hostname) {
  return /^(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|0\.0\.0\.0|\[::(?:1|ffff:7f[\da-f]{2}:[\da-f]+)?\])$/i.test(hostname);
}

/** Why nobody gets here by this page's address, and what to do; null where other devices can. */
export function whyUnreachable() {
  return isLoopback(location.hostname) ? h('div.unreachable', null, h('p', null, t.share.unreachable(isolated(location.host))), h('p', null, t.share.reach)) : null;
}

/**
 * A room's QR code, or null where its link is too long for one.
 *
 * @param {string} code
 * @returns {SVGSVGElement | null}
 */
export function roomCode(code) {
  const link = linkOf(code);
  return new TextEncoder().encode(link).length > LONGEST ? null : qrCode(link, t.share.qr(link));
}

/**
 * Opens it.
 *
 * @param {import('./dom.js').App} app
 */
export function open(app) {
  const room = app.store.room;
  if (!room) return null;
  const link = linkOf(room.code);
  const copied = h('span', null, t.share.copy);
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const copy = h('button.pill', {
    type: 'button',
    onclick: async () => {
      const done = await copyText(link, address);
      text(copied, done ? t.share.copied : t.share.copySelf);
      clearTimeout(timer);
      timer = setTimeout(() => text(copied, t.share.copy), 3000);
    },
  }, svg('copy'), copied);
  copied.setAttribute('aria-live', 'polite');
  const address = h('a.share-link', { translate: 'no', href: link, onclick: (/** @type {Event} */ event) => event.preventDefault() }, link.replace(/^https?:\/\//, ''));
  const note = h('p.share-note');
  const code = h('p.share-code', { translate: 'no', 'aria-label': t.share.code(room.code) },
    ...[...room.code].map((letter, at) => h('span', { class: at === room.code.length / 2 ? 'half' : '' }, letter)));
  const send = 'share' in navigator ? h('button.pill.primary', {
    type: 'button',
    onclick: () => navigator.share({ title: room.name, text: t.share.invitation(app.store.room?.name ?? room.name), url: link }).catch(() => {}),
  }, svg('share'), t.share.send) : null;
  const unreachable = whyUnreachable();
  const body = h('div.share', null,
    unreachable ?? h('div.qr-card', null, roomCode(room.code)),
    code,
    unreachable ? null : [address, note],
    h('div.buttons', null, unreachable ? null : [send, copy],
      h('button.pill', { type: 'button', onclick: () => { shown.close(); app.open('wall'); } }, svg('expand'), t.share.wall)));
  const shown = dialog({ title: t.menu.share, body, onClose: () => { clearTimeout(timer); stop(); } });
  const render = () => {
    const now = app.store.room;
    if (now) text(note, now.closedAt !== undefined ? t.share.closed : now.visibility === 'unlisted' ? t.share.unlisted : t.share.public);
  };
  render();
  const stop = follow(app, PART.room | PART.link, () => shown, render);
  return shown;
}

/**
 * Copies a text; where the browser does not allow that, selects it in the page.
 *
 * @param {string} value
 * @param {Element} shown
 * @returns {Promise<boolean>} false where it is only selected
 */
async function copyText(value, shown) {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    getSelection()?.selectAllChildren(shown);
    return false;
  }
}
