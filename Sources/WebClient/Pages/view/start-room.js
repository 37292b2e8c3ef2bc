// "Start a room": its name, who finds it, and what comes next.

import { t } from '../text/en.js';
import { choice, field } from './controls.js';
import { dialog, sentenceOf } from './dialog.js';
import { h, number, text } from './dom.js';
import { hasControl, scalars } from './song-list.js';

/** @typedef {import('./dom.js').App} App */

/** The longest names, in Unicode scalars. */
const LONGEST_ROOM = 80;
const LONGEST_PERSON = 40;

/** The name of a session that nobody has named. */
const UNNAMED = 'Guest';

/**
 * What is wrong with a name; null: nothing that can be seen here.
 *
 * @param {string} name
 * @param {number} most
 * @param {string} missing
 */
function wrongName(name, most, missing) {
  if (name === '') return missing;
  if (scalars(name) > most) return t.home.nameLong(number(most));
  return hasControl(name) || !/[^\s\p{M}\p{C}\u2800]/u.test(name) ? t.home.nameWrong : null;
}

/**
 * Opens the dialog that makes a room, and goes there.
 *
 * @param {App} app
 */
export function open(app) {
  const session = app.http.knownSession();
  const known = session && session.name !== UNNAMED ? session.name : '';
  let visibility = 'public';
  let queueMode = 'votes';
  /** The same key for each try: a room is made once. */
  let key = '';
  let asked = '';

  const name = /** @type {HTMLInputElement} */ (h('input', { type: 'text', autofocus: true, autocomplete: 'off', placeholder: t.home.nameHint, dir: 'auto', enterkeyhint: 'next' }));
  const person = /** @type {HTMLInputElement} */ (h('input', { type: 'text', autocomplete: 'nickname', value: known, dir: 'auto' }));
  const fields = {
    name: field(t.home.name, '', name),
    person: field(t.home.you, '', person),
    finds: field(t.home.whoFinds, '', choice([['public', t.home.listed, t.home.listedMore], ['unlisted', t.home.unlisted, t.home.unlistedMore]], visibility, (value) => { visibility = value; }).node),
    next: field(t.home.whatNext, '', choice([
      ['votes', t.home.modes.votes, t.home.modesMore.votes], ['fair', t.home.modes.fair, t.home.modesMore.fair], ['dj', t.home.modes.dj, t.home.modesMore.dj],
    ], queueMode, (value) => { queueMode = value; }).node),
  };
  const go = h('button.pill.primary', { type: 'submit', form: 'start-room' }, t.home.create);
  const form = h('form.start-room', { id: 'start-room', novalidate: true }, fields.name.node, fields.person.node, fields.next.node, fields.finds.node);
  const shown = dialog({ title: t.home.start, body: form, foot: h('footer.dialog-foot', null, go) });

  const submit = async () => {
    if (go.disabled) return;
    const roomName = name.value.trim();
    const personName = person.value.trim();
    const wrong = { name: wrongName(roomName, LONGEST_ROOM, t.home.nameMissing), person: wrongName(personName, LONGEST_PERSON, t.join.nameMissing) };
    fields.name.say(wrong.name);
    fields.person.say(wrong.person);
    if (wrong.name || wrong.person) return (wrong.name ? name : person).focus();
    go.disabled = true;
    text(go, t.home.starting);
    try {
      const mine = await app.session();
      if (mine.name !== personName) await app.http.renameSession(personName);
      const body = { name: roomName, visibility, settings: { queueMode } };
      if (asked !== JSON.stringify(body)) key = newKey();
      asked = JSON.stringify(body);
      const { room } = await app.http.request('POST', '/v1/rooms', body, { key });
      shown.close();
      app.go(`/r/${room.state.code}`);
    } catch (refusal) {
      const { code } = /** @type {{ code?: string }} */ (refusal);
      if (code === 'bad_request') shown.notice(t.home.nameWrong);
      else shown.notice(sentenceOf(refusal));
    } finally {
      go.disabled = false;
      text(go, t.home.create);
    }
  };
  form.addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    submit();
  });
  name.addEventListener('input', () => fields.name.say(null));
  person.addEventListener('input', () => fields.person.say(null));
}

/** A key for one room. */
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
