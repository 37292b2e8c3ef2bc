// Names of people and rooms: what is said where the server refuses one.

import { t } from '../text/en.js';

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
