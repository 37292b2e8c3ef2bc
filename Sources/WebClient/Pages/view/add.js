// "Add a song" and "Add music": one song by hand, and for DJs a list.

import { PART } from '../room/room.js';
import { t } from '../text/en.js';
import { addTracks, adding, watchWait } from './adding.js';
import { choice, field } from './controls.js';
import { dialog, sentenceOf } from './dialog.js';
import { duration, h, number, stylesheet, text } from './dom.js';
import { LONGEST_DURATION, LONGEST_TEXT, durationOf, hasControl, sameSong, scalars } from './song-list.js';

/** @typedef {import('./dom.js').App} App */
/** @typedef {import('../wire/messages').TrackInfo} TrackInfo */

/** An identifier for a track that has no file. */
export function manualId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The room's tracks by what makes them the same song.
 *
 * @param {App} app
 */
export function songsHere(app) {
  const here = new Map();
  for (const track of app.store.room?.pool ?? []) here.set(sameSong(track), track);
  return here;
}

/**
 * The sentence for a refused addition.
 *
 * @param {unknown} refusal
 */
export function whyNot(refusal) {
  const { code } = /** @type {{ code?: string }} */ (refusal);
  return code === 'limit_reached' ? t.add.full : code === 'forbidden' ? t.add.closed : sentenceOf(refusal);
}

/**
 * Opens the dialog in which songs are added.
 *
 * @param {App} app
 * @param {{ title?: string }} props a title to begin with
 */
export async function open(app, { title = '' } = {}) {
  await stylesheet('add');
  const isDJ = app.store.room?.isDJ ?? false;
  const one = form(app, title, isDJ);
  const body = h('div.add', null, one.node);
  /** @type {(() => void)[]} */
  const ends = [one.destroy];
  const shown = dialog({
    title: isDJ ? t.add.titleDJ : t.add.title, body, wide: isDJ, className: 'add-dialog',
    onClose: () => ends.forEach((end) => end()),
  });
  one.say = shown.notice;
  if (!isDJ) return;
  const { listForm } = await import('./add-list.js');
  const list = listForm(app, () => shown.close());
  list.node.hidden = true;
  ends.push(list.destroy);
  const which = choice([['one', t.add.one], ['many', t.add.many]], 'one', (value) => {
    one.node.hidden = value !== 'one';
    list.node.hidden = value !== 'many';
    shown.notice(null);
    if (value === 'many') list.focus();
  });
  which.node.setAttribute('aria-label', t.add.how);
  which.node.classList.add('add-how');
  body.prepend(which.node);
  body.append(list.node);
}

/**
 * The form for one song.
 *
 * @param {App} app
 * @param {string} begin
 * @param {boolean} isDJ
 */
function form(app, begin, isDJ) {
  const input = (/** @type {Record<string, any>} */ props) => /** @type {HTMLInputElement} */ (h('input', { type: 'text', autocomplete: 'off', dir: 'auto', ...props }));
  const title = input({ value: begin, autofocus: true, required: true, enterkeyhint: 'next' });
  const artist = input({ enterkeyhint: 'next' });
  const album = input({ enterkeyhint: 'next' });
  const length = input({ placeholder: t.add.lengthHint, enterkeyhint: 'done', maxlength: 12, dir: 'ltr' });
  const ask = /** @type {HTMLInputElement} */ (h('input', { type: 'checkbox', checked: true }));
  const fields = {
    title: field(t.add.songTitle, '', title), artist: field(t.add.artist, '', artist),
    album: field(t.add.album, '', album), length: field(t.add.length, '', length),
  };
  const note = h('p.add-note', { role: 'status', hidden: true });
  const go = h('button.pill.primary', { type: 'submit' }, t.add.add);
  const node = /** @type {HTMLFormElement} */ (h('form.add-one', { novalidate: true },
    fields.title.node, fields.artist.node, h('div.add-pair', null, fields.album.node, fields.length.node),
    isDJ ? null : h('label.add-ask', null, ask, h('span', null, t.add.ask)), note, h('div.add-foot', null, go)));
  /** @type {{ node: HTMLElement, say: (sentence: string | null) => void, destroy: () => void }} */
  const handle = { node, say: () => {}, destroy: () => {} };

  /** The song as typed; null where a field says what is wrong, the first such one with the focus. */
  const read = () => {
    /** @type {[HTMLInputElement, { say: (sentence: string | null) => void }, string | null][]} */
    const checks = [
      [title, fields.title, title.value.trim() === '' ? t.add.titleMissing : wrongText(title.value)],
      [artist, fields.artist, wrongText(artist.value)],
      [album, fields.album, wrongText(album.value)],
      [length, fields.length, wrongLength(length.value)],
    ];
    for (const [control, place, wrong] of checks) {
      place.say(wrong);
      if (wrong) control.setAttribute('aria-invalid', 'true');
      else control.removeAttribute('aria-invalid');
    }
    const first = checks.find(([, , wrong]) => wrong !== null);
    first?.[0].focus();
    if (first) return null;
    /** @type {TrackInfo} */
    const track = { source: 'manual', sourceId: manualId(), title: title.value.trim() };
    if (artist.value.trim()) track.artist = artist.value.trim();
    if (album.value.trim()) track.album = album.value.trim();
    const durationMs = length.value.trim() === '' ? null : durationOf(length.value);
    if (durationMs !== null) track.durationMs = durationMs;
    return track;
  };
  const clear = () => {
    for (const control of [title, artist, album, length]) control.value = '';
    title.focus();
  };
  const submit = async () => {
    const track = read();
    if (!track || go.disabled) return;
    const wants = !isDJ && ask.checked;
    const here = songsHere(app).get(sameSong(track));
    if (here && !wants) return fields.title.say(t.add.here);
    go.disabled = true;
    try {
      const [added] = here ? [here.track] : await addTracks(app, [track]);
      if (wants && !app.store.room?.you?.votes.has(added)) await app.store.send({ type: 'vote', track: added });
      handle.say((wants ? t.add.addedAsked : t.add.added)(`\u2068${track.title}\u2069`));
      clear();
    } catch (refusal) {
      if (adding(app).may !== 'wait') handle.say(whyNot(refusal));
    } finally {
      allow();
    }
  };
  const allow = () => {
    const { may, waitMs } = adding(app);
    go.disabled = may !== 'yes';
    note.hidden = may === 'yes';
    text(note, may === 'wait' ? t.pool.wait(duration(waitMs + 999)) : may === 'locked' ? t.pool.locked : may === 'no' ? t.add.closed : '');
  };
  node.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  node.addEventListener('input', (event) => {
    if (!(event.target instanceof HTMLInputElement) || !event.target.hasAttribute('aria-invalid')) return;
    event.target.removeAttribute('aria-invalid');
    for (const [control, place] of /** @type {const} */ ([[title, fields.title], [artist, fields.artist], [album, fields.album], [length, fields.length]])) {
      if (control === event.target) place.say(null);
    }
  });
  title.addEventListener('input', () => fields.title.say(null));
  const stopWaiting = watchWait(app, allow);
  const stop = app.store.watch(PART.room | PART.you, allow);
  handle.destroy = () => {
    stopWaiting();
    stop();
  };
  return handle;
}

/**
 * What is wrong with a text; null: nothing.
 *
 * @param {string} value
 */
function wrongText(value) {
  if (scalars(value.trim()) > LONGEST_TEXT) return t.add.tooLong(number(LONGEST_TEXT));
  return hasControl(value) ? t.add.control : null;
}

/**
 * What is wrong with a length; null: nothing.
 *
 * @param {string} value
 */
function wrongLength(value) {
  if (value.trim() === '') return null;
  const ms = durationOf(value);
  return ms === null ? t.add.lengthWrong : ms > LONGEST_DURATION ? t.add.lengthLong : null;
}
