// Bans of a room that still hold, read from its events: a room's state does not list them.

import { t } from '../text/en-more.js';
import { isolated, sentenceOf } from './dialog.js';
import { h, text } from './dom.js';
import { moment, unban } from './member.js';
import { markOf, nameOf } from './names.js';

/** @typedef {{member: number, name: string, role?: 'dj', until?: number, reason?: string, by?: number}} Ban */

/** Events in a page, and the most pages that are read to find the names of banned members. */
const PAGE = 1000;
const PAGES = 5;

/**
 * Reads bans that hold, newest first, from the newest events backwards.
 *
 * Each call reads up to five pages of a thousand events: until the names of the bans found are known, or the log begins.
 *
 * @param {import('./dom.js').App} app
 * @param {number} before the seq above the newest event to be read
 * @param {Map<number, Ban>} bans those found by earlier calls; new ones are added
 * @param {Map<number, string | null>} seen members whose newest ban or unban has been read, with their names once known
 * @returns {Promise<number>} the seq to read on from; 1 where the log has been read to its beginning
 */
async function readBans(app, before, bans, seen) {
  const room = app.store.room;
  if (!room) return 1;
  let next = before;
  for (let page = 0; page < PAGES && next > 1; page += 1) {
    const first = Math.max(0, next - 1 - PAGE);
    /** @type {any[]} */
    const events = [];
    for (let after = first; after < next - 1;) {
      const answer = await app.http.request('GET', `/v1/rooms/${room.id}/events?after=${after}&limit=${next - 1 - after}`);
      if (answer.events.length === 0) break;
      events.push(...answer.events);
      after = answer.events.at(-1).seq;
    }
    for (const event of events.reverse()) {
      const ban = bans.get(event.member);
      if (event.type === 'memberBanned' && !seen.has(event.member)) {
        seen.set(event.member, null);
        bans.set(event.member, { member: event.member, name: '', role: event.role, until: event.until, reason: event.reason, by: event.by });
      } else if (event.type === 'memberUnbanned' && !seen.has(event.member)) {
        seen.set(event.member, '');
      } else if ((event.type === 'memberJoined' || event.type === 'memberRenamed') && ban && ban.name === '') {
        ban.name = event.name;
      }
    }
    next = first + 1;
    if ([...bans.values()].every((ban) => ban.name !== '') && bans.size > 0) break;
  }
  return next;
}

/**
 * The list of bans.
 *
 * @param {import('./dom.js').App} app
 * @param {() => import('./dialog.js').Dialog} opened the dialog that shows the list
 * @returns {{node: HTMLElement, load: () => void}} `load` reads the newest events again
 */
export function banList(app, opened) {
  const list = h('ul.bans', { 'aria-label': t.people.banned });
  const note = h('p.empty-note', { role: 'status' });
  const earlier = h('button.pill', { type: 'button', hidden: true, onclick: () => read() }, t.people.earlierBans);
  const node = h('div', null, list, note, earlier);
  /** A log that nothing has been read of, from its newest event on. */
  const unread = () => ({
    bans: /** @type {Map<number, Ban>} */ (new Map()),
    seen: /** @type {Map<number, string | null>} */ (new Map()),
    next: (app.store.room?.seq ?? 0) + 1,
    reading: false,
  });
  /** What is shown. What is read of an earlier one is dropped. */
  let log = unread();

  const show = () => {
    const now = app.store.clock.now();
    const room = app.store.room;
    const holding = [...log.bans.values()].filter((ban) => ban.until === undefined || ban.until > now);
    list.replaceChildren(...holding.map((ban) => {
      const name = ban.name === '' || ban.name === '-' ? t.people.unnamed(String(ban.member)) : ban.name;
      const mark = room && ban.name !== '' ? markOf(room, ban, holding) : '';
      const by = room?.members.get(ban.by ?? 0);
      const lines = [ban.until === undefined ? t.people.bannedEver : t.people.bannedUntil(moment(ban.until)), room && by ? t.people.bannedBy(isolated(nameOf(room, by))) : ''];
      const mayUndo = room?.isOwner || ban.role !== 'dj';
      return h('li.ban', null,
        h('div.names', null,
          h('span.title', null, h('bdi', name), h('span', null, mark)),
          h('span.second', { dir: 'auto' }, lines.filter((line) => line !== '').join(' · ')),
          ban.reason === undefined ? null : h('q.ban-reason', { dir: 'auto', translate: 'no' }, ban.reason)),
        mayUndo ? h('button.pill', {
          type: 'button',
          'aria-label': t.people.undoNamed(name + mark),
          onclick: async () => {
            if (await unban(app, { member: ban.member, name: name + mark }, opened())) {
              log.bans.delete(ban.member);
              show();
            }
          },
        }, t.people.undo) : null);
    }));
    earlier.hidden = log.next <= 1;
    text(note, holding.length > 0 ? '' : log.next > 1 ? t.people.noBansLately : t.people.noBans);
  };

  async function read() {
    const mine = log;
    if (mine.reading) return;
    mine.reading = true;
    earlier.disabled = true;
    if (list.childElementCount === 0) text(note, t.people.readingBans);
    try {
      mine.next = await readBans(app, mine.next, mine.bans, mine.seen);
      if (mine === log) show();
    } catch (error) {
      if (mine !== log) return;
      text(note, sentenceOf(error));
      earlier.hidden = false;
    } finally {
      mine.reading = false;
      if (mine === log) earlier.disabled = false;
    }
  }

  return {
    node,
    load: () => {
      log = unread();
      read();
    },
  };
}
