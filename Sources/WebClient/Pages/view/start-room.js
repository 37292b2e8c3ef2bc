// "Start a room": its name, who finds it, and what comes next.

import { t } from '../text/en-more.js';
import { choice, offered } from './controls.js';
import { dialog, sentenceOf } from './dialog.js';
import { h, number, stylesheet, text } from './dom.js';
import { allRight, group, textField } from './inputs.js';
import { refusedName, shownLength } from './names.js';

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
  if (shownLength(name) > most) return t.home.nameLong(number(most));
  return /[^\s\p{M}\p{C}\u2800]/u.test(name) ? null : t.join.nameWrong;
}

/**
 * Opens the dialog that makes a room, and goes there.
 *
 * @param {App} app
 */
export async function open(app) {
  await stylesheet('add');
  const session = app.http.knownSession();
  const known = session && session.name !== UNNAMED ? session.name : '';
  let visibility = 'public';
  let queueMode = 'votes';
  /** The same key for each try: a room is made once. */
  let key = '';
  let asked = '';

  const name = textField(t.home.name, { placeholder: t.home.nameHint, enterkeyhint: 'next' });
  const person = textField(t.home.you, { autocomplete: 'nickname', value: known });
  const next = choice(offered(t.choices.modes, t.choices.modesAbout), queueMode, (value) => { queueMode = value; });
  const finds = choice(offered(t.choices.visibilities, t.choices.visibilitiesAbout), visibility, (value) => { visibility = value; });
  const go = h('button.pill.primary', { type: 'submit', form: 'start-room' }, t.home.create);
  const form = h('form.start-room#start-room', { novalidate: true }, h('div.start-pair', null, name.node, person.node), group(t.choices.mode, next.node), group(t.choices.visibility, finds.node));
  const shown = dialog({ title: t.home.start, body: form, wide: true, className: 'start-dialog', foot: h('footer.dialog-foot', null, go) });
  // Set in the document: a browser complains of an element that comes with it while another has the focus.
  name.input.setAttribute('autofocus', '');

  const submit = async () => {
    if (go.disabled) return;
    const roomName = name.input.value.trim();
    const personName = person.input.value.trim();
    if (!allRight([
      [name, wrongName(roomName, LONGEST_ROOM, t.home.nameMissing)], [person, wrongName(personName, LONGEST_PERSON, t.join.nameMissing)],
    ])) return;
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
      if (code === 'bad_request') shown.notice(refusedName(refusal));
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
}

/** A key for one room. */
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
