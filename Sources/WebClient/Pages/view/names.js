// Names of people and rooms: how equal ones are told apart, and what is said where the server refuses one.

import { isolated, t } from '../text/en.js';

/** @typedef {import('../room/room.js').Room} Room */

/**
 * A name as eyes compare it: without case, invisible characters, and kinds of blanks and letters.
 *
 * @param {string} name
 */
const lookOf = (name) => name.normalize('NFKC').replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]+/gu, '').replace(/\s+/gu, ' ').trim().toLowerCase();

/** The members of a room by the look of their names, as of one event. */
let looks = { members: /** @type {unknown} */ (null), seq: -1, numbers: /** @type {Map<string, number[]>} */ (new Map()) };

/**
 * Whether somebody in the room has a name that looks like this one.
 *
 * @param {Room} room
 * @param {string} name
 * @param {number} [besides] a member who does not count
 */
function isTaken(room, name, besides) {
  if (looks.members !== room.members || looks.seq !== room.seq) {
    /** @type {Map<string, number[]>} */
    const numbers = new Map();
    for (const member of room.members.values()) {
      const look = lookOf(member.name), same = numbers.get(look);
      if (same) same.push(member.member);
      else numbers.set(look, [member.member]);
    }
    looks = { members: room.members, seq: room.seq, numbers };
  }
  return looks.numbers.get(lookOf(name))?.some((number) => number !== besides) ?? false;
}

/**
 * What is shown behind a name that somebody else has, too: the member's number, which everybody sees, and which stays.
 * A name that ends like one with a mark has its own. Empty where the name says who is meant.
 *
 * @param {Room} room
 * @param {{ member: number, name: string }} member
 * @param {{ member: number, name: string }[]} [others] who is not in the room, and shown beside the member
 */
export function markOf(room, member, others = []) {
  const { member: number, name } = member;
  // The names of a room that is forgotten.
  if (name === '-') return '';
  const isShared = isTaken(room, name, number) || /\(\d+\)$/.test(lookOf(name))
    || others.some((other) => other.member !== number && lookOf(other.name) === lookOf(name));
  return isShared ? ` (${number})` : '';
}

/**
 * A member's name as it is shown: with its mark.
 *
 * @param {Room} room
 * @param {{ member: number, name: string }} member
 */
export function nameOf(room, member) {
  const mark = markOf(room, member);
  return mark ? isolated(member.name) + mark : member.name;
}

/**
 * What somebody is told who types a name that another member has; empty where nobody has it.
 *
 * @param {Room | null} room
 * @param {string} name
 */
export const takenHint = (room, name) => (room && name && isTaken(room, name, room.you?.member) ? t.join.nameTaken : '');

/**
 * The number of characters of a name, without invisible ones, of which the server removes most.
 *
 * @param {string} name
 */
export const shownLength = (name) => [...name.replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]+/gu, '')].length;

/**
 * The sentence of a refused name: the character that it cannot have, which the server names, or what it needs.
 *
 * @param {unknown} error a Refusal with `bad_request`
 */
export function refusedName(error) {
  const { message } = /** @type {{message?: string}} */ (error ?? {});
  const [character, digits] = /U\+([0-9A-F]{4,6})/.exec(message ?? '') ?? [];
  if (!character) return t.join.nameWrong;
  return parseInt(digits, 16) >= 0xe0000 ? t.join.nameTag(character) : t.join.nameControl(character);
}
