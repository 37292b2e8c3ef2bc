/** A room: header, deck, and its three lists, in tabs on a phone and side by side on a laptop. */

import { PART } from '../room/room.js';
import { t } from '../text/en.js';
import { closeSheets } from './back.js';
import { attempt, h, number, set, stylesheet, svg, text } from './dom.js';
import { joinSheet } from './join.js';
import { queuePane, requestsPane } from './lists.js';
import { onAir } from './on-air.js';

/** @typedef {import('./dom.js').App} App */
/** @typedef {{ node: HTMLElement, destroy(): void }} View */
/** @typedef {'requests' | 'queue' | 'pool'} Tab */

/** The order of the tabs of a phone; side by side, the queue stands first. */
const TABS = /** @type {Tab[]} */ (['requests', 'queue', 'pool']);
const SIDE_BY_SIDE = /** @type {Tab[]} */ (['queue', 'requests', 'pool']);
/** A lost link is told after 2 s; what tells it is loaded before. */
const LINK_MS = 1500;

/**
 * The tab that was chosen last, also after a change of language.
 *
 * @type {Tab}
 */
let chosen = 'requests';

/**
 * @param {App} app
 * @param {string} reference  the code or id in the address
 * @returns {View}
 */
export function roomScreen(app, reference) {
  // As in style/page.css and style/lists.css.
  const wide = matchMedia('(min-width: 56.25em) and (min-height: 31.3125em)');
  const name = h('h1', { dir: 'auto', tabindex: '-1' }, t.header.opening);
  const count = h('span.here-count');
  const here = h('button.here', { type: 'button', onclick: () => app.open('people') }, count);
  const code = h('button.pill.code', { type: 'button', onclick: () => app.open('share') }, reference.toUpperCase());
  const menu = h('button.round', { type: 'button', 'aria-label': t.header.menu, 'aria-haspopup': 'dialog', onclick: () => app.open('menu') }, svg('more'));
  const top = h('header.top',
    h('a.logo', { href: '/', 'aria-label': t.header.home }, svg('bars')),
    h('div.where', name, here), code, menu);
  const notice = h('div.notice', { hidden: true },
    h('p', t.header.closed, ' ', h('span.more', t.header.closedMore)),
    h('button.pill', { type: 'button', onclick: () => app.open('history') }, svg('history'), t.header.history));
  const sentinel = h('div', { 'aria-hidden': 'true' });
  const list = h('div', { role: 'tablist', 'aria-label': t.header.tabs });
  const tabs = h('div.tabs', list);
  const panes = h('div.panes');
  const main = h('main', { hidden: true });
  const opening = h('main.opening', svg('bars'));
  const room = h('div.room', top, opening, main);
  // Where the link is lost before the module that tells it is here.
  const plain = h('p.plain-link', { role: 'status' });
  for (const later of [here, code, menu]) later.hidden = true;
  const node = h('div.screen', room);

  /** @type {View | null} */
  let deck = null;
  /** @type {View | null} */
  let sheet = null;
  /** @type {View | null} */
  let end = null;
  /** @type {{ destroy(): void } | null} */
  let bar = null;
  let barTimer = 0;
  let destroyed = false;
  /**
   * The lists that have been shown.
   *
   * @type {Map<Tab, View & { heading: string }>}
   */
  const views = new Map();
  /** The member that this viewer was, to tell a removal, and its role, to tell a change. */
  let was = 0;
  let role = '';
  let removed = false;

  const tabOf = /** @type {Record<Tab, HTMLButtonElement>} */ ({});
  for (const tab of TABS) {
    tabOf[tab] = h(`button#tab-${tab}`, { type: 'button', role: 'tab', onclick: () => choose(tab) });
    list.append(tabOf[tab]);
  }
  list.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = step ? TABS[(TABS.indexOf(chosen) + step + 3) % 3] : { Home: TABS[0], End: TABS[2] }[event.key];
    if (!to) return;
    event.preventDefault();
    choose(to);
    tabOf[to].focus();
  });

  /**
   * Shows a list: brings it to the front on a phone, moves to it on a laptop.
   *
   * @param {Tab} tab
   */
  const choose = (tab) => {
    chosen = tab;
    const stuck = tabs.classList.contains('stuck');
    arrange();
    if (stuck && !wide.matches) sentinel.scrollIntoView();
  };

  /**
   * The list of a tab; null while its module loads.
   *
   * @param {Tab} tab
   */
  const viewOf = (tab) => {
    const there = views.get(tab);
    if (there || tab !== 'pool') return there ?? keep(tab, tab === 'queue' ? queuePane(app) : requestsPane(app));
    if (!loading) {
      loading = true;
      app.load(() => import('./pool.js')).then((loaded) => {
        loading = false;
        if (!loaded || destroyed) return;
        keep('pool', loaded.poolPane(app));
        arrange();
      });
    }
    return null;
  };
  let loading = false;

  /**
   * @param {Tab} tab
   * @param {View} view
   */
  const keep = (tab, view) => {
    view.node.id = `list-${tab}`;
    const kept = { node: view.node, destroy: () => view.destroy(), heading: view.node.getAttribute('aria-labelledby') ?? '' };
    views.set(tab, kept);
    return kept;
  };

  /** Puts the lists where the width wants them. */
  const arrange = () => {
    const order = wide.matches ? SIDE_BY_SIDE : TABS;
    for (const tab of order) {
      const selected = tab === chosen;
      set(tabOf[tab], { 'aria-selected': selected, 'aria-controls': `list-${tab}`, tabIndex: selected ? 0 : -1 });
      const view = wide.matches || selected ? viewOf(tab) : views.get(tab);
      if (!view) continue;
      view.node.hidden = !wide.matches && !selected;
      view.node.setAttribute('role', wide.matches ? 'region' : 'tabpanel');
      view.node.setAttribute('aria-labelledby', wide.matches ? view.heading : `tab-${tab}`);
    }
    const nodes = order.map((tab) => views.get(tab)?.node).filter((pane) => pane !== undefined);
    nodes.forEach((pane, i) => {
      if (panes.children[i] !== pane) panes.insertBefore(/** @type {Node} */ (pane), panes.children[i] ?? null);
    });
  };

  /** @param {number} changed */
  const show = (changed = ~0) => {
    const { link } = app.store;
    const shown = app.store.room;
    if (changed & PART.link) follow();
    if (link.state === 'ended') return;
    here.dataset.link = shown?.closedAt !== undefined ? 'closed' : link.state;
    if (!shown) return;
    text(name, shown.name, true);
    text(count, t.header.here(number(shown.online)));
    here.setAttribute('aria-label', t.header.people(number(shown.online)));
    text(code, shown.code, true);
    code.setAttribute('aria-label', t.header.share(shown.code));
    if (shown.closedAt !== undefined) stylesheet('later').then(() => { notice.hidden = false; });
    room.classList.toggle('closed', shown.closedAt !== undefined);
    if (main.hidden) begin();
    enter(shown);
  };

  /** The first snapshot is here. */
  const begin = () => {
    text(tabOf.requests, t.lists.requests);
    text(tabOf.queue, t.lists.queue);
    text(tabOf.pool, t.lists.pool);
    deck = onAir(app);
    main.append(notice, deck.node, sentinel, tabs, panes);
    main.hidden = false;
    opening.remove();
    for (const later of [here, code, menu]) later.hidden = false;
    arrange();
    stuck.observe(sentinel);
  };

  /**
   * The sheet for somebody who is not a member.
   *
   * @param {import('../room/room.js').Room} shown
   */
  const enter = (shown) => {
    const outside = !shown.you && shown.closedAt === undefined;
    // A lost link cannot load what tells it: it is loaded when somebody is in.
    if (shown.you && !was) import('./link.js').catch(() => {});
    was = shown.you?.member ?? was;
    if (role && shown.you && shown.you.role !== role) app.toast(t.announce.role[shown.you.role], { seconds: 8 });
    role = shown.you?.role ?? '';
    if (outside && !sheet) {
      if (was) closeSheets();
      sheet = joinSheet(app, (covered) => { room.inert = covered; }, removed ? t.join.removed : '');
      node.append(sheet.node);
    } else if (!outside && sheet) {
      sheet.destroy();
      sheet = null;
      removed = false;
      name.focus({ preventScroll: true });
    }
  };

  /** What the link's state needs: the line at the lower edge, or the end. */
  const follow = () => {
    const { link } = app.store;
    clearTimeout(barTimer);
    if (link.state === 'ended') {
      if (end) end.destroy();
      Promise.all([app.load(() => import('./link.js')), stylesheet('later')]).then(([loaded]) => {
        if (!loaded || destroyed || app.store.link.state !== 'ended') return;
        closeSheets();
        end?.destroy();
        end = loaded.ended(app);
        clear();
        node.replaceChildren(end.node);
        /** @type {HTMLElement | null} */ (end.node.querySelector('h1'))?.focus();
      });
    } else if (link.state !== 'live' && !bar) {
      barTimer = window.setTimeout(async () => {
        const loaded = await import('./link.js').catch(() => null);
        if (destroyed || bar || end) return;
        if (loaded) {
          plain.remove();
          bar = loaded.linkBar(app);
        } else if (app.store.link.state !== 'live') {
          text(plain, attempt(app));
          node.append(plain);
        }
      }, Math.max(0, LINK_MS - (performance.now() - link.since)));
    }
    if (bar || link.state === 'live') plain.remove();
  };

  const clear = () => {
    deck?.destroy();
    sheet?.destroy();
    bar?.destroy();
    for (const view of views.values()) view.destroy();
    views.clear();
    deck = sheet = bar = null;
  };

  const stuck = new IntersectionObserver(([entry]) => {
    tabs.classList.toggle('stuck', !entry.isIntersecting && entry.boundingClientRect.top < 0);
  });
  const stopEvents = app.store.on('event', (event) => {
    if (event.type === 'memberLeft' && event.member === was && event.reason === 'kicked') removed = true;
  });
  const stop = app.store.watch(PART.room | PART.presence | PART.you | PART.link, show);
  wide.addEventListener('change', arrange);
  show();

  return {
    node,
    destroy() {
      destroyed = true;
      stop();
      stopEvents();
      stuck.disconnect();
      wide.removeEventListener('change', arrange);
      clearTimeout(barTimer);
      clear();
      end?.destroy();
    },
  };
}
