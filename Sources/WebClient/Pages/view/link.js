/** What the page says while it has no connection, and when there will be none any more. */

import { PART } from '../room/room.js';
import { isolated, t } from '../text/en.js';
import { announce, attempt, floor, h, stylesheet, svg, text } from './dom.js';

/** @typedef {import('./dom.js').App} App */

/** From this time on a lost link is told, and from the second one on with the time of the next attempt. */
const TELL_MS = 2000;
const DETAIL_MS = 10_000;
/** Whether a ban has been lifted is asked once in this time, while somebody looks. */
const LIFTED_MS = 30_000;

/**
 * A line at the lower edge while there is no link: "Connecting…" before the first one, "Reconnecting…" after it, later a
 * countdown with "Try now".
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
  /** An attempt has failed since there was a link. */
  let failed = false;
  stylesheet('later');

  const show = () => {
    clearTimeout(timer);
    const { link } = app.store;
    if (link.state === 'live' || link.state === 'ended') {
      bar.remove();
      if (told && link.state === 'live' && app.store.connections > 1) announce(t.announce.back);
      told = failed = false;
      return;
    }
    failed ||= link.state === 'waiting';
    const isFirst = app.store.connections === 0;
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
    const blocked = link.isBlocked ? t.link.blocked : undefined;
    text(sentence, alone ?? blocked ?? (!detailed || (isFirst && !failed) ? attempt(app) : seconds > 0 ? t.link.lost(seconds) : t.link.lostNow));
    // Beside a long sentence there is no place for it, and attempts go on.
    now.hidden = !detailed || blocked !== undefined;
    if (!bar.isConnected) floor().append(bar);
    if (!told) announce(alone ?? (isFirst ? attempt(app) : t.announce.lost));
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
 * The screen in the place of a room that this viewer will not see: signed out, banned, none there, or no cookie.
 *
 * @param {App} app
 * @returns {{ node: HTMLElement, destroy(): void }}
 */
export function ended(app) {
  const { code } = app.store.link;
  const home = () => h('a.pill', { href: '/' }, t.link.home);
  const again = () => h('button.pill.primary', { type: 'button', onclick: () => app.go(location.pathname) }, t.link.again);
  const anew = (/** @type {string} */ name) => h('button.pill.primary', { type: 'button', onclick: () => app.startAgain() }, name);
  /** @type {HTMLElement} */
  let node;
  let destroy = () => {};
  /**
   * @param {string} icon
   * @param {string} sentence
   * @param {...any} more
   */
  const card = (icon, sentence, ...more) => h('main.ended', h('span.badge', svg(icon)), h('h1', { tabindex: '-1' }, sentence), ...more);

  switch (code) {
    case 4401:
    case 'unauthorized':
      node = card('leave', t.link.signedOut, anew(t.link.startAgain), home());
      break;
    case 4403:
    case 'banned':
      node = card('ban', t.link.barred);
      destroy = barred(app, node);
      node.append(home());
      break;
    case 4404:
    case 'not_found':
      node = card('search', t.link.missing, h('p', t.link.missingMore));
      Promise.all([app.load(() => import('./code-form.js')), stylesheet('home')]).then(([loaded]) => {
        // What was mistyped stands there to be mended.
        const typed = /^\/r\/([\w-]{1,20})$/.exec(location.pathname)?.[1];
        node.append(...loaded ? [loaded.codeForm(app, typed), loaded.waysOn(app)] : [], home());
      });
      break;
    case 'insecure':
      node = card('lock', t.refusals.insecure, h('a.pill.primary', { href: `https://${location.host}${location.pathname}` }, t.link.open));
      break;
    case 'no_cookies':
      node = card('lock', t.refusals.no_cookies, h('p', t.link.cookiesMore(isolated(location.host))), anew(t.link.again), home());
      break;
    case 'cookie_lost':
      node = card('info', t.refusals.cookie_lost, h('p', t.link.cookieLostMore), anew(t.link.again), home());
      break;
    case 'foreign':
      node = card('info', t.link.foreign, h('p', t.link.foreignMore(isolated(location.origin))), again(), home());
      break;
    default:
      node = card('info', t.link.failed, again(), home());
  }

  document.title = t.header.untitled;
  return { node, destroy: () => destroy() };
}

/**
 * Shows why somebody is banned and for how long, and enters the room again when the ban is over or has been lifted.
 *
 * @param {App} app
 * @param {HTMLElement} node
 * @returns {() => void} ends it
 */
function barred(app, node) {
  const why = h('p.reason', { hidden: true });
  const left = h('p');
  const again = h('button.pill.primary', { type: 'button', onclick: () => ask(true) }, t.link.again);
  node.append(why, left, again);
  let until = Infinity;
  let askedAt = performance.now();
  let timer = 0;
  let isOver = false;

  /** @param {{ retryAfterMs?: number, reason?: string }} ban */
  const take = ({ retryAfterMs, reason }) => {
    until = retryAfterMs === undefined ? Infinity : performance.now() + retryAfterMs;
    why.hidden = !reason;
    if (reason) why.replaceChildren(t.link.barredWhy, ' ', h('bdi', reason));
  };
  /** @param {boolean} [tells] */
  const ask = async (tells = false) => {
    if (again.getAttribute('aria-busy') === 'true') return;
    again.setAttribute('aria-busy', 'true');
    askedAt = performance.now();
    const ban = await app.link?.banned().catch((/** @type {any} */ error) => { if (tells) app.refused(error); });
    again.removeAttribute('aria-busy');
    if (isOver) return;
    if (ban === null) return app.go(location.pathname);
    if (ban) take(ban);
    if (ban && tells) announce(t.link.barredStill);
    count();
  };
  const count = () => {
    clearTimeout(timer);
    const now = performance.now();
    text(left, until === Infinity ? '' : t.link.barredFor(app.waitingTime(Math.max(1000, until - now))));
    if (document.hidden) return;
    // Rarely, so that a ban that is lifted is noticed; and at its end.
    const askAt = until > askedAt ? Math.min(until, askedAt + LIFTED_MS) : askedAt + LIFTED_MS;
    if (now >= askAt) ask();
    else timer = window.setTimeout(count, Math.min(askAt - now, until === Infinity ? Infinity : 1000) + 50);
  };
  const seen = () => (document.hidden ? count() : void ask());
  document.addEventListener('visibilitychange', seen);
  take(app.store.link);
  count();
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', seen);
  };
}
