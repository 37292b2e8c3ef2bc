// The menu of a room: where everything else is, the own name, leaving and signing out.

import { PART } from '../room/room.js';
import { deleteDatabase } from '../store/database.js';
import { t } from '../text/en-more.js';
import { confirm, dialog, follow, isolated, sentenceOf } from './dialog.js';
import { h, number, svg, text } from './dom.js';
import { nameOf, refusedName, shownLength, takenHint } from './names.js';

/** @typedef {import('./dom.js').App} App */

/**
 * Opens the menu.
 *
 * @param {App} app
 * @param {{page?: 'rename'}} [props] `rename` opens the form for the own name at once
 */
export function open(app, props = {}) {
  if (props.page === 'rename') return rename(app);
  const list = h('div.menu');
  const menu = dialog({ title: t.menu.title, body: list, onClose: () => stop() });
  const people = h('span.menu-note');
  /**
   * @param {string} name
   * @param {string} picture
   * @param {() => void} act
   * @param {Node | string | null} [note]
   */
  const item = (name, picture, act, note = null) => h('button.menu-item', {
    type: 'button',
    onclick: () => { menu.close(); act(); },
  }, svg(picture), h('span.menu-name', null, name), note);

  const render = () => {
    const room = app.store.room;
    if (!room) return;
    const asMember = room.you !== null;
    const isOpen = room.closedAt === undefined;
    text(people, number(room.online));
    const key = `${asMember} ${isOpen} ${room.isOwner}`;
    if (list.dataset.key === key) return;
    list.dataset.key = key;
    list.replaceChildren(
      item(t.menu.share, 'share', () => app.open('share')),
      item(t.menu.people, 'people', () => app.open('people'), people),
      item(t.header.history, 'history', () => app.open('history')),
      item(t.menu.statistics, 'chart', () => app.open('statistics')),
      ...(room.isOwner ? [item(t.menu.settings, 'settings', () => app.open('settings'))] : []),
      h('hr'),
      item(t.menu.preferences, 'theme', () => app.open('preferences')),
      ...(matchMedia('(hover: hover)').matches ? [item(t.menu.keys, 'keys', () => app.open('keys'), h('kbd', null, '?'))] : []),
      item(t.menu.rename, 'edit', () => rename(app), h('bdi.menu-note', { dir: 'auto' }, ownName(app))),
      h('hr'),
      ...(asMember && isOpen ? [item(t.menu.leave, 'leave', () => leave(app))] : []),
      item(t.menu.signOut, 'lock', () => signOut(app)),
    );
  };
  render();
  const stop = follow(app, PART.room | PART.you | PART.members | PART.presence | PART.link, () => menu, render);
  return menu;
}

/**
 * The own name: the member's, else the session's.
 *
 * @param {App} app
 * @returns {string}
 */
function ownName(app) {
  const room = app.store.room;
  const member = room?.you ? room.members.get(room.you.member) : undefined;
  return member?.name ?? app.store.session?.name ?? '';
}

/**
 * Changes the own name, in this room and for the rooms to come.
 *
 * @param {App} app
 */
export function rename(app) {
  const input = h('input.field', {
    type: 'text', id: 'own-name', value: ownName(app), maxlength: 80, dir: 'auto', autocomplete: 'nickname', autofocus: true, required: true,
  });
  const refusal = h('p.setting-refusal', { id: 'own-name-refusal', role: 'alert' });
  const taken = h('p.setting-about', { id: 'own-name-taken', role: 'status' });
  input.setAttribute('aria-describedby', 'own-name-refusal own-name-taken');
  input.addEventListener('input', () => text(taken, takenHint(app.store.room, input.value)));
  const save = h('button.pill.primary', { type: 'submit' }, t.menu.save);
  const form = h('form.stack', {
    novalidate: true,
    onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      const name = input.value.trim();
      text(refusal, name === '' ? t.menu.nameMissing : shownLength(name) > 40 ? t.menu.nameLong : '');
      if (refusal.textContent) return input.focus();
      save.disabled = true;
      try {
        // The room first: its rules for names are the session's, and its refusal leaves both as they are.
        if (app.store.room?.you && app.store.room.closedAt === undefined) await app.store.send({ type: 'rename', name });
        await app.http.renameSession(name);
        shown.close();
      } catch (error) {
        const { code } = /** @type {{code?: string}} */ (error ?? {});
        text(refusal, code === 'bad_request' ? refusedName(error) : sentenceOf(error));
        input.focus();
      } finally {
        save.disabled = false;
      }
    },
  }, h('label.setting-name', { for: 'own-name' }, t.menu.renameLabel), input, taken, refusal,
  h('footer.dialog-foot', null, h('button.pill', { type: 'button', onclick: () => shown.close() }, t.menu.cancel), save));
  const shown = dialog({ title: t.menu.rename, body: form, className: 'ask' });
  queueMicrotask(() => input.select());
  return shown;
}

/**
 * Who gets the room where its owner leaves: the longest-standing DJ, else the longest-standing member.
 *
 * @param {import('../room/room.js').Room} room
 */
function heir(room) {
  /** @type {import('../room/room.js').Member | null} */
  let first = null;
  for (const member of room.members.values()) {
    if (member.member === room.you?.member) continue;
    const before = first === null ? 1 : rank(first) - rank(member) || first.joinedAt - member.joinedAt || first.member - member.member;
    if (before > 0) first = member;
  }
  return first;
}

/** @param {import('../room/room.js').Member} member */
const rank = (member) => (member.role === 'dj' ? 0 : 1);

/**
 * Asks, and leaves the room.
 *
 * @param {App} app
 */
async function leave(app) {
  const room = app.store.room;
  if (!room) return;
  const next = room.isOwner ? heir(room) : null;
  const means = room.isOwner ? (next ? t.menu.leaveOwner(isolated(nameOf(room, next))) : t.menu.leaveLast) : '';
  const sentence = h('div.stack', null, means === '' ? null : h('p', { dir: 'auto' }, means), h('p', null, means === t.menu.leaveLast ? t.menu.leaveClosed : t.menu.leaveText));
  if (!await confirm({ title: t.menu.leaveTitle, text: sentence, action: t.menu.leaveDo })) return;
  try {
    await app.store.send({ type: 'leave' });
    app.go('/');
  } catch (error) {
    app.refused(error);
  }
}

/**
 * Asks, ends the session, and deletes what this browser has saved, except for the preferences.
 *
 * @param {App} app
 */
async function signOut(app) {
  if (!await confirm({ title: t.menu.signOutTitle, text: t.menu.signOutText, action: t.menu.signOut })) return;
  // A link that is closed saves no room.
  app.link?.close();
  try {
    await app.http.endSession();
  } catch (error) {
    // One that is over already is as good.
    if (/** @type {{code?: string}} */ (error ?? {}).code !== 'unauthorized') {
      app.link?.open();
      return app.refused(error);
    }
  }
  await app.forgetDevice().catch(() => {});
  await forget();
  // A new page: nothing of the session stays in memory.
  location.assign('/');
}

/** Deletes saved rooms, and names. Resolves when it is done or cannot be done. */
async function forget() {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith('backline.') && !key.startsWith('backline.preferences')) localStorage.removeItem(key);
  }
  sessionStorage.clear();
  const databases = await indexedDB.databases?.().catch(() => []) ?? [];
  await Promise.all(databases.map(({ name }) => name?.startsWith('backline') && deleteDatabase(name)));
}
