// The transport of a DJ: play, pause, skip, and which device plays. Seeking is by the waveform.

import { stepOf } from '../room/next.js';
import { PART } from '../room/room.js';
import { t } from '../text/en-more.js';
import { isolated } from './dialog.js';
import { h, stylesheet, svg, text } from './dom.js';
import { playHere } from './play-here.js';
import { silence } from './silence.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/room.js').Room} Room
 * @typedef {import('../room/room.js').Track} Track
 */

/**
 * What "Play" would do now.
 *
 * The queue's first song comes first. Where the queue is empty and the room orders by votes or by turns, the most wanted
 * song starts. Where DJs decide, nothing does. Songs that the deck lacks come after all others.
 *
 * @param {Room} room
 * @returns {{does: 'pause' | 'resume' | 'head' | 'request' | 'nothing', track?: Track, entry?: number}}
 */
export function nextStep(room) {
  const { playback, queue, requests } = room;
  if (playback.status !== 'stopped') {
    return { does: playback.status === 'playing' ? 'pause' : 'resume', track: room.tracks.get(playback.track), entry: playback.entry };
  }
  const first = queue.find(({ track }) => !room.tracks.get(track)?.missing) ?? queue[0];
  if (first) return { does: 'head', track: room.tracks.get(first.track), entry: first.entry };
  const request = requests.find(({ missing }) => !missing) ?? requests[0];
  if (room.settings.queueMode !== 'dj' && request) return { does: 'request', track: request };
  return { does: 'nothing' };
}

/**
 * Whether a command of the transport waits for its answer.
 *
 * @param {App} app
 */
const isBusy = ({ store }) => ['play', 'pause', 'resume', 'skip', 'enqueue'].some((type) => store.isPending(type));

/**
 * Begins the deck here, where no device is the deck and the files are here, or were. A deck that waits for a tap takes
 * this one.
 *
 * @param {App} app
 * @returns {Promise<boolean>} false where the person is asked for the files first, and nothing is to go on air
 */
async function beginHere(app) {
  const { room, link } = app.store;
  if (app.playing?.wants) await app.playing.useTap();
  if (room?.deck.member !== undefined || link.state !== 'live' || app.playing) {
    return !(app.playing && ['starting', 'on'].includes(app.playing.phase) && app.playing.lack.isBare);
  }
  app.unlock();
  return await (await app.device())?.startWithFiles() ?? true;
}

/**
 * Plays or pauses; does nothing where nothing can be played, and while an earlier command waits. It must be called in a
 * tap: the music may begin on this device.
 *
 * What is named is what was there at the tap, so that two people who tap at once do one thing.
 *
 * @param {App} app
 */
export async function togglePlay(app) {
  const { room } = app.store;
  if (!room || !room.isDJ || !app.mayAct() || isBusy(app) || isBeginning) return;
  const { does, track, entry } = nextStep(room);
  try {
    if (does === 'pause') return await app.act({ type: 'pause', entry });
    if (does === 'nothing') return undefined;
    isBeginning = true;
    const mayPlay = await beginHere(app);
    if (does === 'resume') return await app.act({ type: 'resume', entry });
    if (!mayPlay) return app.playing?.startOnceFound(does === 'request' ? track?.track : undefined);
    if (does === 'head') return await app.act({ type: 'play', entry });
    const added = await app.act({ type: 'enqueue', track: track?.track, at: 0 });
    // Somebody was faster.
    const isStopped = app.store.room?.playback.status === 'stopped';
    await app.act({ type: isStopped ? 'play' : 'dequeue', entry: added.entry });
  } catch (error) {
    app.refused(error);
  } finally {
    isBeginning = false;
  }
}

/** A tap is being followed. */
let isBeginning = false;

/**
 * Skips what is on air. Taps while a skip waits for its answer do nothing, so that two of them skip one song.
 *
 * @param {App} app
 */
export async function skip(app) {
  const { room } = app.store;
  if (!room || !room.isDJ || !app.mayAct() || room.playback.status === 'stopped' || isBusy(app)) return;
  try {
    await app.act({ type: 'skip', entry: room.playback.entry });
  } catch (error) {
    app.refused(error);
  }
}

/**
 * The buttons, and a sentence where nothing plays; and the line that says that nobody hears it, for below the lists.
 *
 * @param {App} app
 * @returns {{node: HTMLElement, line: HTMLElement, destroy: () => void}}
 */
export function transport(app) {
  const play = h('button.transport-play', { type: 'button', onclick: () => togglePlay(app) });
  // Loaded before the tap, which may begin the music here.
  const prepare = () => { if (app.store.room?.deck.member === undefined) app.device(); };
  for (const type of ['pointerenter', 'focusin']) play.addEventListener(type, prepare, { once: true });
  const next = h('button.round.transport-skip', { type: 'button', 'aria-label': t.dj.skip, title: t.dj.skip, onclick: () => skip(app) }, svg('next'));
  const hint = h('p.transport-hint', { dir: 'auto' });
  const deck = playHere(app);
  const unheard = silence(app);
  const node = h('div.transport', { role: 'group', 'aria-label': t.dj.transport, hidden: true },
    h('div.transport-row', null, hint, deck.tools, h('div.transport-buttons', null, play, next)), deck.node);
  Promise.all([stylesheet('dj'), app.loadElements()]).then(() => { node.hidden = false; });
  let picture = '';
  const render = () => {
    const { room } = app.store;
    if (!room) return;
    const { does, track } = nextStep(room);
    const isPlaying = does === 'pause';
    const wanted = isPlaying ? 'pause' : 'play';
    if (picture !== wanted) {
      picture = wanted;
      play.replaceChildren(svg(wanted));
    }
    const name = { pause: t.dj.pause, resume: t.dj.resume, head: t.dj.play, request: t.dj.play, nothing: t.dj.play }[does];
    play.setAttribute('aria-label', name);
    play.title = name;
    const isLive = app.mayAct() && room.closedAt === undefined;
    const busy = isBusy(app);
    play.setAttribute('aria-busy', String(busy));
    play.setAttribute('aria-disabled', String(!isLive || does === 'nothing'));
    next.hidden = room.playback.status === 'stopped';
    next.setAttribute('aria-busy', String(busy));
    next.setAttribute('aria-disabled', String(!isLive));
    // Where this device has no file for what waits, another line says so.
    const isTold = track?.missing && app.playing?.phase === 'on' && (does === 'head' || app.playing.lacksFiles);
    const isMissing = track?.missing && room.deck.member !== undefined;
    const sentence = isTold ? '' : does === 'head' && track ? t.dj.playsHead(isolated(track.title))
      : does === 'request' && track ? (isMissing ? t.lists.emptyQueue.missing : t.dj.playsRequest(isolated(track.title)))
        : does === 'nothing' ? /** @type {Record<string, string>} */ (t.dj.steps)[stepOf(room)] ?? '' : '';
    text(hint, sentence);
    hint.hidden = sentence === '';
  };
  render();
  const stop = app.store.watch(PART.playback | PART.queue | PART.votes | PART.pool | PART.room | PART.you | PART.link | PART.pending | PART.deck, render);
  return {
    node, line: unheard.node,
    destroy() {
      stop();
      deck.destroy();
      unheard.destroy();
    },
  };
}
