// The wall: the whole screen shows how to join, and what is playing, for a projector or a tablet at the bar.

import { nextTrack } from '../room/next.js';
import { PART } from '../room/room.js';
import { t } from '../text/en-more.js';
import { sheetOpened } from './back.js';
import { isolated } from './dialog.js';
import { h, number, stylesheet, text } from './dom.js';
import { linkOf, roomCode, whyUnreachable } from './share.js';
import { sleeve } from './sleeve.js';

/**
 * Opens it; Escape, Back or a tap leaves. The screen stays on where the browser allows that.
 *
 * @param {import('./dom.js').App} app
 */
export async function open(app) {
  const first = app.store.room;
  if (!first) return;
  // Full screen first: what enters the top layer later stands above.
  await Promise.all([document.documentElement.requestFullscreen?.({ navigationUI: 'hide' }).catch(() => {}), stylesheet('dialogs')]);
  const name = h('h2.wall-name', { dir: 'auto', translate: 'no' });
  const here = h('p.wall-here');
  const face = h('div.wall-sleeve');
  const state = h('p.wall-state');
  const title = h('p.wall-title', { dir: 'auto' });
  const artist = h('p.wall-artist', { dir: 'auto' });
  const next = h('p.wall-next', { dir: 'auto' });
  const song = h('div.wall-song', null, face, h('div.wall-words', null, state, title, artist, next));
  const node = /** @type {HTMLDialogElement} */ (h('dialog.wall', { 'aria-label': t.share.wall },
    h('div.wall-join', null,
      whyUnreachable() ?? h('div.qr-card', null, roomCode(first.code)),
      h('p.wall-code', { translate: 'no' }, first.code),
      whyUnreachable() ? null : h('p.wall-link', { translate: 'no' }, linkOf(first.code).replace(/^https?:\/\//, ''))),
    h('div.wall-room', null, h('div', null, name, here), song),
    h('p.wall-leave', null, t.share.leaveWall)));

  let shownTrack = -1;
  const render = () => {
    const room = app.store.room;
    if (!room || app.store.link.state === 'ended') return close();
    text(name, room.name);
    text(here, t.header.here(number(room.online)));
    const { playback } = room;
    const track = playback.status === 'stopped' ? undefined : room.tracks.get(playback.track);
    song.classList.toggle('silent', track === undefined);
    if ((track?.track ?? 0) !== shownTrack) {
      shownTrack = track?.track ?? 0;
      face.replaceChildren(...(track ? [sleeve(track)] : []));
    }
    text(state, playback.status === 'paused' ? t.onAir.paused : t.onAir.onAir);
    state.hidden = track === undefined;
    text(title, track?.title ?? t.onAir.nothing, track !== undefined);
    text(artist, track?.artist ?? (track || whyUnreachable() ? '' : t.share.silentAbout), track !== undefined);
    const following = nextTrack(room);
    text(next, following && track ? t.share.next(isolated(following.title)) : '');
  };

  /** @type {WakeLockSentinel | null} */
  let lock = null;
  const keepAwake = async () => {
    if (document.visibilityState !== 'visible' || (lock && !lock.released)) return;
    lock = await navigator.wakeLock?.request('screen').catch(() => null) ?? null;
    if (closed) lock?.release();
  };
  const onFullscreen = () => { if (!document.fullscreenElement) close(); };
  let closed = false;
  function close() {
    if (closed) return;
    closed = true;
    left();
    stop();
    document.removeEventListener('visibilitychange', keepAwake);
    document.removeEventListener('fullscreenchange', onFullscreen);
    lock?.release();
    if (document.fullscreenElement) document.exitFullscreen().catch(() => {});
    if (node.open) node.close();
    node.remove();
  }
  const stop = app.store.watch(PART.room | PART.playback | PART.queue | PART.presence | PART.pool | PART.votes | PART.link, render);
  node.addEventListener('click', close);
  node.addEventListener('close', close);
  document.addEventListener('visibilitychange', keepAwake);
  const left = sheetOpened(close);
  document.body.append(node);
  node.showModal();
  render();
  keepAwake();
  document.addEventListener('fullscreenchange', onFullscreen);
  return { node, close };
}
