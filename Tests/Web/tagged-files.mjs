// Music files with tags: made by ffmpeg, lame, flac, oggenc and opusenc once a run, and by hand where no program writes them.
//   node Tests/Web/tagged-files.mjs FOLDER NAME…   writes some of those that programs make
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { joined } from './mutations.mjs';

/** What programs write as tags. */
export const SONG = { title: 'Maré Alta ☂ 𝔊', artist: 'Ínês & Co', album: 'Água' };
/** The same, for what knows Latin-1 only. */
export const LATIN = { title: 'Maré Alta', artist: 'Ínês & Co', album: 'Água' };
/** How long the music is, in ms. */
export const LENGTH = 3000;

/** @type {string | null} deleted when the process ends */
let folder = null;

function home() {
  if (!folder) {
    folder = mkdtempSync(join(tmpdir(), 'backline-tagged-'));
    process.on('exit', () => rmSync(/** @type {string} */ (folder), { recursive: true, force: true }));
    run('ffmpeg', ['-f', 'lavfi', '-i', `aevalsrc=0.3*sin(2*PI*(220+30*t)*t)*(0.6+0.4*sin(5*t))|0.2*random(1)*sin(3*t):s=44100:d=${LENGTH / 1000}`, path('plain.wav')]);
    run('ffmpeg', ['-f', 'lavfi', '-i', 'testsrc=s=160x160', '-frames:v', '1', path('cover.jpg')]);
    run('ffmpeg', ['-f', 'lavfi', '-i', 'testsrc=s=200x200', '-frames:v', '1', path('cover.png')]);
  }
  return folder;
}

const path = (name) => join(home(), name);
const read = (name) => new Uint8Array(readFileSync(path(name)));

/** Runs a program, whose standard output is given back. */
function run(program, options) {
  const flags = program === 'ffmpeg' ? ['-nostdin', '-v', 'error', '-y', '-bitexact'] : [];
  return execFileSync(program, [...flags, ...options], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 });
}

const convert = (name, ...options) => run('ffmpeg', ['-i', path('plain.wav'), ...options, path(name)]);
const META = Object.entries(SONG).flatMap(([key, value]) => ['-metadata', `${key}=${value}`]);
const LAME = ['--quiet', '--tt', LATIN.title, '--ta', LATIN.artist, '--tl', LATIN.album];
const lame = (name, ...options) => run('lame', ['--quiet', ...options, path('plain.wav'), path(name)]);
const COMMENTS = Object.entries(SONG).map(([key, value]) => `${key.toUpperCase()}=${value}`);

/** How each file is made. The name's ending is its kind. */
const MAKE = {
  'plain.wav': () => {},
  'info.wav': (name) => convert(name, ...META),
  'rf64.wav': (name) => convert(name, '-rf64', 'always', ...META),
  'float.wav': (name) => convert(name, '-c:a', 'pcm_f32le', ...META),
  'deep.wav': (name) => convert(name, '-c:a', 'pcm_s24le', '-ac', '6', ...META),
  // A pipe cannot be rewound: its sizes are never written.
  'streamed.wav': (name) => writeFileSync(path(name), run('ffmpeg', ['-i', path('plain.wav'), '-f', 'wav', '-'])),
  'cbr.mp3': (name) => lame(name, '-b', '128', '-t', '--noreplaygain'),
  'vbr.mp3': (name) => lame(name, '-V4', '-t', '--noreplaygain'),
  'xing.mp3': (name) => lame(name, '-V4'),
  'low.mp3': (name) => lame(name, '-b', '32', '-m', 'm', '--resample', '22.05'),
  'lowest.mp3': (name) => lame(name, '-b', '16', '-m', 'm', '--resample', '8', '-t'),
  'latin.mp3': (name) => lame(name, ...LAME, '--id3v2-only', '--id3v2-latin1', '--ti', path('cover.jpg')),
  'utf16.mp3': (name) => lame(name, ...LAME, '--id3v2-only', '--id3v2-utf16', '--ti', path('cover.png')),
  'old.mp3': (name) => lame(name, ...LAME, '--id3v1-only'),
  'four.mp3': (name) => run('ffmpeg', ['-i', path('plain.wav'), '-i', path('cover.jpg'), '-map', '0', '-map', '1', '-c:v', 'copy', '-c:a', 'libmp3lame',
    '-id3v2_version', '4', '-disposition:v', 'attached_pic', '-metadata:s:v', 'comment=Cover (front)', ...META,
    '-metadata', 'REPLAYGAIN_TRACK_GAIN=-7.25 dB', path(name)]),
  'late.m4a': (name) => convert(name, '-c:a', 'aac', ...META),
  'early.m4a': (name) => run('ffmpeg', ['-i', path('plain.wav'), '-i', path('cover.jpg'), '-map', '0', '-map', '1', '-c:v', 'copy', '-c:a', 'aac',
    '-disposition:v', 'attached_pic', '-movflags', '+faststart', ...META, path(name)]),
  'film.mp4': (name) => run('ffmpeg', ['-f', 'lavfi', '-i', 'testsrc=s=64x64:d=5', '-i', path('plain.wav'), '-c:a', 'aac', ...META, path(name)]),
  'pieces.mp4': (name) => convert(name, '-c:a', 'aac', '-movflags', '+frag_keyframe+empty_moov', '-frag_duration', '500000', ...META),
  'lossless.m4a': (name) => convert(name, '-c:a', 'alac', ...META),
  'flac.mp4': (name) => convert(name, '-c:a', 'flac', '-strict', '-2', ...META),
  'opus.mp4': (name) => convert(name, '-c:a', 'libopus', ...META),
  'tagged.flac': (name) => run('flac', ['--totally-silent', '-f', ...COMMENTS.flatMap((one) => ['-T', one]), '-T', 'REPLAYGAIN_TRACK_GAIN=-3.5 dB',
    '--picture', path('cover.jpg'), path('plain.wav'), '-o', path(name)]),
  'plain.flac': (name) => run('flac', ['--totally-silent', '-f', path('plain.wav'), '-o', path(name)]),
  'tagged.ogg': (name) => run('oggenc', ['-Q', '--serial', '11', ...COMMENTS.flatMap((one) => ['-c', one]), '-c', 'replaygain_track_gain=+1.5 dB', path('plain.wav'), '-o', path(name)]),
  'other.ogg': (name) => run('oggenc', ['-Q', '--serial', '22', '-c', 'TITLE=Another', path('plain.wav'), '-o', path(name)]),
  'film.ogg': (name) => run('ffmpeg', ['-f', 'lavfi', '-i', 'testsrc=s=64x64:d=5', '-i', path('plain.wav'), '-c:v', 'libtheora', '-c:a', 'libvorbis', ...META, path(name)]),
  'tagged.opus': (name) => run('opusenc', ['--quiet', ...COMMENTS.flatMap((one) => ['--comment', one]), '--comment', 'R128_TRACK_GAIN=-1280',
    '--picture', path('cover.jpg'), path('plain.wav'), path(name)]),
  // Comments of some 100 KB go over several pages; the title is the last.
  'long.opus': (name) => run('opusenc', ['--quiet', '--comment', `NOTE=${'long '.repeat(15_000)}`, ...COMMENTS.slice(1).flatMap((one) => ['--comment', one]),
    '--picture', path('cover.png'), '--comment', COMMENTS[0], path('plain.wav'), path(name)]),
  'cover.jpg': () => {},
  'cover.png': () => {},
};

/** Files that some browsers play and others do not: that they are known is no reason to take them. */
const ODD = {
  'adts.aac': (name) => convert(name, '-c:a', 'aac', '-f', 'adts'),
  'flac.oga': (name) => convert(name, '-c:a', 'flac', '-f', 'ogg', ...META),
  'opus.webm': (name) => convert(name, '-c:a', 'libopus', ...META),
  'mp3.wav': (name) => convert(name, '-c:a', 'libmp3lame'),
  'adpcm.wav': (name) => convert(name, '-c:a', 'adpcm_ima_wav'),
  'wide.wav': (name) => convert(name, '-c:a', 'pcm_f64le'),
  'apple.aiff': (name) => convert(name),
};

/** @type {Map<string, Uint8Array>} */
const made = new Map();

/** The names of the files that programs make. */
export const MADE = Object.keys(MAKE);

/**
 * The bytes of a file that programs make.
 *
 * @param {string} name one of `MADE`, or of those that some browsers play
 * @returns {Uint8Array}
 */
export function file(name) {
  if (!made.has(name)) {
    home();
    (MAKE[name] ?? ODD[name])(name);
    made.set(name, read(name));
  }
  return made.get(name).slice();
}

// -- By hand

/** Characters U+0000 to U+00FF as bytes. */
export const latin = (text) => Uint8Array.from(text, (one) => one.charCodeAt(0));
export const utf8 = (text) => new TextEncoder().encode(text);
/** Texts in Windows-1251. */
export const cyrillic = (text) => Uint8Array.from(text, (one) => {
  const code = one.codePointAt(0);
  return code < 128 ? code : code === 0x401 ? 0xa8 : code === 0x451 ? 0xb8 : code >= 0x410 && code <= 0x44f ? code - 0x350 : assert.fail(one);
});
export const big = (value, count) => Uint8Array.from({ length: count }, (_, i) => Math.floor(value / 256 ** (count - 1 - i)) % 256);
export const little = (value, count) => big(value, count).reverse();
export const synchsafe = (value) => Uint8Array.from([21, 14, 7, 0], (shift) => (value >>> shift) & 127);

/** A text in one of the encodings of ID3 (0 to 3), with the byte that says so. `mark` is for UTF-16. */
export function id3Text(encoding, text, mark = 'little') {
  if (encoding === 0) return joined(big(0, 1), latin(text));
  if (encoding === 3) return joined(big(3, 1), utf8(text));
  const isBig = encoding === 2 || mark === 'big';
  const units = Array.from({ length: text.length }, (_, i) => (isBig ? big : little)(text.charCodeAt(i), 2));
  const first = encoding === 2 || mark === 'none' ? [] : [isBig ? big(0xfeff, 2) : little(0xfeff, 2)];
  return joined(big(encoding, 1), ...first, ...units);
}

/** Puts a zero behind each 0xFF that unsynchronisation changes. */
export function unsynchronised(bytes) {
  return Uint8Array.from([...bytes].flatMap((one, i) => (one === 255 && (i + 1 === bytes.length || bytes[i + 1] >= 0xe0 || bytes[i + 1] === 0) ? [255, 0] : [one])));
}

/** A frame of ID3. `flags` is the second byte of its flags; `size` is written in place of the length of the body. */
export function frame(version, name, body, { flags = 0, size = body.length, plain = false } = {}) {
  if (version === 2) return joined(latin(name), big(size, 3), body);
  return joined(latin(name), version === 4 && !plain ? synchsafe(size) : big(size, 4), [0, flags], body);
}

/** An ID3v2 tag. `size` is written in place of the length. */
export function tag(version, frames, { flags = 0, extended = new Uint8Array(), padding = 16, size = null, all = false } = {}) {
  let body = joined(extended, ...frames, new Uint8Array(padding));
  if (all) body = unsynchronised(body);
  const head = (name) => joined(latin(name), [version, 0, flags | (all ? 0x80 : 0)], synchsafe(size ?? body.length));
  return joined(head('ID3'), body, flags & 0x10 ? head('3DI') : new Uint8Array());
}

/** A picture's frame of ID3. */
export function id3Picture(version, image, { type = 'image/jpeg', kind = 3, encoding = 0, description = '' } = {}) {
  const end = encoding === 1 || encoding === 2 ? [0, 0] : [0];
  const words = id3Text(encoding, description).subarray(1);
  return joined([encoding], version === 2 ? latin(type === 'image/png' ? 'PNG' : 'JPG') : latin(`${type}\0`), [kind], words, end, image);
}

/** A box of MP4. `wide` writes its size in 64 bits, `open` as 0: up to the end. */
export function box(name, parts, { wide = false, open = false } = {}) {
  const body = joined(...parts);
  if (wide) return joined(big(1, 4), latin(name), big(body.length + 16, 8), body);
  return joined(big(open ? 0 : body.length + 8, 4), latin(name), body);
}

/** A `data` box of the list of iTunes. */
export const data = (type, bytes) => box('data', [big(type, 4), big(0, 4), bytes]);

/** A `moov` with a track of sound, and items. */
export function moov(items, { ms = LENGTH, version = 0, handler = 'soun', quicktime = false, meta = true } = {}) {
  const times = version === 1
    ? joined([1, 0, 0, 0], new Uint8Array(16), big(1000, 4), big(ms, 8))
    : joined([0, 0, 0, 0], new Uint8Array(8), big(1000, 4), big(ms, 4));
  const kind = box('hdlr', [new Uint8Array(8), latin(handler), new Uint8Array(13)]);
  const list = box('meta', [quicktime ? new Uint8Array() : new Uint8Array(4), box('hdlr', [new Uint8Array(8), latin('mdir'), new Uint8Array(13)]), box('ilst', items)]);
  return box('moov', [
    box('mvhd', [times, new Uint8Array(80)]),
    box('trak', [box('mdia', [box('mdhd', [times, new Uint8Array(4)]), kind])]),
    ...(meta ? [box('udta', [list])] : []),
  ]);
}

/** A page of Ogg with whole packets, or with `open` one that goes on behind it. Its checksum is 0. */
export function page(serial, number, granule, packets, { flags = 0, open = false } = {}) {
  const laces = packets.flatMap((one, i) => {
    const full = Array(Math.floor(one.length / 255)).fill(255);
    return open && i === packets.length - 1 ? full : [...full, one.length % 255];
  });
  return joined(latin('OggS'), [0, flags], little(granule, 8), little(serial, 4), little(number, 4), new Uint8Array(4), [laces.length], laces, ...packets);
}

/** Vorbis comments, behind their magic. */
export function comments(magic, list) {
  const texts = list.map((one) => (typeof one === 'string' ? utf8(one) : one));
  return joined(latin(magic), little(4, 4), latin('test'), little(texts.length, 4), ...texts.flatMap((one) => [little(one.length, 4), one]), [1]);
}

/** A chunk of RIFF. */
export const chunk = (name, body, size = body.length) => joined(latin(name), little(size, 4), body, new Uint8Array(body.length & 1));

/** A WAV file with chunks in front of its samples (8 kHz, mono, 8 bits), and behind. */
export function wave(before, samples, after = [], riff = 'RIFF') {
  const format = chunk('fmt ', joined(little(1, 2), little(1, 2), little(8000, 4), little(8000, 4), little(1, 2), little(8, 2)));
  const body = joined(latin('WAVE'), ...before, format, chunk('data', samples), ...after);
  return joined(latin(riff), little(body.length, 4), body);
}

/**
 * Fails for tags that no page may get, of a file of `size` bytes.
 *
 * @param {any} tags
 * @param {number} size
 */
export function checkTags(tags, size) {
  const told = JSON.stringify(tags, (key, value) => (value instanceof Uint8Array ? value.length : value));
  for (const text of [tags.title, tags.artist ?? '-', tags.album ?? '-']) {
    assert.ok(text.trim() === text && text !== '', told);
    assert.doesNotMatch(text, /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u, told);
    assert.ok([...text].length <= 300, told);
  }
  assert.ok([null, 'mp3', 'aac', 'mp4', 'webm', 'flac', 'oggflac', 'vorbis', 'opus', 'wav'].includes(tags.format), told);
  const { durationMs = 1, gainDb = 0, picture } = tags;
  assert.ok(Number.isInteger(durationMs) && durationMs >= 1 && durationMs <= 604_800_000, told);
  assert.ok(Number.isFinite(gainDb) && Math.abs(gainDb) < 100, told);
  if (!picture) return;
  assert.match(picture.type, /^image\/(jpeg|png|gif|webp)$/);
  const length = picture.bytes?.length ?? picture.length;
  assert.ok(length > 0 && length <= 8 << 20, told);
  if (!picture.bytes) assert.ok(Number.isInteger(picture.offset) && picture.offset >= 0 && picture.offset + length <= size, told);
}

/** Files with tags that no program writes, for changes at random. */
export function odd() {
  const mp3 = file('cbr.mp3'), jpeg = file('cover.jpg'), image = id3Picture(4, jpeg);
  return [
    { name: 'unsynchronised', bytes: joined(tag(3, [frame(3, 'APIC', id3Picture(3, jpeg)), frame(3, 'TIT2', id3Text(1, SONG.title))], { all: true }), mp3) },
    { name: 'frames of 2.4', bytes: joined(tag(4, [frame(4, 'APIC', joined(synchsafe(image.length), unsynchronised(image)), { flags: 3 }), frame(4, 'TXXX', id3Text(3, 'replaygain_track_gain\0-1 dB')), frame(4, 'TLEN', id3Text(0, '1000'))]), mp3), headers: 400 },
    { name: 'frames of 2.2', bytes: joined(tag(2, [frame(2, 'TT2', id3Text(1, SONG.title)), frame(2, 'PIC', id3Picture(2, jpeg, { encoding: 1, description: 'x' })), frame(2, 'TP1', id3Text(0, 'A'))]), mp3), headers: 300 },
    { name: 'list of iTunes', bytes: joined(box('ftyp', [latin('M4A ')]), moov([box('\xa9nam', [data(1, utf8('x'))]), box('covr', [data(13, jpeg)])], { version: 1 })), headers: 600 },
    { name: 'chunks of WAV', bytes: wave([chunk('LIST', joined(latin('INFO'), chunk('INAM', latin('x\0'))))], new Uint8Array(999), [chunk('id3 ', tag(3, [frame(3, 'TIT2', id3Text(1, SONG.title))]))], 'RF64'), headers: 1200 },
    { name: 'pages of Ogg', bytes: joined(page(7, 0, 0, [joined(latin('OpusHead'), [1, 2], little(312, 2), little(48_000, 4), [0, 0, 0])], { flags: 2 }),
      page(7, 1, 0, [comments('OpusTags', ['TITLE=x', 'R128_TRACK_GAIN=1', `METADATA_BLOCK_PICTURE=${'AAAA'.repeat(99)}`])]), page(7, 2, 96_000, [new Uint8Array(600)], { flags: 4 })) },
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [into, ...names] = process.argv.slice(2);
  for (const name of names) writeFileSync(join(into, name), file(name));
}
