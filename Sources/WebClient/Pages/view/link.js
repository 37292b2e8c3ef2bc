/** What the page says while it has no connection, and when there will be none any more. */

import { PART } from '../room/room.js';
import { t } from '../text/en.js';
import { announce, floor, h, stylesheet, svg, text } from './dom.js';

/** @typedef {import('./dom.js').App} App */

/** From this time on a lost link is told, and from the second one on with the time of the next attempt. */
const TELL_MS = 2000;
const DETAIL_MS = 10_000;

/**
 * A line at the lower edge while the link is lost: first "Reconnecting…", later a countdown with "Try now".
 *
 * @param {App} app
 * @returns {{ destroy(): void }}
 */
export function linkBar(app) {
  const sentence = h('p');
  const now = h('button', { type: 'button', onclick: () => app.link?.retryNow() }, t.link.now);
  const bar = h('div.floating.link-bar', h('span.spinner', { 'aria-hidden': 'true' }), sentence, now);
  let timer = 0;
  let told = false;
  stylesheet('later');

  const show = () => {
    clearTimeout(timer);
    const { link } = app.store;
    if (link.state === 'live' || link.state === 'ended') {
      bar.remove();
      if (told && link.state === 'live') announce(t.announce.back);
      told = false;
      return;
    }
    // The deck here goes on without a link.
    const alone = app.playing?.phase === 'on' ? /** @type {any} */ (t).deck?.leading : undefined;
    const lasts = performance.now() - link.since;
    if (lasts < TELL_MS) {
      timer = window.setTimeout(show, TELL_MS - lasts + 5);
      return;
    }
    const detailed = lasts >= DETAIL_MS;
    const wait = link.retryAt === undefined ? 0 : link.retryAt - performance.now();
    const seconds = Math.ceil(wait / 1000);
    text(sentence, alone ?? (!detailed ? t.link.reconnecting : seconds > 0 ? t.link.lost(seconds) : t.link.lostNow));
    now.hidden = !detailed;
    if (!bar.isConnected) floor().append(bar);
    if (!told) announce(alone ?? t.announce.lost);
    told = true;
    const next = detailed ? (seconds > 0 ? wait - (seconds - 1) * 1000 : 1000) : DETAIL_MS - lasts;
    timer = window.setTimeout(show, Math.max(50, next + 5));
  };

  const stop = app.store.watch(PART.link | PART.deck, show);
  show();
  return {
    destroy() {
      stop();
      clearTimeout(timer);
      bar.remove();
    },
  };
}

/**
 * The screen in the place of a room that this viewer will not see: signed out, banned, none there, or no privacy.
 *
 * @param {App} app
 * @returns {{ node: HTMLElement, destroy(): void }}
 */
export function ended(app) {
  const { code, retryAfterMs } = app.store.link;
  const until = retryAfterMs === undefined ? null : performance.now() + retryAfterMs;
  const home = () => h('a.pill', { href: '/' }, t.link.home);
  const left = h('p');
  let timer = 0;
  /** @type {HTMLElement} */
  let node;
  /**
   * @param {string} icon
   * @param {string} sentence
   * @param {...any} more
   */
  const card = (icon, sentence, ...more) => h('main.ended', h('span.badge', svg(icon)), h('h1', { tabindex: '-1' }, sentence), ...more);

  switch (code) {
    case 4401:
    case 'unauthorized':
      node = card('leave', t.link.signedOut, h('button.pill.primary', { type: 'button', onclick: () => app.startAgain() }, t.link.startAgain), home());
      break;
    case 4403:
    case 'banned':
      node = card('ban', t.link.barred, until === null ? null : left, home());
      break;
    case 4404:
    case 'not_found':
      node = card('search', t.link.missing, h('p', t.link.missingMore), home());
      break;
    case 'insecure':
      node = card('lock', t.link.insecure, h('a.pill.primary', { href: `https://${location.host}${location.pathname}` }, t.link.open));
      break;
    default:
      node = card('info', t.link.failed, h('button.pill.primary', { type: 'button', onclick: () => app.go(location.pathname) }, t.link.again), home());
  }

  /** Counts a ban's time down; at its end the room may be entered again. */
  const count = () => {
    if (until === null) return;
    const ms = until - performance.now();
    if (ms <= 0) return app.go(location.pathname);
    text(left, t.link.barredFor(app.waitingTime(ms)));
    timer = window.setTimeout(count, ms < 3_600_000 ? Math.min(1000, ms + 50) : 60_000);
  };
  if (code === 4403 || code === 'banned') count();
  document.title = t.header.untitled;
  return { node, destroy: () => clearTimeout(timer) };
}
