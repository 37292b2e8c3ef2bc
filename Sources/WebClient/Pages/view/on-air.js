/** The deck's face: the song on air, who plays it or why, its waveform, its times; and the tint of the page. */

import { PART, positionAt } from '../room/room.js';
import { isolated, t } from '../text/en.js';
import { announce, duration, h, number, stylesheet, svg, text } from './dom.js';
import { nameOf } from './names.js';
import { sleeve, sleeveHues } from './sleeve.js';
import './waveform.js';

/** @typedef {import('./dom.js').App} App */
/** @typedef {{ peaks: Uint8Array, rms: Uint8Array } | null} Waveform */

/** A waveform's bytes: 1,024 peaks, then 1,024 RMS values. */
const COLUMNS = 1024;
/** The next song's waveform is fetched when the song on air has this long to go. */
const AHEAD_MS = 30_000;
/** A waveform that could not be loaded is asked for again after this time, where the server names none. */
const AGAIN_MS = 10_000;
/** A song whose file was missing is told for so long. */
const LATELY_MS = 60_000;
/** Waveforms that are kept. */
const KEPT = 8;
/** The hues of a page without a song. */
const REST = [322, 276];

/** Entries that are remembered as skipped for want of their file: more than a list of what was played has. */
const MISSED = 2000;

/** Entries that were skipped for want of their file, as far as this page has heard of them, by room: `ID 7`. */
export const missed = new Set();

/**
 * Remembers such an entry; the oldest is forgotten.
 *
 * @param {string} room  its id
 * @param {number} entry
 */
export function miss(room, entry) {
  missed.add(`${room} ${entry}`);
  if (missed.size > MISSED) missed.delete(missed.values().next().value);
}

/** @type {Map<string, Promise<Waveform>>} */
const waveforms = new Map();

/**
 * The waveform of a name, null where the server has none. One that could not be loaded is asked for again after a wait.
 *
 * @param {App} app
 * @param {string} room  its id
 * @param {string} name
 * @returns {Promise<Waveform>}
 */
function waveformOf(app, room, name) {
  const path = `/v1/rooms/${room}/waveforms/${name}`;
  let waveform = waveforms.get(path);
  if (!waveform) {
    waveform = app.http.bytes(path).then((/** @type {Uint8Array | null} */ bytes) => {
      if (!bytes || bytes.length !== 2 * COLUMNS) return null;
      return { peaks: bytes.subarray(0, COLUMNS), rms: bytes.subarray(COLUMNS) };
    });
    waveforms.set(path, /** @type {Promise<Waveform>} */ (waveform));
    /** @type {Promise<Waveform>} */ (waveform).catch((error) => { setTimeout(() => waveforms.delete(path), waitOf(error)); });
    for (const old of [...waveforms.keys()].slice(0, -KEPT)) waveforms.delete(old);
  }
  return /** @type {Promise<Waveform>} */ (waveform);
}

/** What tells what comes next: a room that plays does not need it at once. */
const upcoming = () => import('../room/next.js');

/** @param {any} error  a Refusal */
const waitOf = (error) => error?.retryAfterMs || AGAIN_MS;

/**
 * Tints the page with two hues: one layer of light fades over the other, and what is coloured changes at once.
 *
 * @param {number[]} hues
 */
function tint([a, b]) {
  const { body } = document;
  const layers = [...document.querySelectorAll('body > .tint')];
  const shown = layers.find((layer) => layer.classList.contains('shown'));
  if (shown && body.style.getPropertyValue('--hue-a') === String(a) && body.style.getPropertyValue('--hue-b') === String(b)) return;
  body.style.setProperty('--hue-a', String(a));
  body.style.setProperty('--hue-b', String(b));
  const next = /** @type {HTMLElement | undefined} */ (layers.find((layer) => layer !== shown));
  next?.style.setProperty('--hue-a', String(a));
  next?.style.setProperty('--hue-b', String(b));
  shown?.classList.remove('shown');
  next?.classList.add('shown');
}

/**
 * The deck's face.
 *
 * @param {App} app
 * @returns {{ node: HTMLElement, destroy(): void }}
 */
export function onAir(app) {
  const cover = h('div.cover');
  const eyebrow = h('p.eyebrow');
  const song = h('h2.song', { dir: 'auto' });
  const credit = h('p.credit');
  const who = h('span.who-name');
  const wave = /** @type {import('./waveform.js').WaveForm} */ (h('wave-form'));
  const elapsed = h('span.elapsed');
  const state = h('span.state', { hidden: true }, t.onAir.noDeck);
  const length = h('span.length');
  const times = h('div.times',
    h('span', h('span.unseen', t.onAir.elapsed), elapsed), h('span', h('span.unseen', t.onAir.length), length));
  const actions = h('div.act-row');
  const node = h('section.deck', { 'aria-label': t.onAir.section },
    h('div.deck-head', cover, h('div.deck-text', eyebrow, song, credit, h('p.who', who, state))),
    wave, times, actions);

  let timer = 0;
  let againTimer = 0;
  /** The entry that is shown, by room: a song that begins anew is another entry. */
  let shown = '';
  /**
   * What the waveform is of: a jump that comes late does not move the next song.
   *
   * @type {number | undefined}
   */
  let shownEntry;
  let first = true;
  /** @type {any} the parts that load when they are needed */
  let reactions = null;
  /** @type {any} */
  let transport = null;
  let destroyed = false;
  /**
   * Tracks that this person asked for: they are announced as theirs.
   *
   * @type {Set<number>}
   */
  const asked = new Set();

  const position = () => {
    const { room, clock } = app.store;
    return room ? positionAt(room.playback, clock.now()) : 0;
  };

  /**
   * The length of what is on air in ms, 0 where it is not known. The deck's own page knows what it plays.
   *
   * @param {import('../room/room.js').Track | undefined} track
   */
  const lengthOf = (track) => (track && app.playing?.lengthOf(track.track)) ?? track?.durationMs ?? 0;

  /** Whether nobody plays: a song that goes on beyond the length that its tags claim is heard, as long as a deck is here. */
  const isSilent = (/** @type {import('../room/room.js').Room} */ room) => (
    app.playing?.phase === 'on' ? !app.playing.heard.isHeard : room.deck.member === undefined);

  const show = () => {
    const { room } = app.store;
    if (!room) return;
    const { playback } = room;
    const track = room.onAir;
    const key = track && playback.status !== 'stopped' ? `${room.id} ${playback.entry} ${track.track} ${track.title}` : `${room.id} -`;
    if (key !== shown) {
      shown = key;
      shownEntry = playback.status === 'stopped' ? undefined : playback.entry;
      change(room, track);
    }
    node.hidden = room.closedAt !== undefined;
    node.classList.toggle('dj', room.isDJ);
    node.classList.toggle('member', room.you !== null && room.closedAt === undefined);
    wave.hidden = times.hidden = playback.status === 'stopped';
    wave.classList.toggle('calm', !track?.waveform);
    state.hidden = playback.status === 'stopped' || room.deck.member !== undefined || Boolean(app.playing) || room.closedAt !== undefined;
    if (playback.status !== 'stopped') credits(room, playback);
    else idle(room);
    wave.seekable = room.isDJ && playback.status !== 'stopped' && lengthOf(track) > 0 && room.closedAt === undefined;
    if (wave.seekable) wave.setAttribute('aria-disabled', String(!app.mayAct()));
    shape(room, track);
    tick();
    parts(room);
    for (const voted of room.you?.votes ?? []) asked.add(voted);
  };

  /**
   * Another song, or none.
   *
   * @param {import('../room/room.js').Room} room
   * @param {import('../room/room.js').Track | undefined} track
   */
  const change = (room, track) => {
    tint(track ? sleeveHues(track) : REST);
    cover.replaceChildren(track ? sleeve(track) : h('span.sleeve.bare', { 'aria-hidden': 'true' }, svg('music')));
    const title = track?.title ?? t.onAir.nothing;
    text(song, title, track !== undefined);
    song.title = title.length > 40 ? title : '';
    const size = [...title].length;
    song.classList.toggle('long', size > 26 && size <= 70);
    song.classList.toggle('longer', size > 70);
    const names = [track?.artist, track?.album].filter(Boolean).map((name) => h('bdi', name));
    credit.replaceChildren(...(names.length > 1 ? [names[0], ' — ', names[1]] : names));
    credit.classList.toggle('step', !track);
    who.replaceChildren();
    credited = '';
    wave.letGo();
    if (!first) announce(!track ? t.onAir.nothing : asked.has(track.track) ? t.announce.yours(isolated(title)) : t.announce.song(isolated(title), track.artist ? isolated(track.artist) : ''));
    first = false;
    if (track) asked.delete(track.track);
    document.title = track ? `${isolated(title)} · ${isolated(room.name)}` : `${room.name} · Backline`;
  };

  /**
   * Says what somebody can do where nothing plays. A DJ is told it beside the button for it.
   *
   * @param {import('../room/room.js').Room} room
   */
  const idle = (room) => {
    upcoming().then(({ stepOf }) => {
      if (destroyed || app.store.room !== room || room.playback.status !== 'stopped') return;
      const steps = /** @type {Record<string, string>} */ (t.onAir.steps);
      text(credit, room.isDJ ? '' : steps[stepOf(room)] ?? '');
    }, () => {});
  };

  /** What the line below the artist says now. */
  let credited = '';

  /**
   * The person who started the song; or, on a tap, the rule by which the room chose it.
   *
   * @param {import('../room/room.js').Room} room
   * @param {import('../wire/messages').OnAir} playback
   */
  const credits = (room, playback) => {
    const starter = room.members.get(playback.startedBy ?? 0);
    const name = playback.startedBy === undefined ? null : starter ? nameOf(room, starter) : t.onAir.somebody;
    const key = `${playback.entry} ${name}`;
    if (key === credited) return;
    credited = key;
    if (name !== null) {
      const [before, after] = t.onAir.by('\u0000').split('\u0000');
      who.replaceChildren(before, h('bdi', name), after);
      return;
    }
    who.replaceChildren(h('button.why', { type: 'button', onclick: () => explain(key) }, t.onAir.why));
  };

  /** @param {string} key  what was on air when it was asked for */
  const explain = async (key) => {
    const { room } = app.store;
    if (!room || room.playback.status === 'stopped') return;
    try {
      const [events, { whyOnAir }] = await Promise.all([
        app.http.request('GET', `/v1/rooms/${room.id}/events?after=${Math.max(0, room.playback.startedSeq - 4)}&limit=4`),
        import('../room/why.js'),
      ]);
      if (credited !== key) return;
      const why = whyOnAir(events.events, room);
      const focused = who.contains(document.activeElement);
      who.replaceChildren(h('span', { tabindex: '-1' }, reason(room, why)));
      if (focused) /** @type {HTMLElement} */ (who.firstChild)?.focus();
    } catch (error) {
      app.refused(error);
    }
  };

  /**
   * @param {import('../room/room.js').Room} room
   * @param {import('../room/why.js').Why | null} why
   */
  const reason = (room, why) => {
    if (why?.rule === 'votes') return t.onAir.mostVotes(number(why.votes));
    if (why?.rule === 'fair') {
      const member = why.member === null ? undefined : room.members.get(why.member);
      return member ? t.onAir.turn(isolated(nameOf(room, member)), number(why.round)) : t.onAir.turnOfSomebody(number(why.round));
    }
    return why?.rule === 'repeatAfterPlays' ? t.onAir.passedOver : t.onAir.whyUnknown;
  };

  /**
   * @param {import('../room/room.js').Room} room
   * @param {import('../room/room.js').Track | undefined} track
   */
  const shape = (room, track) => {
    const durationMs = lengthOf(track);
    const playing = room.playback.status === 'playing';
    const draw = (/** @type {Waveform} */ waveform) => wave.show({ peaks: waveform?.peaks ?? null, rms: waveform?.rms ?? null, durationMs }, position, playing);
    const name = track?.waveform ?? '';
    if (name === drawn.name) return draw(drawn.waveform);
    drawn = { name, waveform: null };
    draw(null);
    if (!name) return;
    waveformOf(app, room.id, name).then((waveform) => {
      if (destroyed || drawn.name !== name) return;
      drawn.waveform = waveform;
      const now = app.store.room;
      if (now) shape(now, now.onAir);
    }, (error) => {
      clearTimeout(againTimer);
      againTimer = window.setTimeout(() => {
        if (drawn.name === name) drawn.name = '-';
        if (!destroyed && app.store.link.state === 'live') show();
      }, waitOf(error));
    });
  };

  /**
   * The waveform that is shown.
   *
   * @type {{ name: string, waveform: Waveform }}
   */
  let drawn = { name: '-', waveform: null };

  /** Writes the times, at each whole second of the song. */
  const tick = () => {
    clearTimeout(timer);
    const { room } = app.store;
    if (!room || document.hidden || room.closedAt !== undefined) return;
    const { playback } = room;
    const durationMs = lengthOf(room.onAir);
    const at = position();
    const isBeyond = durationMs > 0 && at >= durationMs;
    const past = playback.status === 'playing' && isBeyond && isSilent(room);
    const label = playback.status === 'stopped' ? '' : playback.status === 'paused' ? t.onAir.paused : past ? t.onAir.waiting : t.onAir.onAir;
    text(eyebrow, label);
    eyebrow.classList.toggle('calm', playback.status !== 'playing' || past);
    text(elapsed, playback.status === 'stopped' ? '' : duration(past ? durationMs : at));
    text(length, playback.status === 'stopped' || !durationMs || (isBeyond && !past) ? '' : duration(durationMs));
    if (length.parentElement) length.parentElement.hidden = length.textContent === '';
    if (playback.status !== 'playing' || past) return;
    if (durationMs > 0 && durationMs - at < AHEAD_MS) prefetch(room);
    timer = window.setTimeout(tick, 1000 - (at % 1000) + 4);
  };

  /**
   * Fetches the waveform of the song that probably comes next.
   *
   * @param {import('../room/room.js').Room} room
   */
  const prefetch = (room) => {
    upcoming().then((known) => {
      const next = known.nextTrack(room);
      if (next?.waveform && app.store.link.state === 'live') waveformOf(app, room.id, next.waveform).catch(() => {});
    }, () => {});
  };

  /**
   * Loads what only members, and only DJs, need.
   *
   * @param {import('../room/room.js').Room} room
   */
  const parts = (room) => {
    if (room.you && room.closedAt === undefined && !reactions) {
      reactions = {};
      Promise.all([app.load(() => import('./reactions.js')), stylesheet('later')]).then(([loaded]) => {
        if (destroyed || !loaded) return;
        reactions = loaded.reactions(app);
        actions.append(...reactions.nodes);
        node.append(reactions.layer);
      });
    } else if (reactions?.destroy && (!room.you || room.closedAt !== undefined)) {
      reactions.destroy();
      reactions = null;
    }
    if (room.isDJ && room.closedAt === undefined && !transport) {
      transport = {};
      app.load(() => import('./transport.js')).then((loaded) => {
        if (destroyed || !loaded) return;
        transport = loaded.transport(app);
        transport.node.classList.add('transport');
        node.insertBefore(transport.node, actions);
        node.parentElement?.append(transport.line);
      });
    } else if (transport?.destroy && (!room.isDJ || room.closedAt !== undefined)) {
      transport.destroy();
      transport.node.remove();
      transport = null;
    }
  };

  wave.addEventListener('seek', (event) => {
    const positionMs = /** @type {CustomEvent<number>} */ (event).detail;
    app.act({ type: 'seek', positionMs, entry: shownEntry }).catch(app.refused).finally(() => wave.letGo(positionMs));
  });
  const seen = () => { if (!document.hidden) show(); };
  document.addEventListener('visibilitychange', seen);
  const stopVotes = app.store.on('event', (event) => {
    const you = app.store.room?.you;
    if (you && event.by === you.member && event.type === 'voteCast') asked.add(event.track);
    if (you && event.by === you.member && event.type === 'voteWithdrawn') asked.delete(event.track);
    if (!event.missing) return;
    if (app.store.room) miss(app.store.room.id, event.entry);
    const track = app.store.room?.tracks.get(event.track);
    if (track && app.store.clock.now() - event.at < LATELY_MS) app.toast(t.announce.missing(isolated(track.title)));
  });
  const stop = app.store.watch(PART.room | PART.playback | PART.pool | PART.members | PART.you | PART.deck | PART.link, show);
  // What somebody can do where nothing plays depends on what is asked for.
  const stopAsked = app.store.watch(PART.votes | PART.queue | PART.history, () => {
    const { room } = app.store;
    if (room?.playback.status === 'stopped') idle(room);
  });
  show();

  return {
    node,
    destroy() {
      destroyed = true;
      stop();
      stopAsked();
      stopVotes();
      clearTimeout(timer);
      clearTimeout(againTimer);
      document.removeEventListener('visibilitychange', seen);
      reactions?.destroy?.();
      transport?.destroy?.();
    },
  };
}
