// The two elements, and what is heard of them: fades in every order of events, and the taps that a browser wants.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unlockElements } from '../../Sources/WebClient/Pages/deck/elements.js';
import { Player } from '../../Sources/WebClient/Pages/deck/player.js';
import { Media, Music, expectFade, expectSmooth, power } from './fake-media.mjs';
import { seeded } from './samples.mjs';

const AT_ONCE = { positionMs: 0, level: 1, fadeMs: 0, plays: true };
const FADING = { ...AT_ONCE, fadeMs: 4000 };
/** What is heard at least of what was, where two sounds make way for a third one. */
const LEAST = 0.45;

/** A player whose reports are written down. */
function playing(options, media = new Media(options)) {
  const told = [];
  const tell = (name) => (given) => told.push(name === 'ended' ? `ended ${given === null ? '' : Math.round(given / 100) / 10}` : name);
  const player = new Player({ ended: tell('ended'), paused: tell('paused'), playing() {}, stalled() {}, failed: tell('failed') }, media.ports);
  const files = new Map();
  const file = (name, ...of) => {
    if (!files.has(name)) files.set(name, new Music(name, ...of));
    return files.get(name);
  };
  const play = (name, how = FADING) => player.play(name, player.isOpen(name) ? null : file(name), how);
  return { media, player, told, file, play };
}

/** The sounds that are heard now, as names and volumes in hundredths. */
const heard = (media) => media.sounds.map(({ name, volume }) => `${name} ${Math.round(volume * 100)}`).sort();

for (const [when, at] of [['before the fade', -1000], ['as it begins', 0], ['as the next song opens', 20], ['as it sounds', 60], ['in the middle', 2000], ['at its end', 4040]]) {
  test(`songs fade as loud where the one after the next is known ${when}`, async () => {
    const { media, player, file, play } = playing();
    await Promise.all([play('1', AT_ONCE), media.run(1000)]);
    player.prepare('2', file('2'));
    await media.run(1000);
    if (at < 0) player.prepare('3', file('3'));
    await media.run(1000);
    const played = play('2');
    await media.run(Math.max(0, at));
    player.prepare('3', file('3'));
    await media.run(6000);
    await played;
    expectFade(media, '1', '2');
    expectSmooth(media.heard);
    assert.deepEqual([heard(media), player.isOpen('3'), player.key], [['2 100'], true, '2']);
    // It is open indeed: it sounds as soon as an element can.
    const open = media.ports.elements.find(({ music }) => music?.name === '3');
    assert.deepEqual([open.readyState, open.paused], [4, true]);
    media.heard = [];
    play('3');
    await media.run(6000);
    expectFade(media, '2', '3');
  });
}

test('a song that opens late is waited for as loud, and both fade then', async () => {
  const { media, play, file } = playing();
  play('1', AT_ONCE);
  await media.run(1000);
  file('2', 200, { openMs: 1500 });
  play('2');
  await media.run(1400);
  assert.deepEqual(heard(media), ['1 100']);
  await media.run(6000);
  expectFade(media, '1', '2');
  expectSmooth(media.heard);
});

test('a song that opens too late for the fade begins where the one before has ended; between, both fade in what is left', async () => {
  for (const [openMs, lasts] of [[3000, 4000 - 3030], [6000, null]]) {
    const { media, play, file, told } = playing();
    file('1', 10);
    play('1', AT_ONCE);
    await media.run(6050);
    file('2', 200, { openMs });
    play('2');
    await media.run(8000);
    if (lasts) expectFade(media, '1', '2', lasts);
    expectSmooth(media.heard, { mayStop: (_, { at }) => at > 9.7 });
    assert.deepEqual([heard(media), told], [['2 100'], []]);
  }
});

test('a song that ends in the middle of its fade leaves the next one as loud as it is to be', async () => {
  // How much is left of it is not known: its length moves.
  const { media, play, file } = playing();
  file('1', 12, { claims: 3 });
  play('1', AT_ONCE);
  await media.run(11_000);
  play('2');
  await media.run(1150);
  assert.deepEqual(heard(media), ['2 100']);
  expectSmooth(media.heard, { mayStop: (_, { at }) => at > 11.7 });
});

test('short songs fade in no more than their halves', async () => {
  const { media, play, file } = playing();
  file('1', 10);
  file('2', 2);
  play('1', AT_ONCE);
  await media.run(6050);
  play('2');
  await media.run(1100);
  expectFade(media, '1', '2', 1000);
  play('3', { ...FADING });
  await media.run(5000);
  expectFade(media, '2', '3', media.heard.find(({ sounds }) => sounds.some(({ name }) => name === '3')) ? 930 : 0);
  expectSmooth(media.heard, { mayStop: (_, { name, at }) => name === '2' && at > 1.7 });
});

test('the same song twice fades into itself', async () => {
  const { media, player, play, file } = playing();
  play('1', AT_ONCE);
  await media.run(3000);
  player.prepare('1', file('1'));
  await media.run(1000);
  assert.ok(player.isOpen('1'));
  play('1');
  await media.run(1000);
  player.prepare('1', file('1'));
  assert.deepEqual(media.sounds.map(({ at }) => Math.round(at)).sort(), [1, 5]);
  await media.run(1000);
  assert.deepEqual(heard(media), ['1 71', '1 71']);
  await media.run(4000);
  expectSmooth(media.heard);
  assert.deepEqual([heard(media), player.isOpen('1'), Math.round(player.positionMs / 1000)], [['1 100'], true, 6]);
});

test('a next song that cannot be played is told, and what was heard is left without a crack', async () => {
  for (const prepares of [false, true]) {
    const { media, player, play, file } = playing();
    play('1', AT_ONCE);
    await media.run(1000);
    file('2', 200, { isBroken: true });
    if (prepares) player.prepare('2', file('2'));
    await media.run(1000);
    const refused = assert.rejects(play('2'), { name: 'NotSupportedError' });
    await media.run(1000);
    await refused;
    expectSmooth(media.heard);
    assert.deepEqual(heard(media), []);
    play('3');
    await media.run(1000);
    assert.deepEqual(heard(media), ['3 100']);
  }
});

test('a song whose header is right and whose music cannot be decoded is told, played at once or after a pause', async () => {
  for (const prepares of [false, true]) {
    for (const waits of [false, true]) {
      const { media, player, play, file, told } = playing();
      play('1', AT_ONCE);
      await media.run(1000);
      file('2', 200, { isCorrupt: true });
      if (prepares) player.prepare('2', file('2'));
      await media.run(1000);
      let refused = null;
      if (waits) {
        play('2', { ...FADING, plays: false });
        await media.run(1000);
      }
      (waits ? player.resume() : play('2')).catch((error) => { refused = error.name; });
      await media.run(3000);
      assert.deepEqual([refused, told, heard(media)], ['decode', [], []], `${prepares} ${waits}`);
      play('3');
      await media.run(1000);
      assert.deepEqual(heard(media), ['3 100']);
    }
  }
});

test('a song that is open, or is not, is played as that', async () => {
  const { media, player, play, file } = playing();
  await assert.rejects(player.play('1', null, AT_ONCE), /not open/);
  play('1', AT_ONCE);
  await media.run(1000);
  player.prepare('2', file('2', 200, { openMs: 500 }));
  await media.run(1000);
  player.pause();
  play('2', AT_ONCE);
  await media.run(100);
  assert.deepEqual(heard(media), ['2 100']);
});

test('another file for a song that could not be played is opened', async () => {
  for (const fault of [{ isBroken: true }, { isCorrupt: true }]) {
    const { media, player, play, file } = playing();
    file('1', 200, fault);
    play('1', AT_ONCE).catch(() => {});
    await media.run(1000);
    assert.ok(!player.isOpen('1'));
    player.play('1', new Music('1 anew'), AT_ONCE);
    await media.run(1000);
    assert.deepEqual(heard(media), ['1 anew 100']);
  }
});

test('in a fade, levels and the volume change what they are for, and no sound jumps', async () => {
  const { media, player, play } = playing();
  play('1', { ...AT_ONCE, level: 0.5 });
  await media.run(1000);
  play('2', { ...FADING, level: 0.4 });
  await media.run(2050);
  assert.deepEqual(heard(media), ['1 35', '2 28']);
  player.setLevel('2', 0.8);
  await media.run(5000);
  assert.deepEqual(heard(media), ['2 80']);
  expectSmooth(media.heard, { volume: 0.1 });
  play('3', FADING);
  await media.run(2050);
  player.volume = 0.5;
  await media.run(0);
  assert.deepEqual(heard(media), ['2 28', '3 35']);
  await media.run(4000);
  assert.deepEqual(heard(media), ['3 50']);
});

test('a song that fades in is silent as it begins, and one that cuts off another is not', async () => {
  for (const [how, volume] of [[FADING, 0], [AT_ONCE, 1]]) {
    const { media, player, play, file } = playing();
    play('1', AT_ONCE);
    await media.run(1000);
    player.prepare('2', file('2'));
    await media.run(1000);
    const open = media.ports.elements.find(({ music }) => music.name === '2');
    play('2', how);
    assert.deepEqual([open.paused, open.volume], [false, volume]);
  }
});

test('a level that is measured twice in a moment ends where the last one says', async () => {
  const { media, player, play } = playing();
  play('1', AT_ONCE);
  await media.run(1000);
  player.setLevel('1', 0.2);
  await media.run(700);
  player.setLevel('1', 0.6);
  await media.run(3000);
  assert.deepEqual(heard(media), ['1 60']);
  expectSmooth(media.heard, { volume: 0.15 });
});

test('a pause in a fade is silent at once, and after it the new song alone is heard; what was prepared stays', async () => {
  const { media, player, play, file } = playing();
  play('1', AT_ONCE);
  await media.run(1000);
  play('2');
  await media.run(1000);
  player.prepare('3', file('3'));
  player.pause();
  await media.run(1000);
  assert.deepEqual([heard(media), player.isOpen('3')], [[], true]);
  player.resume();
  await media.run(100);
  assert.deepEqual([heard(media), player.isOpen('3')], [['2 100'], true]);
  play('3');
  await media.run(6000);
  expectFade(media, '2', '3');
});

test('a song is paused, sought and resumed while it opens: it is heard from there, and not before', async () => {
  const { media, player, play, file } = playing();
  file('1', 200, { openMs: 500 });
  play('1', { ...AT_ONCE, positionMs: 30_000 });
  await media.run(100);
  player.pause();
  player.seek(60_000);
  assert.equal(player.positionMs, 60_000);
  player.resume();
  await media.run(3000);
  const [first] = media.heard.filter(({ sounds }) => sounds.length > 0);
  assert.ok(Math.abs(first.sounds[0].at - 60) < 0.1);
  assert.deepEqual(heard(media), ['1 100']);
});

test('a seek in a fade moves the new song alone', async () => {
  const { media, player, play } = playing();
  play('1', AT_ONCE);
  await media.run(1000);
  play('2');
  await media.run(1000);
  player.seek(100_000);
  await media.run(700);
  assert.deepEqual(media.sounds.map(({ at }) => Math.round(at)).sort((a, b) => a - b), [3, 101]);
  await media.run(4000);
  assert.deepEqual(heard(media), ['2 100']);
});

test('an element whose time does not begin at 0 is at 0 as the song begins', async () => {
  const { media, player, play, file, told } = playing();
  file('1', 10, { origin: 18_000 });
  play('1', AT_ONCE);
  await media.run(2050);
  assert.deepEqual([Math.round(player.positionMs / 100), player.durationMs], [20, 10_000]);
  player.seek(5000);
  await media.run(1005);
  assert.equal(Math.round(player.positionMs / 100), 60);
  await media.run(5000);
  // It was sought: what was heard is not its length.
  assert.deepEqual(told, ['ended ']);
});

test('where a header lies, what was heard is told at the end, and a length that moves is none', async () => {
  for (const [claims, known] of [[18_006, 18_006_000], [3, Infinity], [12, 12_000]]) {
    const { media, player, play, file, told } = playing();
    file('1', 12, { claims });
    play('1', AT_ONCE);
    await media.run(6050);
    assert.deepEqual([Math.round(player.positionMs / 1000), player.durationMs], [6, known]);
    await media.run(10_000);
    assert.deepEqual([told, Math.round(player.positionMs / 1000)], [['ended 12'], 12]);
  }
});

test('a position beyond what a header claims is no end: the song goes on near there, and its position is what is heard', async () => {
  const { media, player, play, file, told } = playing();
  file('1', 12, { claims: 4 });
  play('1', { ...AT_ONCE, positionMs: 9000 });
  await media.run(2050);
  assert.deepEqual([told, heard(media), Math.round(player.positionMs / 1000), Math.round(media.sounds[0].at)], [[], ['1 100'], 5, 5]);
  await media.run(10_000);
  assert.deepEqual(told, ['ended ']);
});

// Every order of events

/** Things that may happen; `n` numbers the songs. */
const EVENTS = {
  prepare: ({ player, file }, n) => player.prepare(`${n + 1}`, file(`${n + 1}`)),
  next: ({ play }, n) => play(`${n + 1}`),
  skip: ({ play }, n) => play(`${n + 2}`),
  again: ({ play, player }) => play(player.key || '1'),
  cut: ({ play }, n) => play(`${n + 1}`, AT_ONCE),
  pause: ({ player }) => player.pause(),
  resume: ({ player }) => player.key && player.resume(),
  seek: ({ player }) => player.key && player.seek(50_000),
  stop: ({ player }) => player.stop(),
  level: ({ player }) => player.setLevel(player.key, 0.9),
};
const SONGS = new Map([['next', 1], ['skip', 2], ['cut', 1]]);
/** What ends a sound at once. */
const STOPS = new Set(['pause', 'seek']);

/** Plays one order of events, `[name, ms after it]` each, and looks at what was heard. */
async function order(events, openMs) {
  const bench = playing(), { media, player, told, file } = bench;
  const what = ` in ${events.map(([name, ms]) => `${name} ${ms}`).join(', ')}; songs open in ${openMs} ms`;
  for (let n = 0; n < 2 * events.length + 4; n++) file(`${n}`, 500, { openMs });
  let n = 1, key = '1', plays = true, prepared = '';
  /** Since when something is to be heard without a pause. */
  let isOn = false;
  const stops = [], cuts = [];
  bench.play('1', AT_ONCE).catch(() => {});
  await media.run(openMs + 1000);
  media.heard = [];
  for (const [name, ms] of events) {
    const was = player.key;
    if (STOPS.has(name)) stops.push(media.clock.now);
    isOn = plays && player.isHeard && !['pause', 'stop', 'cut', 'seek'].includes(name);
    Promise.resolve(EVENTS[name](bench, n)).catch((error) => { if (error.name !== 'AbortError') told.push(`${error}`); });
    n += SONGS.get(name) ?? 0;
    if (name === 'prepare') prepared = `${n + 1}`;
    if (SONGS.has(name)) [key, plays, prepared] = [`${n}`, true, ''];
    if (name === 'again') [key, plays, prepared] = [was || '1', true, ''];
    if (name === 'pause') plays = false;
    if (name === 'resume') plays = Boolean(key);
    if (name === 'stop') [key, plays, prepared] = ['', false, ''];
    const from = media.heard.length;
    await media.run(ms);
    assert.equal(player.key, key, `the song${what}`);
    if (isOn) {
      const least = Math.min(...media.heard.slice(from).map(power));
      // Both have levels of at least 0.9.
      assert.ok(least >= LEAST * 0.81 * power(media.heard[from]), `after ${name} the power is ${least}${what}`);
    }
    if (name === 'cut') cuts.push(media.clock.now - ms);
    const isCut = (now) => cuts.some((at) => now >= at && now <= at + openMs + 250);
    assert.ok(!media.heard.some((one) => power(one) > 1.1 && !isCut(one.now)), `too loud${what}`);
  }
  const last = events.at(-1)[0], restMs = 8000 + 2 * openMs;
  await media.run(restMs);
  const { sounds } = media, level = player.key ? [1, 0.9] : [];
  assert.deepEqual(sounds.map(({ name }) => name), plays ? [key] : [], `what is heard at the end${what}`);
  for (const { volume } of sounds) assert.ok(level.some((one) => Math.abs(one - volume) < 0.01), `its volume is ${volume}${what}`);
  if (plays && key) assert.ok(Math.abs(player.positionMs / 1000 - sounds[0].at) < 0.01);
  if (last === 'seek' && plays) assert.ok(Math.abs(player.positionMs - 50_000 - restMs - events.at(-1)[1]) < 100 + openMs, `its position is ${player.positionMs}${what}`);
  if (prepared) {
    assert.ok(player.isOpen(prepared), `${prepared} is open${what}`);
    assert.ok(media.ports.elements.some(({ music, readyState }) => music?.name === prepared && readyState === 4), `${prepared} has been opened${what}`);
  }
  assert.deepEqual(told, [], what);
  expectSmooth(media.heard, { mayStop: (now) => stops.includes(now), what });
  player.close();
  assert.equal(media.urls.size, 0, `files are freed${what}`);
}

const NAMES = Object.keys(EVENTS);

test('every order of two events before, in and after a fade is heard as it is meant', async () => {
  for (const first of NAMES) {
    for (const second of NAMES) {
      for (const ms of [0, 30, 1300]) await order([['next', ms], [first, 700], [second, 300]], 40);
    }
  }
});

test('every order of three events at one moment of a fade is heard as it is meant', async () => {
  for (const first of NAMES) {
    for (const second of NAMES) {
      for (const third of ['prepare', 'next', 'again', 'pause', 'stop']) await order([['prepare', 500], ['next', 900], [first, 25], [second, 90], [third, 10]], 40);
    }
  }
});

test('evenings of events by chance are heard as they are meant', async (t) => {
  const { random } = seeded(t);
  for (let i = 0; i < 100; i++) {
    const events = Array.from({ length: 3 + random(10) }, () => [NAMES[random(NAMES.length)], [0, 1, 10, 30, 45, 70, 120, 400, 1100, 2300, 4100, 6000][random(12)]]);
    await order(events, [1, 40, 300, 2500][random(4)]);
  }
});

// Taps

test('after a reload one tap frees both elements: the next song plays by itself', async () => {
  const { media, player, file, play } = playing({ isStrict: true });
  // The deck goes on by itself, and the browser wants a tap; the next song is open by then.
  await assert.rejects(play('1', AT_ONCE), { name: 'NotAllowedError' });
  player.prepare('2', file('2'));
  await media.run(200);
  player.pause();
  player.prepare('2', file('2'));
  const resumed = media.tap(() => {
    player.unlock();
    return player.resume();
  });
  player.prepare('2', file('2'));
  await media.run(500);
  await resumed;
  assert.equal(player.key, '1');
  play('2');
  await media.run(5000);
  assert.deepEqual([player.key, heard(media)], ['2', ['2 100']]);
  player.close();
});

for (const ms of [0, 60, 3000]) {
  test(`a tap frees both elements of a deck that is loaded ${ms} ms later`, async () => {
    const media = new Media({ isStrict: true });
    media.tap(() => unlockElements(media.ports));
    await media.run(ms);
    const { player, play, told } = playing({}, media);
    player.unlock();
    play('1', AT_ONCE);
    await media.run(2000);
    assert.deepEqual(heard(media), ['1 100']);
    play('2');
    await media.run(6000);
    expectFade(media, '1', '2');
    assert.deepEqual([heard(media), told], [['2 100'], []]);
    player.close();
  });
}

test('what a tap does to the elements is over when the first song is opened', async () => {
  const media = new Media({ isStrict: true });
  const { player, play } = playing({}, media);
  media.tap(() => {
    unlockElements(media.ports);
    player.unlock();
  });
  play('1', AT_ONCE);
  await media.run(1000);
  assert.deepEqual([heard(media), media.hurried], [['1 100'], 0]);
  player.close();
});

test('a tap frees elements that were refused before it', async () => {
  const media = new Media({ isStrict: true });
  unlockElements(media.ports);
  await media.run(100);
  media.tap(() => unlockElements(media.ports));
  const { play } = playing({}, media);
  play('1', AT_ONCE);
  await media.run(1000);
  assert.deepEqual(heard(media), ['1 100']);
});

test('a tap does not disturb what sounds, nor what fades', async () => {
  const { media, player, play } = playing({ isStrict: true });
  media.tap(() => {
    player.unlock();
    play('1', AT_ONCE);
  });
  await media.run(1000);
  media.tap(() => player.unlock());
  await media.run(1000);
  assert.deepEqual([player.key, heard(media)], ['1', ['1 100']]);
  play('2');
  await media.run(1000);
  media.tap(() => player.unlock());
  await media.run(5000);
  expectFade(media, '1', '2');
  player.close();
});

test('where the system pauses the sound, that is told once; where the page does, it is not', async () => {
  const { media, player, play, told } = playing();
  play('1', AT_ONCE);
  await media.run(1000);
  media.ports.elements.find(({ sounds }) => sounds).interrupt();
  await media.run(100);
  assert.deepEqual(told, ['paused']);
  player.pause();
  player.resume();
  await media.run(100);
  player.pause();
  await media.run(100);
  assert.deepEqual(told, ['paused']);
});
