// What the page does for browsers that are unlike the one in which it is tested: WebKit, and those of phones.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { choosesFolders, suit } from '../../Sources/WebClient/Pages/view/dom.js';

const PAGES = new URL('../../Sources/WebClient/Pages/', import.meta.url);
const filesOf = (folder, end) => readdirSync(new URL(folder, PAGES)).filter((name) => name.endsWith(end)).map((name) => [name, readFileSync(new URL(folder + name, PAGES), 'utf8')]);
const styles = filesOf('style/', '.css').map(([name, css]) => [name, css.replace(/\/\*[^]*?\*\//g, '')]);

/** Properties that Safari 16.4 knows by another name, too, or only by that one. */
const PREFIXED = ['user-select', 'backdrop-filter', 'text-size-adjust', 'box-decoration-break'];

test('what WebKit knows with a prefix has one', () => {
  const found = [];
  for (const [name, css] of styles) {
    for (const [, rule] of css.matchAll(/\{([^{}]*)\}/g)) {
      for (const property of PREFIXED) {
        const value = new RegExp(`(?<![-\\w])${property}:([^;]*)`).exec(rule)?.[1];
        if (value !== undefined && !rule.includes(`-webkit-${property}:${value}`)) found.push(`${name}: ${property}:${value}`);
      }
    }
  }
  assert.deepEqual(found, []);
});

test('no field or list is so small that iOS zooms into it', () => {
  // Their classes, and what they are by themselves; what is no text is not zoomed into.
  const fields = new Set(['input', 'select', 'textarea']);
  for (const [, js] of filesOf('view/', '.js')) {
    for (const [, , classes] of js.matchAll(/\bh\('(input|select|textarea)((?:\.[\w-]+)+)/g)) for (const one of classes.slice(1).split('.')) fields.add(`.${one}`);
  }
  for (const one of ['.slider', '.switch']) fields.delete(one);
  const sizes = [];
  for (const [name, css] of styles) {
    for (const [, selectors, rule] of css.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
      const size = /(?:font-size:|font:[^;]*?)\s*([\d.]+)rem/.exec(rule)?.[1];
      const isField = selectors.split(',').some((one) => fields.has(/(?:^|[\s>+~])([.\w-]+)$/.exec(one.trim())?.[1] ?? ''));
      if (size !== undefined && isField) sizes.push([`${name}: ${selectors.trim()}`, Number(size) * 16]);
    }
  }
  assert.ok(sizes.length >= 5, JSON.stringify(sizes));
  assert.deepEqual(sizes.filter(([, size]) => size < 16), []);
});

test('texts have no size in pixels, and layouts are chosen by the size of texts', () => {
  const found = styles.flatMap(([name, css]) => [...css.matchAll(/(?:font-size|font):[^;}]*?\dpx[^;}]*|@(?:media|container)[^{]*?\dpx[^{]*/g)].map(([one]) => `${name}: ${one}`));
  for (const [name, js] of filesOf('view/', '.js')) for (const [one] of js.matchAll(/matchMedia\([^)]*\dpx.*/g)) found.push(`${name}: ${one}`);
  assert.deepEqual(found, []);
});

/** A page in a browser of this maker, and where it is iOS, the size of the system's texts there. */
function suited(vendor, systemPx) {
  const style = new Map();
  const root = { style: { setProperty: (name, value) => style.set(name, value), removeProperty: (name) => style.delete(name) } };
  globalThis.window = {};
  globalThis.CSS = { supports: (name, value) => systemPx !== undefined && name === 'font' && value === '-apple-system-body' };
  globalThis.getComputedStyle = () => ({ fontSize: style.get('font') === '-apple-system-body' ? `${systemPx}px` : '16px' });
  const viewport = { content: /name="viewport" content="([^"]*)"/.exec(readFileSync(new URL('index.html', PAGES), 'utf8'))[1] }, listeners = [];
  Object.defineProperty(globalThis, 'navigator', { value: { vendor }, configurable: true, writable: true });
  globalThis.document = { documentElement: root, querySelector: (selector) => (selector === 'meta[name=viewport]' ? viewport : null), addEventListener: (...of) => listeners.push(of) };
  suit();
  return { viewport: viewport.content, listeners, style: Object.fromEntries(style) };
}

test('a keyboard on the screen makes the page smaller, and WebKit gets no key that it does not know', () => {
  for (const vendor of ['Google Inc.', '']) assert.match(suited(vendor).viewport, /, interactive-widget=resizes-content$/);
  assert.doesNotMatch(suited('Apple Computer, Inc.').viewport, /interactive-widget/);
});

test('the page listens for touches, so that iOS shows what is pressed, and holds up no scrolling', () => {
  const [[type, , options]] = suited('Apple Computer, Inc.').listeners;
  assert.deepEqual([type, options], ['touchstart', { passive: true }]);
});

test('texts are as large as the system\'s on iOS, up to half as large again, and no smaller than without', () => {
  for (const [systemPx, style] of [[17, {}], [14, {}], [13, {}], [20.4, { 'font-size': '120%' }], [53, { 'font-size': '150%' }], [undefined, {}]]) {
    const set = suited('Apple Computer, Inc.', systemPx).style;
    for (const [name, value] of Object.entries(set)) set[name] = `${Math.round(parseFloat(value))}%`;
    assert.deepEqual(set, style, `${systemPx}`);
  }
});

test('a folder can be chosen where there is a chooser for it, and not where the browser opens one for files', () => {
  const has = ({ picker = false, property = false, isCoarse = false }) => {
    Object.assign(globalThis, {
      window: picker ? { showDirectoryPicker() {} } : {},
      HTMLInputElement: { prototype: property ? { webkitdirectory: false } : {} },
      matchMedia: (query) => ({ matches: query === '(pointer: coarse)' && isCoarse }),
    });
    return choosesFolders();
  };
  assert.ok(has({ picker: true, property: true }) && has({ picker: true, property: true, isCoarse: true }) && has({ property: true }));
  assert.ok(!has({ property: true, isCoarse: true }) && !has({ isCoarse: true }) && !has({}));
});
