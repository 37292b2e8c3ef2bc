// Fields of the forms that add songs and start a room.

import { h, text } from './dom.js';

/** @typedef {{ node: HTMLElement, input: HTMLInputElement, say: (wrong: string | null) => void }} TextField */

let count = 0;

/**
 * A line of text with its label, and a place that says what is wrong. The message goes as soon as something is typed.
 *
 * @param {string} label
 * @param {Record<string, any>} [props] of the input
 * @returns {TextField}
 */
export function textField(label, props = {}) {
  const id = `text-field-${(count += 1)}`;
  const wrong = h('p.wrong', { id: `${id}-wrong`, role: 'alert', hidden: true });
  const input = /** @type {HTMLInputElement} */ (h('input.field', {
    id, type: 'text', autocomplete: 'off', dir: 'auto', 'aria-describedby': `${id}-wrong`, ...props,
  }));
  const say = (/** @type {string | null} */ sentence) => {
    text(wrong, sentence ?? '');
    wrong.hidden = sentence === null;
    if (sentence === null) input.removeAttribute('aria-invalid');
    else input.setAttribute('aria-invalid', 'true');
  };
  input.addEventListener('input', () => say(null));
  return { node: h('div.text-field', null, h('label.label', { for: id }, label), input, wrong), input, say };
}

/**
 * Says what is wrong in each field, and gives the focus to the first such one.
 *
 * @param {[field: TextField, wrong: string | null][]} checks
 * @returns {boolean} whether all are right
 */
export function allRight(checks) {
  for (const [field, wrong] of checks) field.say(wrong);
  const first = checks.find(([, wrong]) => wrong !== null);
  first?.[0].input.focus();
  return first === undefined;
}

/**
 * A group of controls with its name.
 *
 * @param {string} label
 * @param {HTMLElement} control with a role that takes a name
 */
export function group(label, control) {
  const id = `text-field-${(count += 1)}`;
  control.setAttribute('aria-labelledby', id);
  return h('div.text-field', null, h('span.label', { id }, label), control);
}
