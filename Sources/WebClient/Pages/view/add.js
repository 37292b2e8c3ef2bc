// "Add a song" and "Add music": one song by hand, and for DJs files and a list.

import { PART } from '../room/room.js';
import { t } from '../text/en-more.js';
import { addTracks, adding, watchWait } from './adding.js';
import { choice } from './controls.js';
import { dialog, isolated, sentenceOf } from './dialog.js';
import { attempt, duration, h, number, stylesheet, text } from './dom.js';
import { allRight, textField } from './inputs.js';
import { LONGEST_DURATION, LONGEST_TEXT, SameSongs, durationOf, hasControl, scalars } from './song-list.js';

/** @typedef {import('./dom.js').App} App */
/** @typedef {import('../wire/messages').TrackInfo} TrackInfo */

/**
 * @typedef {object} Form
 * @property {HTMLElement} node
 * @property {HTMLElement} go the button that sends it
 * @property {HTMLElement} first what has the focus at the beginning
 * @property {() => void} destroy
 */

/** An identifier for a track that has no file. */
export function manualId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * The room's tracks, to be found by what makes them the same song.
 *
 * @param {App} app
 */
export function songsHere(app) {
  return new SameSongs(app.store.room?.pool);
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
 * Takes files that are dropped while the dialog is open.
 *
 * @type {((items: any) => void) | null}
 */
let take = null;

/**
 * Opens the dialog in which songs are added.
 *
 * @param {App} app
 * @param {{ title?: string, items?: any }} [props] a title to begin with; files and folders that were dropped on the page
 */
export async function open(app, props = {}) {
  if (props.items && take) return take(props.items);
  await stylesheet('add');
  const isDJ = app.store.room?.isDJ ?? false;
  /** @type {import('./dialog.js').Dialog} */
  let shown;
  const say = (/** @type {string | null} */ sentence) => shown.notice(sentence);
  // A DJ adds one song after the other; a guest goes back to where the song is now, and may have to wait before the next.
  const one = form(app, props.title ?? '', isDJ, say, isDJ ? say : (sentence) => {
    shown.close();
    app.toast(sentence);
  });
  /** @type {Record<string, Form>} */
  const forms = { one };
  const body = h('div.add');
  if (isDJ) {
    const loaded = await app.load(() => Promise.all([import('./add-files.js'), import('./add-list.js'), stylesheet('deck')]));
    if (!loaded) return;
    const [{ filesForm, filesLabel }, { listForm }] = loaded;
    const close = () => shown.close();
    const files = filesForm(app, close, props.items);
    Object.assign(forms, { files, many: listForm(app, close) });
    const which = choice([['files', filesLabel()], ['one', t.add.one], ['many', t.add.many]], props.title ? 'one' : 'files', (value) => {
      choose(value);
      shown.notice(null);
    });
    which.node.setAttribute('aria-label', t.add.how);
    body.append(which.node);
    take = (items) => {
      which.set('files');
      choose('files');
      files.take(items);
    };
  }
  const choose = (/** @type {string} */ name) => {
    for (const [of, { node, go }] of Object.entries(forms)) node.hidden = go.hidden = of !== name;
  };
  const first = isDJ && !props.title ? 'files' : 'one';
  choose(first);
  body.append(...Object.values(forms).map(({ node }) => node));
  shown = dialog({
    title: isDJ ? t.add.titleDJ : t.add.title, body, foot: h('footer.dialog-foot', null, Object.values(forms).map(({ go }) => go)),
    wide: isDJ, className: 'add-dialog',
    onClose: () => {
      take = null;
      for (const each of Object.values(forms)) each.destroy();
    },
  });
  // Set in the document: a browser complains of an element that comes with it while another has the focus.
  forms[first].first.setAttribute('autofocus', '');
}

/**
 * The form for one song.
 *
 * @param {App} app
 * @param {string} begin
 * @param {boolean} isDJ
 * @param {(sentence: string | null) => void} say
 * @param {(sentence: string) => void} done tells that the song was added; the form is empty again by then
 * @returns {Form}
 */
function form(app, begin, isDJ, say, done) {
  const title = textField(t.add.songTitle, { value: begin, required: true, enterkeyhint: 'next' });
  const artist = textField(t.add.artist, { enterkeyhint: 'next' });
  const album = textField(t.add.album, { enterkeyhint: 'next' });
  const length = textField(t.add.length, { placeholder: t.add.lengthHint, enterkeyhint: 'done', maxlength: 12, dir: 'ltr' });
  const ask = /** @type {HTMLInputElement} */ (h('input', { type: 'checkbox', checked: true }));
  const note = h('p.add-note', { role: 'status', hidden: true });
  const go = /** @type {HTMLButtonElement} */ (h('button.pill.primary', { type: 'submit', form: 'add-one' }, t.add.add));
  const node = h('form.add-one#add-one', { novalidate: true }, title.node, artist.node, h('div.add-pair', null, album.node, length.node),
    isDJ ? null : h('label.add-ask', null, ask, h('span', null, t.add.ask)), note);

  let isBusy = false;

  /** The song as typed; null where a field says what is wrong. */
  const read = () => {
    const durationMs = durationOf(length.input.value);
    const right = allRight([
      [title, title.input.value.trim() === '' ? t.add.titleMissing : wrongText(title.input.value)],
      [artist, wrongText(artist.input.value)],
      [album, wrongText(album.input.value)],
      [length, length.input.value.trim() === '' ? null : durationMs === null ? t.add.lengthWrong : durationMs > LONGEST_DURATION ? t.add.lengthLong : null],
    ]);
    if (!right) return null;
    /** @type {TrackInfo} */
    const track = { source: 'manual', sourceId: manualId(), title: title.input.value.trim() };
    if (artist.input.value.trim()) track.artist = artist.input.value.trim();
    if (album.input.value.trim()) track.album = album.input.value.trim();
    if (durationMs !== null) track.durationMs = durationMs;
    return track;
  };
  const submit = async () => {
    const track = go.disabled ? null : read();
    if (!track) return;
    const wants = !isDJ && ask.checked;
    const here = songsHere(app).find(track);
    if (here && !wants) return title.say(t.add.here);
    isBusy = true;
    allow();
    try {
      const [added] = here ? [here.track] : await addTracks(app, [track]);
      if (wants && !app.store.room?.you?.votes.has(added)) await app.store.send({ type: 'vote', track: added });
      for (const { input } of [title, artist, album, length]) input.value = '';
      title.input.focus();
      done((wants ? t.add.addedAsked : t.add.added)(isolated(track.title)));
    } catch (refusal) {
      if (adding(app).may !== 'wait') say(whyNot(refusal));
    } finally {
      isBusy = false;
      allow();
    }
  };
  const allow = () => {
    const { may, waitMs } = adding(app);
    const isLive = app.store.link.state === 'live';
    go.disabled = isBusy || may !== 'yes' || !isLive;
    note.hidden = may === 'yes' && isLive;
    text(note, !isLive ? attempt(app) : may === 'wait' ? t.pool.wait(duration(waitMs + 999)) : may === 'locked' ? t.pool.locked : may === 'no' ? t.add.closed : '');
  };
  node.addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    submit();
  });
  const stopWaiting = watchWait(app, allow);
  const stop = app.store.watch(PART.room | PART.you | PART.link, allow);
  return {
    node, go, first: title.input,
    destroy() {
      stopWaiting();
      stop();
    },
  };
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
