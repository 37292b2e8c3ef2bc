// Controls of the settings, the preferences and other dialogs.

import { h, text } from './dom.js';

/** @typedef {{node: HTMLElement, say: (sentence: string | null) => void, busy: (on: boolean) => void,
 *   describe: (sentence: string) => void}} Field */

let count = 0;

/**
 * A control with its name, a sentence about it, and a place for a refusal.
 *
 * @param {string} label
 * @param {string} sentence empty: none
 * @param {HTMLElement} control a group has its name by `aria-labelledby`, an input by `<label for>`
 * @param {{beside?: boolean}} [options] `beside`: the control stands at the end of the line, not below
 * @returns {Field}
 */
export function field(label, sentence, control, options = {}) {
  count += 1;
  const id = `field-${count}`;
  const isGroup = control.getAttribute('role') === 'radiogroup' || control.getAttribute('role') === 'group';
  const about = h('p.setting-about', { id: `${id}-about`, hidden: sentence === '' }, sentence);
  const refusal = h('p.setting-refusal', { id: `${id}-refusal`, role: 'alert' });
  const name = isGroup ? h('span.setting-name', { id: `${id}-name` }, label) : h('label.setting-name', { for: id }, label);
  if (isGroup) control.setAttribute('aria-labelledby', `${id}-name`);
  else control.id = id;
  control.setAttribute('aria-describedby', `${id}-about ${id}-refusal`);
  const node = h('div.setting', { class: options.beside ? 'beside' : '' }, h('div.setting-text', null, name, about), control, refusal);
  return {
    node,
    say: (told) => text(refusal, told ?? ''),
    busy: (on) => {
      node.classList.toggle('busy', on);
      node.setAttribute('aria-busy', String(on));
    },
    describe: (told) => {
      text(about, told);
      about.hidden = told === '';
    },
  };
}

/**
 * The values of a choice whose labels and sentences stand in two groups of texts under the same names.
 *
 * @param {Record<string, string>} labels
 * @param {Record<string, string>} sentences
 * @returns {[value: string, label: string, sentence: string][]}
 */
export const offered = (labels, sentences) => Object.entries(labels).map(([value, label]) => [value, label, sentences[value]]);

/**
 * One of a few values, as radio buttons: side by side, or as cards with a sentence each.
 *
 * @param {[value: string, label: string, sentence?: string][]} values
 * @param {string} value
 * @param {(value: string) => void} onchange
 * @returns {{node: HTMLElement, set: (value: string) => void}}
 */
export function choice(values, value, onchange) {
  count += 1;
  const name = `choice-${count}`;
  const cards = values.some(([, , sentence]) => sentence !== undefined);
  const node = h(cards ? 'div.choice-cards' : 'div.choice', { role: 'radiogroup' }, values.map(([of, label, sentence]) =>
    h('label', null,
      h('input', { type: 'radio', name, value: of, checked: of === value }),
      h('span.choice-label', null, h('span.choice-name', null, label), sentence === undefined ? null : h('span.choice-about', null, sentence)))));
  node.addEventListener('change', (/** @type {Event} */ event) => {
    if (event.target instanceof HTMLInputElement) onchange(event.target.value);
  });
  return {
    node,
    set: (to) => {
      for (const input of node.querySelectorAll('input')) input.checked = input.value === to;
    },
  };
}

/**
 * A switch: on or off at once.
 *
 * @param {boolean} on
 * @param {(on: boolean) => void} onchange
 * @returns {HTMLInputElement}
 */
export function toggle(on, onchange) {
  const node = /** @type {HTMLInputElement} */ (h('input.switch', { type: 'checkbox', role: 'switch', checked: on }));
  node.addEventListener('change', () => onchange(node.checked));
  return node;
}

/**
 * A list to choose one value from.
 *
 * @param {[value: number, label: string][]} values
 * @param {number} value
 * @param {(value: number) => void} onchange
 * @param {(value: number) => string} labelOf the label of a value that is not among them, which is added
 * @returns {{node: HTMLSelectElement, set: (value: number) => void}}
 */
export function select(values, value, onchange, labelOf) {
  const node = /** @type {HTMLSelectElement} */ (h('select', null, values.map(([of, label]) => h('option', { value: String(of) }, label))));
  node.addEventListener('change', () => onchange(Number(node.value)));
  /** @param {number} to */
  const set = (to) => {
    if (![...node.options].some((option) => option.value === String(to))) node.append(h('option', { value: String(to) }, labelOf(to)));
    node.value = String(to);
  };
  set(value);
  return { node, set };
}

/**
 * A whole number with buttons for less and more.
 *
 * @param {{min: number, max: number, less: string, more: string}} bounds and the names of the buttons
 * @param {number} value
 * @param {(value: number) => void} onchange called once the value rests for half a second
 * @returns {{node: HTMLElement, input: HTMLInputElement, set: (value: number) => void, get: () => number}}
 */
export function stepper({ min, max, less, more }, value, onchange) {
  const input = /** @type {HTMLInputElement} */ (h('input', { type: 'number', inputmode: 'numeric', min, max, step: 1, value: String(value) }));
  let told = value;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const get = () => Math.min(max, Math.max(min, Math.round(Number(input.value)) || 0));
  const tell = () => {
    clearTimeout(timer);
    input.value = String(get());
    if (get() === told) return;
    told = get();
    onchange(told);
  };
  /** @param {number} by */
  const step = (by) => {
    input.value = String(Math.min(max, Math.max(min, get() + by)));
    input.dispatchEvent(new Event('input'));
    clearTimeout(timer);
    timer = setTimeout(tell, 500);
  };
  input.addEventListener('change', tell);
  const node = h('div.stepper', { role: 'group' },
    h('button.round', { type: 'button', 'aria-label': less, onclick: () => step(-1) }, '−'),
    input,
    h('button.round', { type: 'button', 'aria-label': more, onclick: () => step(1) }, '+'));
  return {
    node,
    input,
    get,
    set: (to) => {
      told = to;
      if (document.activeElement !== input) input.value = String(to);
    },
  };
}
