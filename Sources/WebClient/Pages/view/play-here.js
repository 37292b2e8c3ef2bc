// Below the transport of a DJ: which device plays, playing on this one, and what that needs.

import { PART } from '../room/room.js';
import { isolated } from '../text/en.js';
import { t } from '../text/en-deck.js';
import { choose, untilClosed } from './choose.js';
import { announce, h, number, stylesheet, svg, text } from './dom.js';
import { takeDrops } from './drop.js';
import { nameOf } from './names.js';
import { marks } from './sleeve.js';

/** @typedef {import('./dom.js').App} App */
/** @typedef {import('../deck/device.js').Device} Device */

/**
 * What is said, with the name in it, and what can be done about it.
 *
 * @typedef {object} Told
 * @property {string | ((name: string) => string)} form
 * @property {string} [name] of a person, or a title
 * @property {string} icon
 * @property {{ label: string, act: (() => unknown), strong?: boolean, untilMs?: number }[]} buttons `untilMs`: done by itself at
 *   this time of the server
 */

/** After a deck has vanished others are asked to take over only after this time, in which it may come back. */
const GRACE_MS = 15_000;
/** The longest title that is told whole, in scalars. */
const LONGEST_TITLE = 40;

/**
 * The name of a member who is in the room.
 *
 * @param {import('../room/room.js').Room} room
 * @param {number | null | undefined} number
 */
function named(room, number) {
  const member = room.members.get(number ?? 0);
  return member && nameOf(room, member);
}

/**
 * The line, and for a laptop what stands beside the transport.
 *
 * @param {App} app
 * @returns {{ node: HTMLElement, tools: HTMLElement, destroy: () => void }}
 */
export function playHere(app) {
  const line = h('div.device-line');
  const note = h('div.device-note', { hidden: true });
  const node = h('div.device', { role: 'group', 'aria-label': t.deck.section, tabindex: -1, hidden: true }, line, note);
  const fade = h('span');
  const opener = h('button.pill', { type: 'button', 'aria-haspopup': 'dialog', onclick: () => app.open('deck-panel') }, fade, svg('settings'));
  const volume = volumeSlider(app);
  const tools = h('div.device-tools', { hidden: true }, opener, volume);
  Promise.all([stylesheet('deck'), stylesheet('dialogs')]).then(() => { node.hidden = false; });

  /** @type {Device | null} */
  let device = app.playing;
  /** The deck that was there last, and since when it is gone, by `performance.now()`. */
  let last = { member: /** @type {number | undefined} */ (undefined), goneAt: -Infinity };
  let isBusy = false;
  /** The music has gone on here without the connection that this page had. */
  let wasLeading = false;
  /** So many songs are known to be lost when the page is left. */
  let known = 0;
  let timer = 0;

  /**
   * Does something within a tap; a second one waits for its end.
   *
   * @param {(device: Device) => unknown} run
   */
  const act = async (run) => {
    if (isBusy) return;
    isBusy = true;
    render();
    try {
      device = app.playing ?? device;
      if (!device) {
        app.unlock();
        device = await app.device();
      }
      if (device) await run(device);
    } catch (error) {
      app.refused(error);
    } finally {
      isBusy = false;
      render();
    }
  };
  const goOn = () => act((made) => made.goOn());
  const start = (takeOver = false) => act((made) => made.start({ takeOver }));

  /**
   * Who plays, where this device does not; null where something more urgent is told.
   *
   * @param {import('../room/room.js').Room} room
   * @returns {Told}
   */
  const others = (room) => {
    const of = room.deck.member ?? last.member;
    const name = named(room, of);
    const isOwn = of !== undefined && of === room.you?.member;
    if (room.deck.member !== undefined) {
      const form = isOwn ? t.deck.otherOwn : name === undefined ? t.deck.lostSomebody : t.deck.other;
      return { form, name, icon: 'speaker', buttons: [{ label: t.deck.takeOverAsked, act: () => start(true) }] };
    }
    const left = last.goneAt + GRACE_MS - performance.now();
    if (left > 0 && (isOwn || name !== undefined)) {
      wake(left);
      return { form: isOwn ? t.deck.goneOwn : t.deck.gone, name, icon: 'speaker', buttons: [] };
    }
    return { form: '', icon: '', buttons: [{ label: t.deck.playHere, act: () => start() }] };
  };

  /**
   * What the deck here needs of its DJ; null: nothing.
   *
   * @param {import('../room/room.js').Room} room
   * @param {Device} here
   * @returns {Told | null}
   */
  const needs = (room, here) => {
    const { missing, missingNext } = here;
    if (here.otherTab) return { form: t.deck.otherTab, icon: 'copy', buttons: [{ label: t.deck.hereInstead, act: () => start(true), strong: true }] };
    if (here.phase === 'lost') {
      const name = named(room, here.lostTo);
      return {
        form: here.lostTo === room.you?.member ? t.deck.lostOwn : name === undefined ? t.deck.lostSomebody : t.deck.lost, name, icon: 'speaker',
        buttons: [{ label: t.deck.takeOver, act: () => start(true) }, { label: t.deck.ok, act: () => act((made) => made.dismiss()) }],
      };
    }
    if (here.wants === 'permission') {
      return { form: t.deck.permission, icon: 'lock', buttons: [{ label: t.deck.allow, act: goOn, strong: true }] };
    }
    if (here.wants === 'gesture') return { form: t.deck.gesture, icon: 'play', buttons: [{ label: t.deck.goOn, act: goOn, strong: true }] };
    if (here.phase !== 'on') return null;
    if (here.pausedBySystem) return { form: t.deck.paused, icon: 'pause', buttons: [{ label: t.deck.goOn, act: goOn, strong: true }] };
    // What is here and cannot be played is not missing.
    const lacking = (/** @type {import('../room/room.js').Track} */ track) => {
      const texts = here.isUnplayable(track.track) ? t.deck.unplayable : t.deck.missing;
      return { texts, find: { label: texts.find, act: () => choose(app, () => (app.playing ?? here).find(track)) } };
    };
    if (missing) {
      const { texts, find } = lacking(missing.track);
      return {
        form: texts.now, icon: 'search',
        buttons: [find, { label: t.deck.skip, act: () => act((made) => made.skipMissing()), untilMs: missing.skipAtMs }],
      };
    }
    // Where nothing is here, another line asks for all of it.
    if (missingNext && !here.lacksFiles) {
      const { texts, find } = lacking(missingNext);
      return { form: texts.next, name: short(missingNext.title), icon: 'search', buttons: [find] };
    }
    // Where nothing is kept, that was said when the files were added.
    const { unkept } = here.lack;
    known = Math.min(known, unkept);
    if (unkept > known && here.library?.state.keeps) {
      return { form: untilClosed(here), icon: 'folder', buttons: [{ label: t.deck.ok, act: () => { known = here.lack.unkept; render(); } }] };
    }
    return null;
  };

  /** Says that this device plays; a tap opens its controls. */
  const here = () => {
    const waiting = device?.analysis?.state.waiting ?? 0;
    const isLive = app.store.link.state === 'live';
    show(line, isLive ? 'on' : 'alone', () => [h('button.device-open', {
      type: 'button', 'aria-haspopup': 'dialog', class: isLive ? '' : 'alone', onclick: () => app.open('deck-panel'),
    }, h('span', isLive ? t.deck.here : t.deck.offline), svg('settings')), h('span.device-looking')]);
    text(/** @type {Element} */ (line.lastElementChild), waiting > 0 ? t.deck.looking(waiting, number(waiting)) : '');
  };

  /**
   * Shows a state in a place. The focus stays in it.
   *
   * @param {HTMLElement} place
   * @param {string} key what tells it from others; empty: nothing is shown
   * @param {() => (Node | string)[]} make
   */
  const show = (place, key, make) => {
    if (place.dataset.key === key) return false;
    const { activeElement } = document;
    const focused = place.contains(activeElement) || activeElement === node;
    place.dataset.key = key;
    place.hidden = key === '';
    place.replaceChildren(...key === '' ? [] : make());
    if (focused) (node.querySelector('button') ?? node).focus();
    return true;
  };

  /**
   * @param {HTMLElement} place
   * @param {Told | null} told
   */
  const tell = (place, told) => {
    const sentence = told && (typeof told.form === 'string' ? told.form : told.form(isolated(told.name ?? '')));
    const isNew = show(place, told ? `${sentence} ${told.buttons.map(({ label }) => label)}` : '', () => {
      const { form, name = '', icon, buttons } = /** @type {Told} */ (told);
      const [before, after] = typeof form === 'string' ? [form] : form('\u0000').split('\u0000');
      return [
        ...sentence ? [svg(icon), h('p', before, after === undefined ? null : [h('bdi', name), after])] : [],
        ...buttons.length > 0 ? [h('div.device-buttons', buttons.map(({ label, act: run, strong }) => h('button.pill', {
          type: 'button', class: strong ? 'primary' : sentence ? '' : 'device-play', onclick: run,
        }, sentence ? null : svg('speaker'), h('span', label), h('span.device-count', { 'aria-hidden': 'true' }))))] : [],
      ];
    });
    told?.buttons.forEach(({ untilMs }, index) => {
      if (untilMs === undefined) return;
      const left = Math.max(0, untilMs - app.store.clock.now());
      text(place.querySelectorAll('.device-count')[index], t.deck.seconds(Math.ceil(left / 1000)));
      if (left > 0) wake(left % 1000 + 20);
    });
    for (const button of place.querySelectorAll('button')) button.setAttribute('aria-busy', String(isBusy));
    return isNew && place === note ? sentence : null;
  };

  /** @param {number} ms  after which it is shown anew */
  const wake = (ms) => {
    clearTimeout(timer);
    timer = window.setTimeout(render, ms);
  };

  function render() {
    const { room, link } = app.store;
    if (!room) return;
    clearTimeout(timer);
    device = app.playing ?? device;
    const { member } = room.deck;
    if (member !== undefined) last = { member, goneAt: Infinity };
    else if (last.goneAt === Infinity) {
      // A device that stops on purpose pauses first.
      last = room.playback.status === 'playing' && link.state === 'live' ? { ...last, goneAt: performance.now() } : { member, goneAt: -Infinity };
    }
    const isOn = device?.phase === 'on';
    const need = device && needs(room, device);
    if (isOn) here();
    else if (need) show(line, '', () => []);
    else if (isBusy || device?.phase === 'starting') show(line, 'starting', () => [svg('speaker'), h('p', t.deck.starting)]);
    else tell(line, others(room));
    const said = tell(note, need);
    if (said) announce(said);
    if (link.state !== 'live') wasLeading ||= app.store.connections > 0 && device !== null && device.leading;
    else if (wasLeading && !device?.leading) {
      wasLeading = false;
      app.toast(t.deck.told);
    }
    tools.hidden = !isOn || !device?.canSetVolume;
    if (device && isOn) {
      const seconds = Math.round(device.fadeMs / 1000);
      text(fade, seconds > 0 ? t.deck.fadeFor(seconds) : t.deck.noFade);
      volume.show();
    }
    picture();
  }

  let shownPicture = /** @type {Blob | null} */ (null);
  let address = '';
  /** The picture in the song's file takes the place of its sleeve. */
  const picture = () => {
    const wanted = app.playing?.picture ?? null;
    if (wanted !== shownPicture) {
      if (address) URL.revokeObjectURL(address);
      shownPicture = wanted;
      address = wanted ? URL.createObjectURL(wanted) : '';
    }
    const face = node.closest('.deck')?.querySelector('.cover > .sleeve');
    const image = face?.querySelector('img');
    if (image?.getAttribute('src') === (address || undefined)) return;
    image?.remove();
    if (face && address) face.append(h('img', { src: address, alt: '', draggable: 'false', onerror: (/** @type {Event} */ event) => /** @type {Element} */ (event.target).remove() }));
  };

  marks.of = (track) => (app.playing?.library && !app.playing.songOf(track.track) ? t.deck.away : '');
  app.store.touch(PART.deck);
  // Loaded before the tap, which the browser forgets while it waits.
  const prepare = async () => {
    const made = await app.device();
    device ??= made;
  };
  for (const type of ['pointerenter', 'focusin']) node.addEventListener(type, prepare, { once: true });
  const stopDrops = takeDrops(app);
  render();
  const stop = app.store.watch(PART.deck | PART.link | PART.members | PART.you | PART.playback | PART.queue | PART.room, render);
  return {
    node, tools,
    destroy() {
      stop();
      stopDrops();
      clearTimeout(timer);
      if (address) URL.revokeObjectURL(address);
      marks.of = null;
    },
  };
}

/**
 * A title for a sentence beside buttons.
 *
 * @param {string} title
 */
function short(title) {
  const scalars = [...title];
  return scalars.length > LONGEST_TITLE ? `${scalars.slice(0, LONGEST_TITLE - 1).join('').trimEnd()}…` : title;
}

/**
 * The volume of this device, as a slider.
 *
 * @param {App} app
 * @returns {HTMLInputElement & { show(): void }} `show` reads the device's
 */
export function volumeSlider(app) {
  const slider = h('input.slider', { type: 'range', min: 0, max: 100, step: 1, 'aria-label': t.deck.volume });
  slider.show = () => {
    const percent = Math.round((app.playing?.volume ?? 1) * 100);
    if (Number(slider.value) !== percent) slider.value = String(percent);
    slider.style.setProperty('--part', String(percent / 100));
    slider.setAttribute('aria-valuetext', t.deck.percent(percent));
  };
  slider.addEventListener('input', () => {
    if (app.playing) app.playing.volume = Number(slider.value) / 100;
    slider.show();
  });
  slider.show();
  return slider;
}
