// What the viewer may do about one member: roles, handing over, removing, banning.

import { t } from '../text/en-more.js';
import { choice } from './controls.js';
import { confirm, dialog, isolated, sentenceOf } from './dialog.js';
import { currentLocale, h, svg, text } from './dom.js';
import { nameOf } from './names.js';

/**
 * @typedef {import('./dom.js').App} App
 * @typedef {import('../room/room.js').Member} Member
 * @typedef {import('./dialog.js').Dialog} Dialog
 */

const HOUR = 3_600_000;

/**
 * How long a ban for the evening lasts: until 06:00 here, the next one that is at least two hours away, so that a
 * ban at 05:30 is not over before the evening is.
 *
 * @param {number} now ms since the epoch
 * @returns {number} ms
 */
export function untilMorning(now) {
  const end = new Date(now);
  end.setHours(6, 0, 0, 0);
  while (end.getTime() - now < 2 * HOUR) end.setDate(end.getDate() + 1);
  return end.getTime() - now;
}

/**
 * A time of today as `23:10`, of another day with its day.
 *
 * @param {number} at ms since the epoch
 * @returns {string}
 */
export function moment(at) {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  const isSoon = Math.abs(at - Date.now()) < 6 * 24 * HOUR;
  return new Intl.DateTimeFormat(currentLocale(), isToday ? { timeStyle: 'short' }
    : isSoon ? { weekday: 'short', hour: 'numeric', minute: '2-digit' }
      : { dateStyle: 'medium' }).format(at);
}

/**
 * Shows a member's first letter on a colour that stays the member's.
 *
 * @param {HTMLElement} face
 * @param {{member: number, name: string}} member
 */
export function paintFace(face, member) {
  const letter = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(member.name.trim())][0]?.segment ?? '';
  text(face, letter.toLocaleUpperCase());
  face.style.setProperty('--face', String((member.member * 137) % 360));
}

/**
 * Opens what can be done about a member. The outcome is told in the list behind.
 *
 * @param {App} app
 * @param {Member} member
 * @param {Dialog} list
 */
export function openMember(app, member, list) {
  const room = app.store.room;
  if (!room) return;
  const face = h('span.person-face', { 'aria-hidden': 'true', translate: 'no' });
  paintFace(face, member);
  /**
   * @param {string} name
   * @param {string} picture
   * @param {() => void} act
   * @param {string} about
   * @param {string} [kind]
   */
  const item = (name, picture, act, about, kind = '') => h('button.menu-item', {
    type: 'button', class: kind, onclick: () => { shown.close(); act(); },
  }, svg(picture), h('span.menu-name', null, name, h('span.menu-about', null, about)));
  /**
   * @param {any} command
   * @param {string} done
   */
  const run = async (command, done) => {
    try {
      await app.store.send(command);
      list.notice(done);
    } catch (error) {
      list.notice(sentenceOf(error));
    }
  };
  const name = isolated(nameOf(room, member));
  const shown = dialog({
    title: isolated(nameOf(room, member)),
    className: 'ask',
    body: h('div.menu', null,
      h('p.member-head', null, face, h('span', null, `${t.people[member.role]} · ${t.people.since(moment(member.joinedAt))}`)),
      room.isOwner && member.role === 'guest' ? item(t.people.makeDJ, 'music',
        () => run({ type: 'setRole', member: member.member, role: 'dj' }, t.people.nowDJ(name)), t.people.makeDJAbout) : null,
      room.isOwner && member.role === 'dj' ? item(t.people.makeGuest, 'person',
        () => run({ type: 'setRole', member: member.member, role: 'guest' }, t.people.nowGuest(name)), t.people.makeGuestAbout) : null,
      room.isOwner ? item(t.people.handOver, 'crown', async () => {
        if (await confirm({ title: t.people.handOverTitle(name), text: t.people.handOverText(name), action: t.people.handOverDo })) {
          run({ type: 'transferOwnership', member: member.member }, t.people.nowOwner(name));
        }
      }, t.people.handOverAbout) : null,
      h('hr'),
      item(t.people.remove, 'minus', () => remove(app, member, list, false), t.people.removeAbout, 'danger'),
      item(t.people.ban, 'ban', () => remove(app, member, list, true), t.people.banAbout, 'danger')),
  });
}

/**
 * Asks for a reason, and for a ban for how long, then removes the member.
 *
 * @param {App} app
 * @param {Member} member
 * @param {Dialog} list
 * @param {boolean} isBan
 */
function remove(app, member, list, isBan) {
  const { room } = app.store;
  const name = isolated(room ? nameOf(room, member) : member.name);
  const now = app.store.clock.now();
  let length = 'hour';
  const lengths = choice([
    ['hour', t.people.hour],
    ['evening', t.people.evening(moment(now + untilMorning(now)))],
    ['ever', t.people.ever],
  ], length, (value) => { length = value; });
  lengths.node.classList.add('lines');
  lengths.node.setAttribute('aria-labelledby', 'ban-length');
  const reason = h('input.field', { type: 'text', id: 'ban-reason', maxlength: 200, dir: 'auto', autocomplete: 'off', 'aria-describedby': 'ban-about' });
  const refusal = h('p.setting-refusal', { role: 'alert' });
  const act = h('button.pill.danger', { type: 'submit' }, isBan ? t.people.banDo : t.people.removeDo);
  const form = h('form.stack', {
    onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      const at = app.store.clock.now();
      const durationMs = !isBan || length === 'ever' ? null : length === 'hour' ? HOUR : untilMorning(at);
      const why = reason.value.trim();
      act.disabled = true;
      try {
        await app.store.send({
          type: 'kick', member: member.member,
          ...(isBan ? { ban: true } : {}),
          ...(durationMs === null ? {} : { durationMs }),
          ...(why === '' ? {} : { reason: why }),
        });
        form.hidden = true;
        asked.close();
        if (!isBan) return list.notice(t.people.removed(name));
        const told = durationMs === null ? t.people.nowBanned(name) : t.people.nowBannedUntil(name, moment(at + durationMs));
        list.notice(told, { label: t.people.undo, act: () => unban(app, { member: member.member, name }, list) });
      } catch (error) {
        text(refusal, sentenceOf(error));
        act.disabled = false;
      }
    },
  },
  h('p', null, isBan ? t.people.banText : t.people.removeText),
  isBan ? h('span.setting-name', { id: 'ban-length' }, t.people.howLong) : null,
  isBan ? lengths.node : null,
  h('label.setting-name', { for: 'ban-reason' }, t.people.reason),
  reason,
  h('p.setting-about', { id: 'ban-about' }, t.people.reasonAbout),
  refusal,
  h('footer.dialog-foot', null, h('button.pill', { type: 'button', onclick: () => asked.close() }, t.menu.cancel), act));
  const asked = dialog({ title: isBan ? t.people.banTitle(name) : t.people.removeTitle(name), body: form, className: 'ask' });
}

/**
 * Lifts a ban.
 *
 * @param {App} app
 * @param {{member: number, name: string}} member
 * @param {Dialog} list where the outcome is told
 * @returns {Promise<boolean>} whether it is lifted
 */
export async function unban(app, member, list) {
  try {
    await app.store.send({ type: 'unban', member: member.member });
    list.notice(t.people.unbanned(isolated(member.name)));
    return true;
  } catch (error) {
    list.notice(sentenceOf(error));
    return false;
  }
}
