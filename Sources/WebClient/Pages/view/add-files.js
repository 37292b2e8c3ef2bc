// The DJ's own files: choosing and dropping them, what was read, and what was left out.

import { t } from '../text/en-deck.js';
import { songsHere, whyNot } from './add.js';
import { addAll } from './adding.js';
import { reasonOf, untilClosed } from './choose.js';
import { choosesFolders, h, number, svg, text } from './dom.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../deck/library.js').Library} Library
 */

/**
 * Files on their way into the room.
 *
 * @typedef {object} Job
 * @property {'reading' | 'adding' | 'ended'} phase
 * @property {number} done
 * @property {number} total
 * @property {number} isHere songs that the room had already
 * @property {number} skipped files that are no songs of this device
 * @property {{ name: string, why: string }[]} left what was not added, and why
 * @property {boolean} [cancelled]
 * @property {string} [failed] why not all songs could be added
 */

/** Files that were left out and are listed. */
const LISTED = 300;

/**
 * The newest job. It goes on when the dialog is closed.
 *
 * @type {Job | null}
 */
let job = null;
/** What shows the job. */
let tell = () => {};
let cancelling = new AbortController();
/** Jobs follow each other. */
let turn = Promise.resolve();

/**
 * Reads files into the library, and adds the songs that the room does not have.
 *
 * @param {App} app
 * @param {Library} library
 * @param {any[]} items
 */
async function run(app, library, items) {
  const { store } = app;
  cancelling = new AbortController();
  const { signal } = cancelling;
  /** @type {Job} */
  const mine = { phase: 'reading', done: 0, total: 0, isHere: 0, skipped: 0, left: [] };
  job = mine;
  tell();
  try {
    const { songs, skipped, cancelled } = await library.add(items, {
      signal,
      progress: (/** @type {{ done: number, total: number }} */ { done, total }) => {
        Object.assign(mine, { done, total });
        tell();
      },
    });
    mine.cancelled = cancelled;
    mine.skipped = skipped.length;
    mine.left = skipped;
    /** @type {import('../room/same-song.js').SameSongs} */
    const known = songsHere(app);
    const local = new Set(store.room?.pool.filter(({ source }) => source === 'local').map(({ sourceId }) => sourceId));
    const tracks = [];
    for (const song of cancelled ? [] : songs) {
      // A room of a release before has a file under the name that it had there; the second one of that name is another file.
      if (local.has(song.sourceId) || local.delete(song.oldId ?? '') || known.find(song)) {
        mine.isHere += 1;
        mine.left.push({ name: song.name, why: 'isHere' });
      } else tracks.push(library.toTrack(song));
      local.add(song.sourceId);
      known.add(song);
    }
    Object.assign(mine, { phase: 'adding', done: 0, total: tracks.length });
    await addAll(app, tracks, (done) => {
      mine.done = done;
      mine.cancelled ||= signal.aborted || app.store !== store;
      tell();
      return !mine.cancelled;
    });
  } catch (error) {
    mine.failed = whyNot(error);
  }
  mine.phase = 'ended';
  tell();
}

/**
 * What came of a job, in one line.
 *
 * @param {Job} of
 */
function outcome({ done, isHere, skipped, cancelled, failed }) {
  if (cancelled && done === 0) return t.deck.cancelled;
  if (done + isHere + skipped === 0) return failed ?? t.deck.nothing;
  return [
    t.deck.added(number(done)), isHere > 0 && t.deck.isHere(number(isHere)), skipped > 0 && t.deck.skipped(number(skipped)), failed,
  ].filter(Boolean).join(' · ');
}

/** The name of this way to add music. */
export const filesLabel = () => t.deck.files;

/**
 * The form for files and folders.
 *
 * @param {App} app
 * @param {() => void} close
 * @param {any[] | Promise<any[]>} [items] that were dropped on the page
 * @returns {import('./add.js').Form & { take(items: any[] | Promise<any[]>): void }}
 */
export function filesForm(app, close, items) {
  /** @type {import('../deck/device.js').Device | null} */
  let device = null;
  /** @type {Library | null} */
  let library = null;
  const opening = app.device().then(async (made) => {
    await made?.ready;
    device = made;
    library = made?.library ?? null;
    show();
    return library;
  });
  /** @param {any[] | Promise<any[]>} chosen */
  const take = async (chosen) => {
    try {
      const [opened, some] = await Promise.all([opening, chosen]);
      if (opened && some.length > 0) turn = turn.then(() => run(app, opened, some));
    } catch (error) {
      app.refused(error);
    }
  };
  /** @param {'files' | 'folder'} kind */
  const pick = (kind) => { if (library) take(library.pick(kind)); };

  const told = h('p.files-told', { role: 'status' });
  const progress = h('p.files-progress');
  const bar = h('progress', { 'aria-label': t.add.titleDJ });
  const running = h('div.files-running', { hidden: true }, progress, bar);
  const left = h('div.files-left', { tabindex: 0, role: 'group' });
  const kept = h('p.add-note', { hidden: true, role: 'status' });
  const files = h('button.pill.primary', { type: 'button', onclick: () => pick('files') });
  const folder = h('button.pill', { type: 'button', onclick: () => pick('folder') }, t.deck.chooseFolder);
  const cancel = h('button.pill', { type: 'button', onclick: () => cancelling.abort() }, t.deck.cancel);
  const done = h('button.pill.primary', { type: 'button', onclick: close }, t.deck.done);
  const zone = h('div.drop-zone', svg('folder'), h('p', t.deck.drop));
  const node = h('div.add-files', zone, running, told, left, h('p.add-note', t.deck.stay), kept);
  const go = h('div.files-go', cancel, folder, files, done);

  /** The job whose end has been shown. */
  let shown = /** @type {Job | null} */ (null);
  const show = () => {
    const isBusy = job !== null && job.phase !== 'ended';
    const hasEnded = job !== null && !isBusy;
    zone.hidden = isBusy || hasEnded;
    running.hidden = cancel.hidden = !isBusy;
    files.hidden = isBusy;
    folder.hidden = isBusy || hasEnded || !choosesFolders();
    done.hidden = !hasEnded;
    files.classList.toggle('primary', !hasEnded);
    files.disabled = folder.disabled = !library;
    text(files, hasEnded ? t.deck.moreFiles : t.deck.chooseFiles);
    if (isBusy && job) {
      const { phase, done: n, total } = job;
      bar.max = Math.max(1, total);
      bar.value = n;
      text(progress, (phase === 'adding' ? t.add.progress : t.deck.read)(number(n), number(total)));
    }
    if (!hasEnded) left.replaceChildren();
    text(told, hasEnded && job ? outcome(job) : '');
    left.hidden = !hasEnded || job?.left.length === 0;
    if (hasEnded && job && shown !== job) {
      shown = job;
      list(job.left);
      // A button that the end of the job has taken away leaves the focus to the next one.
      if (document.activeElement === document.body || go.contains(document.activeElement)) done.focus();
    }
    const { bytes = 0, persisted = false } = library?.state ?? {};
    text(kept, device && untilClosed(device) || (bytes > 0 && !persisted ? t.deck.deleted : ''));
    kept.hidden = kept.textContent === '';
  };
  /** @param {{ name: string, why: string }[]} all */
  const list = (all) => {
    left.setAttribute('aria-label', t.deck.left(number(all.length)));
    left.replaceChildren(
      h('ul', all.slice(0, LISTED).map(({ name, why }) => h('li', h('bdi', name), h('span', reasonOf(why))))),
      ...all.length > LISTED ? [h('p.add-note', t.deck.more(number(all.length - LISTED)))] : [],
    );
  };

  if (job?.phase === 'ended') job = null;
  let frame = 0;
  tell = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      show();
    });
  };
  show();
  if (items) take(items);
  return {
    node, go, first: files, take,
    destroy() {
      cancelAnimationFrame(frame);
      // What goes on without the dialog tells its end in the page.
      tell = () => {
        if (job?.phase === 'ended') app.toast(outcome(job));
      };
    },
  };
}
