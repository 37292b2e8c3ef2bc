// Which key is meant, on the keyboards that people have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyOf } from '../../Sources/WebClient/Pages/view/dom.js';

const pressed = (key, code, shiftKey = false) => keyOf({ key, code, shiftKey });

test('a letter is meant by what is typed, or by its place where the layout has other letters', () => {
  for (const [key, code, shift] of [['n', 'KeyN'], ['N', 'KeyN', true], ['n', 'KeyL'], ['т', 'KeyN'], ['ν', 'KeyN'], ['מ', 'KeyN']])
    assert.equal(pressed(key, code, shift), 'n', key);
  // The key in the place of N on a layout of Dvorak's, which has its N elsewhere.
  assert.equal(pressed('b', 'KeyN'), '');
  assert.equal(pressed('к', 'KeyR'), '');
});

test('digits are meant by their place where they need Shift', () => {
  for (const [key, code, shift, digit] of [
    ['1', 'Digit1', false, '1'], ['3', 'Numpad3', false, '3'], ['&', 'Digit1', false, '1'], ['é', 'Digit2', false, '2'], ['1', 'Digit1', true, '1'],
    ['!', 'Digit1', true, ''], ['4', 'Digit4', false, ''], ['Dead', 'Digit2', false, ''],
  ]) assert.equal(pressed(key, code, shift), digit, key);
});

test('signs are meant by what is typed, wherever they stand', () => {
  for (const [key, code, shift] of [['/', 'Slash'], ['/', 'Digit7', true], ['/', 'Backslash', true], ['/', 'Digit3', true]]) assert.equal(pressed(key, code, shift), '/');
  for (const [key, code, shift] of [['?', 'Slash', true], ['?', 'Minus', true], ['?', 'Digit7', true]]) assert.equal(pressed(key, code, shift), '?');
  assert.equal(pressed(' ', 'Space'), ' ');
  for (const [key, code] of [['.', 'Slash'], ['Enter', 'Enter'], ['NumLock', 'NumLock']]) assert.equal(pressed(key, code), '');
});

test('what a browser tells of keys as it fills in a form is no key', () => {
  assert.equal(keyOf({}), '');
});
