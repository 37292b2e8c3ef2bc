/** Reactions, which rise once and vanish, and the vote to skip. For members. */

import { PART } from '../room/room.js';
import { t } from '../text/en.js';
import { h, number, svg, text } from './dom.js';

/** @typedef {import('./dom.js').App} App */

const EMOJI = ['🔥', '❤️', '🙌', '💃'];
/** Reactions that rise at one time; more are not shown. */
const MOST = 12;
/** The server takes five reactions a second. */
const PER_SECOND = 5;
/** Where motion is reduced, a number beside the button stays this long after the last reaction. */
const TALLY_MS = 8000;

/** The entry that this page has voted to skip, by room and membership: some servers tell only how many have. */
let voted = '';

/**
 * @param {import('../room/room.js').Room} room
 * @param {number} entry
 */
const voteFor = (room, entry) => `${room.id} ${room.you?.member} ${entry}`;

/**
 * The votes to skip what is on air. Those of people who have gone do not count while they are away. The server counts by the
 * same rule (`SkipVotes` in Swift): a product that is a whole number except for rounding errors counts as whole.
 *
 * @param {import('../room/room.js').Room} room
 * @param {boolean} hasVoted  whether this page has voted, as far as it knows
 * @param {boolean} [wanted]  whether the own vote is to stand: a command for that is on its way
 * @returns {{ mine: boolean, votes: number, needed: number }}
 */
export function skipState(room, hasVoted, wanted) {
  const { playback, present, you } = room;
  const needed = Math.max(1, Math.ceil(room.settings.skipRatio * room.online - 1e-9));
  if (playback.status === 'stopped') return { mine: false, votes: 0, needed };
  const voters = playback.skipVoters ?? [];
  const areKnown = voters.length === playback.skipVotes;
  const stands = areKnown ? voters.includes(you?.member ?? 0) : hasVoted;
  const mine = wanted ?? stands;
  const all = areKnown && present ? voters.filter((member) => present.has(member) || member === you?.member).length : playback.skipVotes;
  return { mine, votes: Math.max(Number(mine), all + Number(mine) - Number(stands)), needed };
}

/**
 * @param {App} app
 * @returns {{ nodes: HTMLElement[], layer: HTMLElement, destroy(): void }} `layer` lies over the deck
 */
export function reactions(app) {
  const still = matchMedia('(prefers-reduced-motion: reduce)');
  const layer = h('div.rising', { 'aria-hidden': 'true' });
  /** @type {Map<string, { tally: HTMLElement, count: number, timer: number }>} */
  const tallies = new Map();
  const buttons = EMOJI.map((emoji) => {
    const tally = h('span.tally', { hidden: true, 'aria-hidden': 'true' });
    tallies.set(emoji, { tally, count: 0, timer: 0 });
    return h('button.round.reaction', { type: 'button', 'aria-label': t.onAir.react(emoji), dataset: { emoji } }, emoji, tally);
  });
  const row = h('div.reactions', { role: 'group', 'aria-label': t.onAir.reactions }, buttons);
  const count = h('span');
  const tick = svg('tick');
  const skip = h('button.pill.skip', { type: 'button' }, tick, count);
  /**
   * Times of the last reactions sent.
   *
   * @type {number[]}
   */
  let sent = [];

  row.addEventListener('click', (/** @type {Event} */ event) => {
    const emoji = /** @type {HTMLElement} */ (event.target).closest('button')?.dataset.emoji;
    const now = performance.now();
    sent = sent.filter((at) => now - at < 1000);
    if (!emoji || sent.length >= PER_SECOND) return;
    sent.push(now);
    app.store.post({ type: 'react', emoji });
  });

  skip.addEventListener('click', () => {
    const { room } = app.store;
    if (!room || room.playback.status === 'stopped' || skip.getAttribute('aria-disabled') === 'true') return;
    const { entry } = room.playback;
    const before = voted;
    const takesBack = stateOf(room).mine;
    voted = takesBack ? '' : voteFor(room, entry);
    const mine = voted;
    app.store.send({ type: takesBack ? 'unvoteSkip' : 'voteSkip', entry }).catch((/** @type {any} */ error) => {
      if (voted === mine) voted = before;
      show();
      app.refused(error);
    });
    show();
  });

  /** @param {import('../room/room.js').Room} room */
  const stateOf = (room) => {
    const entry = room.playback.status === 'stopped' ? 0 : room.playback.entry;
    const wanted = app.store.isPending('unvoteSkip', 'entry', entry) ? false : app.store.isPending('voteSkip', 'entry', entry) ? true : undefined;
    return skipState(room, voted === voteFor(room, entry), wanted);
  };

  const show = () => {
    const { room, link } = app.store;
    if (!room) return;
    const { playback } = room;
    const live = link.state === 'live';
    for (const button of buttons) button.disabled = !live;
    skip.hidden = playback.status === 'stopped' || room.isDJ || !room.you;
    if (playback.status === 'stopped') return;
    const { mine, votes, needed } = stateOf(room);
    text(count, needed === 1 ? t.onAir.skip : (mine ? t.onAir.skipMine : t.onAir.skipOf)(number(votes), number(needed)));
    skip.setAttribute('aria-label', t.onAir.skipLabel(number(votes), number(needed)));
    skip.setAttribute('aria-pressed', String(mine));
    skip.setAttribute('aria-disabled', String(!live));
    tick.toggleAttribute('hidden', !mine);
  };

  /** @param {{ emoji: string }} reaction */
  const rise = ({ emoji }) => {
    if (document.hidden) return;
    if (still.matches) return tell(emoji);
    if (layer.childElementCount >= MOST) return;
    const one = h('span', emoji);
    const button = buttons.find((of) => of.dataset.emoji === emoji) ?? row;
    const box = button.getBoundingClientRect();
    const frame = layer.getBoundingClientRect();
    const x = box.left - frame.left + box.width / 2 - 16 + (Math.random() - 0.5) * 56;
    const from = Math.max(8, frame.bottom - box.bottom + 6);
    one.style.setProperty('left', `${Math.round(Math.max(4, Math.min(frame.width - 40, x)))}px`);
    one.style.setProperty('bottom', `${Math.round(from)}px`);
    one.addEventListener('animationend', () => one.remove());
    layer.append(one);
  };

  /**
   * Counts in place of motion.
   *
   * @param {string} emoji
   */
  const tell = (emoji) => {
    const of = tallies.get(emoji);
    if (!of) return;
    clearTimeout(of.timer);
    of.count += 1;
    of.tally.hidden = false;
    text(of.tally, number(of.count));
    of.timer = window.setTimeout(() => { of.count = 0; of.tally.hidden = true; }, TALLY_MS);
  };

  const stops = [app.store.watch(PART.room | PART.playback | PART.presence | PART.you | PART.pending | PART.link, show), app.store.on('reaction', rise)];
  show();
  return {
    nodes: [row, skip],
    layer,
    destroy() {
      for (const stop of stops) stop();
      for (const of of tallies.values()) clearTimeout(of.timer);
      for (const node of [row, skip, layer]) node.remove();
    },
  };
}
