// The transport of a DJ: play, pause, skip, and which device plays. Seeking is by the waveform.

import { PART } from '../room/room.js';
import { t } from '../text/en-more.js';
import { isolated } from './dialog.js';
import { h, stylesheet, svg, text } from './dom.js';
import { playHere } from './play-here.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/room.js').Room} Room
 * @typedef {import('../room/room.js').Track} Track
 */

/**
 * What "Play" would do now.
 *
 * The queue's head comes first. Where the queue is empty and the room orders by votes or by turns, the most wanted song
 * starts. Where DJs decide, nothing does.
 *
 * @param {Room} room
 * @returns {{does: 'pause' | 'resume' | 'head' | 'request' | 'nothing', track?: Track}}
 */
export function nextStep(room) {
  const { playback, queue, requests } = room;
  if (playback.status === 'playing') return { does: 'pause', track: room.tracks.get(playback.track) };
  if (playback.status === 'paused') return { does: 'resume', track: room.tracks.get(playback.track) };
  if (queue.length > 0) return { does: 'head', track: room.tracks.get(queue[0].track) };
  if (room.settings.queueMode !== 'dj' && requests.length > 0) return { does: 'request', track: requests[0] };
  return { does: 'nothing' };
}

/**
 * Whether a command of the transport waits for its answer.
 *
 * @param {App} app
 */
const isBusy = ({ store }) => ['play', 'pause', 'resume', 'skip', 'enqueue'].some((type) => store.isPending(type));

/**
 * Plays or pauses; does nothing where nothing can be played, and while an earlier command waits.
 *
 * @param {App} app
 */
export async function togglePlay(app) {
  const { room } = app.store;
  if (!room || !room.isDJ || !app.mayAct() || isBusy(app)) return;
  const { does, track } = nextStep(room);
  try {
    if (does === 'pause') await app.act({ type: 'pause' });
    else if (does === 'resume') await app.act({ type: 'resume' });
    else if (does === 'head') await app.act({ type: 'play' });
    else if (does === 'request' && track) {
      const { entry } = await app.act({ type: 'enqueue', track: track.track, at: 0 });
      await app.act({ type: 'play', entry });
    }
  } catch (error) {
    app.refused(error);
  }
}

/**
 * Skips what is on air. Taps while a skip waits for its answer do nothing, so that two of them skip one song.
 *
 * @param {App} app
 */
export async function skip(app) {
  const { room } = app.store;
  if (!room || !room.isDJ || !app.mayAct() || room.playback.status === 'stopped' || isBusy(app)) return;
  try {
    await app.act({ type: 'skip' });
  } catch (error) {
    app.refused(error);
  }
}

/**
 * The buttons, and a sentence where nothing plays.
 *
 * @param {App} app
 * @returns {{node: HTMLElement, destroy: () => void}}
 */
export function transport(app) {
  const play = h('button.transport-play', { type: 'button', onclick: () => togglePlay(app) });
  const next = h('button.round.transport-skip', { type: 'button', 'aria-label': t.dj.skip, title: t.dj.skip, onclick: () => skip(app) }, svg('next'));
  const hint = h('p.transport-hint', { dir: 'auto' });
  const deck = playHere(app);
  const node = h('div.transport', { role: 'group', 'aria-label': t.dj.transport, hidden: true },
    h('div.transport-row', null, hint, deck.tools, h('div.transport-buttons', null, play, next)), deck.node);
  stylesheet('dj').then(() => { node.hidden = false; });
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
    const sentence = does === 'head' && track ? t.dj.playsHead(isolated(track.title))
      : does === 'request' && track ? t.dj.playsRequest(isolated(track.title))
        : does === 'nothing' ? (room.pool.length === 0 ? t.dj.addFirst : t.dj.queueFirst) : '';
    text(hint, sentence);
    hint.hidden = sentence === '';
  };
  render();
  const stop = app.store.watch(PART.playback | PART.queue | PART.votes | PART.pool | PART.room | PART.you | PART.link | PART.pending | PART.deck, render);
  return {
    node,
    destroy() {
      stop();
      deck.destroy();
    },
  };
}
