// What was played in a room: the last fifty from its state, earlier ones from its events.

import { PART, standingOf } from '../room/room.js';
import { t } from '../text/en-more.js';
import { dialog, follow, sentenceOf } from './dialog.js';
import { currentLocale, duration, h, keyed, svg, text } from './dom.js';
import { miss, missed } from './on-air.js';
import { sleeve } from './sleeve.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/room.js').HistoryEntry} HistoryEntry
 */

/** Events in a page; the most pages that one tap on "Earlier" reads; the songs after which it stops. */
const PAGE = 1000;
const PAGES = 5;
const ENOUGH = 25;

/** The most songs that the dialog shows. */
const MOST = 1000;

/**
 * Reads songs that ended before those already shown, newest first.
 *
 * @param {App} app
 * @param {{next: number, titles: Map<number, {title: string, artist?: string}>}} place the seq above the newest event to
 *   be read, moved on by each call (1: the log has been read to its beginning); `titles` keeps those of removed tracks
 * @param {(entry: number) => boolean} isShown
 * @returns {Promise<HistoryEntry[]>}
 */
async function readEarlier(app, place, isShown) {
  const room = app.store.room;
  /** @type {HistoryEntry[]} */
  const found = [];
  if (!room) return found;
  for (let page = 0; page < PAGES && place.next > 1 && found.length < ENOUGH; page += 1) {
    const first = Math.max(0, place.next - 1 - PAGE);
    /** @type {any[]} */
    const events = [];
    for (let after = first; after < place.next - 1;) {
      const answer = await app.http.request('GET', `/v1/rooms/${room.id}/events?after=${after}&limit=${place.next - 1 - after}`);
      if (answer.events.length === 0) break;
      events.push(...answer.events);
      after = answer.events.at(-1).seq;
    }
    for (const event of events.reverse()) {
      if (event.type === 'tracksAdded') for (const track of event.tracks) place.titles.set(track.track, track);
      if (event.type !== 'entryFinished' || isShown(event.entry)) continue;
      found.push({
        entry: event.entry, track: event.track, title: '', startedAt: event.startedAt,
        endedAt: event.endedAt ?? event.at, reason: event.reason, playedMs: event.playedMs,
      });
      if (event.missing) miss(room.id, event.entry);
    }
    place.next = first + 1;
  }
  return found;
}

/**
 * Opens it.
 *
 * @param {App} app
 */
export function open(app) {
  if (!app.store.room) return null;
  const list = h('ol.history', { 'aria-label': t.header.history });
  const empty = h('p.empty-note', { hidden: true });
  const note = h('p.empty-note', { role: 'status' });
  const earlier = h('button.pill', { type: 'button', onclick: () => more() }, t.history.earlier);
  const shown = dialog({
    title: t.header.history,
    wide: true,
    body: h('div', null, empty, list, note, h('div.buttons.centred', null, earlier)),
    onClose: () => stop(),
  });

  /**
   * Songs that the state no longer lists, newest first.
   *
   * @type {HistoryEntry[]}
   */
  let old = [];
  /**
   * Songs that the state listed when it was last looked at.
   *
   * @type {readonly HistoryEntry[]}
   */
  let recent = [];
  const place = { next: app.store.room.seq + 1, titles: new Map() };
  let reading = false;

  const render = () => {
    const room = app.store.room;
    if (!room) return;
    if (recent !== room.history) {
      // What falls off the end of the state's list stays in the dialog's.
      const entries = new Set(room.history.map((song) => song.entry));
      old = [...recent.filter((song) => !entries.has(song.entry) && song.startedAt <= (room.history.at(-1)?.startedAt ?? 0)), ...old];
      recent = room.history.slice();
    }
    const songs = [...room.history, ...old];
    let day = '';
    const items = songs.map((song) => {
      const own = dayOf(song.endedAt);
      const isFirst = own !== day;
      day = own;
      return { song, day: isFirst ? own : '' };
    });
    keyed(list, items, (item) => item.song.entry, make, (row, item) => fill(app, row, item.song, item.day, place.titles));
    empty.hidden = songs.length > 0;
    text(empty, t.history.empty);
    earlier.hidden = room.history.length < 50 || place.next <= 1 || songs.length >= MOST;
  };

  async function more() {
    if (reading) return;
    reading = true;
    earlier.setAttribute('aria-busy', 'true');
    text(note, '');
    try {
      const entries = new Set([...recent, ...old].map((song) => song.entry));
      const found = await readEarlier(app, place, (entry) => entries.has(entry));
      old.push(...found);
      render();
      if (place.next <= 1) text(note, t.history.beginning);
      else if (found.length === 0) text(note, t.history.notYet);
    } catch (error) {
      text(note, sentenceOf(error));
    } finally {
      reading = false;
      earlier.removeAttribute('aria-busy');
    }
  }

  list.addEventListener('click', (/** @type {Event} */ event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    const track = app.store.room?.tracks.get(Number(button?.dataset.track));
    if (!button || !track || button.getAttribute('aria-disabled') === 'true') return;
    app.store.toggleVote(track).catch((error) => shown.notice(error?.code === 'conflict' ? t.lists.late : sentenceOf(error)));
  });
  render();
  const stop = follow(app, PART.history | PART.votes | PART.pool | PART.you | PART.pending | PART.playback | PART.link, () => shown, render);
  return shown;
}

/**
 * The day of a time: `Today`, `Yesterday`, or its date.
 *
 * @param {number} at ms since the epoch
 */
function dayOf(at) {
  const day = new Date(at);
  const today = new Date();
  const before = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (day.toDateString() === today.toDateString()) return t.history.today;
  if (day.toDateString() === before.toDateString()) return t.history.yesterday;
  return new Intl.DateTimeFormat(currentLocale(), { weekday: 'long', day: 'numeric', month: 'long' }).format(at);
}

/** A row without a song. */
function make() {
  return h('li', null,
    h('h3.day', { hidden: true }),
    h('div.played', null,
      h('div.played-sleeve'),
      h('div.names', null, h('bdi.title', { dir: 'auto' }), h('bdi.artist', { dir: 'auto' }), h('span.second')),
      h('button.pill.again', { type: 'button', 'aria-pressed': 'false' }, svg('tick'), h('span'))));
}

/**
 * Fills a row.
 *
 * @param {App} app
 * @param {HTMLElement} row
 * @param {HistoryEntry} song
 * @param {string} day empty, where the row above is of the same day
 * @param {Map<number, {title: string, artist?: string}>} titles of tracks that may be gone
 */
function fill(app, row, song, day, titles) {
  const room = app.store.room;
  if (!room) return;
  const [heading, played] = /** @type {HTMLElement[]} */ ([...row.children]);
  const [face, names, again] = /** @type {HTMLElement[]} */ ([...played.children]);
  heading.hidden = day === '';
  text(heading, day);
  const track = room.tracks.get(song.track);
  const named = song.title !== '' ? song : track ?? titles.get(song.track);
  const title = named?.title ?? t.history.gone;
  const face_of = `${title}\n${named?.artist ?? ''}`;
  if (row.dataset.face !== face_of) {
    row.dataset.face = face_of;
    face.replaceChildren(sleeve(/** @type {any} */ ({ title, artist: named?.artist })));
  }
  text(names.children[0], title, named !== undefined);
  text(names.children[1], named?.artist ?? '');
  const clock = new Intl.DateTimeFormat(currentLocale(), { timeStyle: 'short' });
  const reason = missed.has(`${room.id} ${song.entry}`) ? t.history.missing : song.reason === 'ended' ? t.history.ended : song.reason === 'skipped' ? t.history.skipped(duration(song.playedMs)) : t.history.replaced(duration(song.playedMs));
  text(names.children[2], `${clock.format(song.startedAt)} · ${reason}`);
  again.hidden = room.you === null || room.closedAt !== undefined || track === undefined || standingOf(room, track.track) !== null;
  if (track === undefined) {
    if (named !== undefined) text(names.children[2], `${clock.format(song.startedAt)} · ${reason} · ${t.history.notHere}`);
    return;
  }
  const { mine, pending } = app.store.votesOf(track);
  again.dataset.track = String(track.track);
  again.setAttribute('aria-pressed', String(mine));
  again.setAttribute('aria-busy', String(pending));
  again.setAttribute('aria-disabled', String(app.store.link.state !== 'live'));
  again.setAttribute('aria-label', t.history.againNamed(title));
  text(/** @type {Element} */ (again.lastElementChild), mine ? t.history.asked : t.history.again);
}
