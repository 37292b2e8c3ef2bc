// The settings of a room, for its owner. Each change is a command when it is made.

import { PART } from '../room/room.js';
import { t } from '../text/en-more.js';
import { choice, field, offered, select, stepper, toggle } from './controls.js';
import { confirm, dialog, follow, sentenceOf } from './dialog.js';
import { h, number } from './dom.js';
import { refusedName, shownLength } from './names.js';
import { placeField } from './place.js';

/** @typedef {import('./dom.js').App} App */
/** @typedef {import('./controls.js').Field} Field */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Values offered for slow mode and for an owner who is away, in ms; the room may have others. */
const SLOW = [0, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR];
const AWAY = [0, 10 * MINUTE, 30 * MINUTE, HOUR, 6 * HOUR, DAY, 7 * DAY];

/**
 * A duration in its largest whole unit: `30 seconds`, `2 hours`.
 *
 * @param {number} ms
 */
function span(ms) {
  if (ms % DAY === 0) return t.settings.days(ms / DAY);
  if (ms % HOUR === 0) return t.settings.hours(ms / HOUR);
  if (ms % MINUTE === 0) return t.settings.minutes(ms / MINUTE);
  return t.settings.seconds(Math.round(ms / SECOND));
}

/**
 * The share of people that a skip needs, in words.
 *
 * @param {number} ratio 0 … 1
 */
function share(ratio) {
  if (ratio === 0) return t.settings.skipOne;
  if (ratio === 1) return t.settings.skipAll;
  if (ratio === 0.5) return t.settings.skipHalf;
  return t.settings.skipShare(number(Math.round(ratio * 100)));
}

/**
 * Opens the settings; without the role of the owner nothing opens.
 *
 * @param {App} app
 */
export function open(app) {
  const first = app.store.room;
  if (!first || !first.isOwner) return null;
  /**
   * Controls, to be shown again after each change of the room.
   *
   * @type {((room: import('../room/room.js').Room) => void)[]}
   */
  const shows = [];
  const render = () => {
    const room = app.store.room;
    if (room) for (const show of shows) show(room);
  };
  /**
   * Sends a change; where it is refused, the control shows the room's value again.
   *
   * @param {Field} at
   * @param {object} change
   */
  const update = async (at, change) => {
    at.say(null);
    at.busy(true);
    try {
      await app.store.send({ type: 'updateRoom', ...change });
    } catch (error) {
      const isName = 'name' in change && /** @type {{code?: string}} */ (error ?? {}).code === 'bad_request';
      at.say(isName ? refusedName(error) : sentenceOf(error));
      render();
    } finally {
      at.busy(false);
    }
  };
  /**
   * @param {Field} at
   * @param {string} setting
   * @param {unknown} value
   */
  const change = (at, setting, value) => update(at, { settings: { [setting]: value } });

  // The room.
  const name = h('input.field', { type: 'text', maxlength: 160, dir: 'auto', autocomplete: 'off', value: first.name });
  const nameField = field(t.settings.name, '', name);
  name.addEventListener('change', () => {
    const value = name.value.trim();
    if (value === '' || shownLength(value) > 80) return nameField.say(t.settings.nameWrong);
    if (value !== app.store.room?.name) update(nameField, { name: value });
  });
  shows.push((room) => { if (document.activeElement !== name) name.value = room.name; });

  const visibility = choice(offered(t.choices.visibilities, t.choices.visibilitiesAbout), first.visibility, (value) => update(visibilityField, { visibility: value }));
  const visibilityField = field(t.choices.visibility, '', visibility.node);
  shows.push((room) => visibility.set(room.visibility));

  const place = placeField(app, update);
  shows.push(place.show);

  // The order of the songs.
  const mode = choice(offered(t.choices.modes, t.choices.modesAbout), first.settings.queueMode, (value) => change(modeField, 'queueMode', value));
  const modeField = field(t.choices.mode, '', mode.node);
  shows.push((room) => mode.set(room.settings.queueMode));

  const ratio = h('input.slider', { type: 'range', min: 0, max: 1, step: 0.05 });
  const ratioField = field(t.settings.skip, '', ratio);
  const tellRatio = () => {
    const online = Math.max(1, app.store.room?.online ?? 1);
    const value = Number(ratio.value);
    const needed = Math.max(1, Math.ceil(value * online));
    ratioField.describe(`${share(value)}. ${t.settings.skipNow(online, needed)}`);
    ratio.setAttribute('aria-valuetext', share(value));
    ratio.style.setProperty('--part', String(value));
  };
  ratio.addEventListener('input', tellRatio);
  ratio.addEventListener('change', () => change(ratioField, 'skipRatio', Number(ratio.value)));
  shows.push((room) => {
    if (!ratio.matches(':active') && !ratioField.node.classList.contains('busy')) ratio.value = String(room.settings.skipRatio);
    tellRatio();
  });

  const counts = /** @type {const} */ (['maxWaitingPerMember', 'repeatAfterPlays']).map((setting) => {
    const words = t.settings[setting];
    const about = (/** @type {number} */ value) => at.describe(value === 0 ? words.off : words.about(value));
    const steps = stepper({ min: 0, max: setting === 'maxWaitingPerMember' ? 500 : 10_000, less: t.settings.less, more: t.settings.more },
      first.settings[setting], (value) => change(at, setting, value));
    const at = field(words.name, words.off, steps.node, { beside: true });
    steps.input.setAttribute('aria-label', words.name);
    steps.input.addEventListener('input', () => about(steps.get()));
    shows.push((room) => {
      if (at.node.classList.contains('busy') || document.activeElement === steps.input) return;
      steps.set(room.settings[setting]);
      about(room.settings[setting]);
    });
    return at.node;
  });

  // Switches: two for guests, and one for numbers across rooms, which is on where the room does not say.
  const [mayAdd, locked, counted] = /** @type {const} */ ([['guestsMayAdd', false], ['queueLocked', false], ['countedAcrossRooms', true]]).map(([setting, usual]) => {
    const control = toggle(first.settings[setting] ?? usual, (on) => change(at, setting, on));
    const at = field(t.settings[setting].name, t.settings[setting].about, control, { beside: true });
    shows.push((room) => { if (!at.node.classList.contains('busy')) control.checked = room.settings[setting] ?? usual; });
    return at.node;
  });
  const [slow, away] = /** @type {const} */ ([['slowModeMs', SLOW], ['ownerAwayMs', AWAY]]).map(([setting, values]) => {
    const words = t.settings[setting];
    const label = (/** @type {number} */ ms) => (ms === 0 ? words.off : span(ms));
    const list = select(values.map((value) => [value, label(value)]), first.settings[setting] ?? 0, (value) => change(at, setting, value), label);
    const at = field(words.name, words.about, list.node, { beside: true });
    shows.push((room) => { if (!at.node.classList.contains('busy')) list.set(room.settings[setting] ?? 0); });
    return at.node;
  });

  const ending = h('div.stack');
  shows.push((room) => {
    const isOpen = room.closedAt === undefined;
    if (ending.dataset.open === String(isOpen)) return;
    ending.dataset.open = String(isOpen);
    ending.replaceChildren(...(isOpen ? [end(app, 'close', ended), end(app, 'forget', ended)] : [end(app, 'forgetClosed', ended)]));
    // Nothing else of a closed room can be changed.
    for (const part of [...body.children].slice(0, -1)) /** @type {HTMLElement} */ (part).hidden = !isOpen;
  });

  const body = h('div.settings', null,
    section(t.settings.sectionRoom, nameField.node, visibilityField.node, place.node, counted),
    section(t.settings.sectionOrder, modeField.node, ratioField.node, ...counts),
    section(t.settings.sectionGuests, mayAdd, locked, slow),
    section(t.settings.sectionOwner, away),
    section(t.settings.sectionEnd, ending));
  const shown = dialog({ title: t.menu.settings, body, wide: true, className: first.closedAt === undefined ? 'tall' : '', onClose: () => stop() });
  /** @param {string | null} refusal */
  function ended(refusal) {
    if (refusal === null) shown.close();
    else shown.notice(refusal);
  }
  render();
  const stop = follow(app, PART.room | PART.you | PART.presence | PART.link, () => shown, () => {
    const room = app.store.room;
    if (room && !room.isOwner) return shown.close();
    render();
  });
  return shown;
}

/**
 * @param {string} title
 * @param {...Node} fields
 */
function section(title, ...fields) {
  return h('fieldset.section', null, h('legend', null, title), ...fields);
}

/**
 * Closing the room, or closing and forgetting it: a sentence and a button that asks.
 *
 * @param {App} app
 * @param {'close' | 'forget' | 'forgetClosed'} which
 * @param {(refusal: string | null) => void} ended
 */
function end(app, which, ended) {
  const words = t.settings[which];
  return h('div.setting', null,
    h('div.setting-text', null, h('span.setting-name', null, words.name), h('p.setting-about', null, words.about)),
    h('button.pill.danger', {
      type: 'button',
      onclick: async () => {
        if (!await confirm({ title: words.title, text: words.text, action: words.act })) return;
        try {
          await app.store.send(which === 'close' ? { type: 'closeRoom' } : { type: 'closeRoom', forget: true });
          ended(null);
        } catch (error) {
          ended(sentenceOf(error));
        }
      },
    }, words.act));
}
