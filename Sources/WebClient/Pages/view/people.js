// The members of a room, who of them is here, and what the viewer may do about them.

import { PART } from '../room/room.js';
import { t } from '../text/en-more.js';
import { banList } from './bans.js';
import { choice } from './controls.js';
import { dialog, follow } from './dialog.js';
import { h, number, svg, text } from './dom.js';
import { openMember, paintFace } from './member.js';
import { markOf, nameOf } from './names.js';
import './windowed-list.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/room.js').Room} Room
 * @typedef {import('../room/room.js').Member} Member
 */

/** From this many members on, there is a field to find one. */
const MANY = 12;

const RANK = { owner: 0, dj: 1, guest: 2 };

/**
 * A text without case and accents, for finding.
 *
 * @param {string} value
 */
const plain = (value) => value.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Compares names as people expect it, numbers by their value. */
const names = new Intl.Collator(undefined, { sensitivity: 'base', numeric: true });

/**
 * The members whose names have `query` in them, by role, then by name.
 *
 * @param {Room} room
 * @param {string} query
 * @returns {Member[]}
 */
function membersFound(room, query) {
  const wanted = plain(query.trim());
  return [...room.members.values()]
    .filter((member) => wanted === '' || plain(member.name).includes(wanted))
    .sort((a, b) => RANK[a.role] - RANK[b.role] || names.compare(a.name, b.name) || a.member - b.member);
}

/**
 * The same members in the same order, but those who are here first. Where that is not known, nobody moves.
 *
 * @param {Member[]} members
 * @param {Set<number> | null} present
 * @returns {Member[]}
 */
function hereFirst(members, present) {
  if (present === null) return members;
  const here = members.filter((member) => present.has(member.member));
  return here.concat(members.filter((member) => !present.has(member.member)));
}

/**
 * Whether the viewer may change or remove a member.
 *
 * @param {Room} room
 * @param {Member} member
 */
export function mayActOn(room, member) {
  if (room.closedAt !== undefined || member.member === room.you?.member) return false;
  return room.isOwner || (room.isDJ && member.role === 'guest');
}

/**
 * Opens the list.
 *
 * @param {App} app
 */
export function open(app) {
  const list = /** @type {import('./windowed-list.js').WindowedList} */ (h('track-list.people-list'));
  list.list.setAttribute('aria-label', t.menu.people);
  const summary = h('p.people-summary');
  const find = h('input.field', { type: 'search', placeholder: t.people.find, 'aria-label': t.people.find, dir: 'auto' });
  const nobody = h('p.empty-note', { hidden: true });
  const banned = banList(app, () => shown);
  const tabs = choice([['members', t.people.members], ['bans', t.people.banned]], 'members', (which) => {
    members.hidden = which !== 'members';
    banned.node.hidden = which !== 'bans';
    if (which === 'bans') banned.load();
    else render();
  });
  tabs.node.setAttribute('aria-label', t.people.which);
  const members = h('div.people-members', null, h('div.people-find', null, find), summary, nobody, list);
  banned.node.hidden = true;
  const shown = dialog({
    title: t.menu.people,
    wide: true,
    className: (app.store.room?.members.size ?? 0) < MANY ? '' : 'tall',
    body: h('div.people', null, tabs.node, members, banned.node),
    onClose: () => stop(),
  });

  /** @type {import('./windowed-list.js').RowView<Member>} */
  const view = {
    key: (member) => member.member,
    make: memberRow,
    update: (row, member) => { if (app.store.room) fill(row, app.store.room, member); },
  };
  let query = '';
  /** @type {Member[] | null} */
  let found = null;
  const render = (keepPlace = true) => {
    const room = app.store.room;
    if (!room) return;
    tabs.node.hidden = !room.isDJ;
    if (!room.isDJ && members.hidden) {
      tabs.set('members');
      members.hidden = false;
      banned.node.hidden = true;
    }
    find.parentElement.hidden = room.members.size < MANY;
    found ??= membersFound(room, query);
    text(summary, t.people.summary(number(room.online), number(room.members.size)));
    nobody.hidden = found.length > 0;
    text(nobody, t.people.nobody);
    list.show(hereFirst(found, room.present), view, keepPlace);
  };
  find.addEventListener('input', () => {
    query = find.value;
    found = null;
    render(false);
  });
  list.addEventListener('click', (event) => {
    const at = list.at(event.target);
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    if (at && button) openMember(app, at.item, shown);
  });
  render();
  // The list measures its rows when its styles apply.
  const sized = new ResizeObserver(() => render());
  sized.observe(members);
  const stopWatching = follow(app, PART.members | PART.presence | PART.you | PART.room | PART.link, () => shown, (changed) => {
    if (changed & PART.members) found = null;
    render();
  });
  const stopHearing = app.store.on('event', (event) => {
    if (!banned.node.hidden && (event.type === 'memberBanned' || event.type === 'memberUnbanned')) banned.load();
  });
  const stop = () => {
    sized.disconnect();
    stopHearing();
    stopWatching();
  };
  return shown;
}

/** A row without a member. */
function memberRow() {
  return h('li.person', null,
    h('span.person-face', { 'aria-hidden': 'true', translate: 'no' }),
    h('span.names', null, h('span.title', null, h('bdi'), h('span')), h('span.second')),
    h('span.badge', { hidden: true }),
    h('button.round.person-more', { type: 'button', 'data-do': 'more', 'aria-haspopup': 'dialog', hidden: true }, svg('dots')));
}

/**
 * Fills a row.
 *
 * @param {HTMLElement} row
 * @param {Room} room
 * @param {Member} member
 */
function fill(row, room, member) {
  const [face, names, badge, more] = /** @type {any} */ (row.children);
  const isHere = room.present?.has(member.member);
  const isYou = member.member === room.you?.member;
  row.classList.toggle('is-here', isHere === true);
  row.classList.toggle('is-away', isHere === false);
  paintFace(face, member);
  text(names.firstElementChild.firstElementChild, member.name);
  text(names.firstElementChild.lastElementChild, markOf(room, member));
  text(names.lastElementChild, [isYou ? t.people.you : '', isHere === undefined ? '' : isHere ? t.people.here : t.people.away].filter((part) => part !== '').join(' · '));
  badge.hidden = member.role === 'guest';
  badge.classList.toggle('owner', member.role === 'owner');
  text(badge, member.role === 'owner' ? t.people.owner : t.people.dj);
  more.hidden = !mayActOn(room, member);
  const name = t.people.actOn(nameOf(room, member));
  if (more.getAttribute('aria-label') !== name) more.setAttribute('aria-label', name);
}
