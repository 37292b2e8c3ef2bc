// Files of music for tests, made by ffmpeg, lame, flac, oggenc and opusenc, and what is to be found in them.
//   node Tests/Web/tones.mjs FOLDER NAME…   makes some of them, and writes FOLDER/NAME.json: waveform, lufs, seconds
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The folder of this process, deleted at its end. */
let folder = null;

function home() {
  if (folder === null) {
    folder = mkdtempSync(join(tmpdir(), 'backline-tones-'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  }
  return folder;
}

/**
 * Runs a program that makes sound.
 *
 * @param {string} program
 * @param {string[]} options
 * @param {string | Buffer} [input]
 * @returns {Buffer} what it wrote
 */
export function run(program, options, input) {
  return execFileSync(program, options, { input, maxBuffer: 1 << 30, stdio: ['pipe', 'pipe', 'ignore'], timeout: 60_000 });
}

const ffmpeg = (...options) => run('ffmpeg', ['-nostdin', '-v', 'error', '-y', '-bitexact', ...options]);

/** A mix whose level changes all the time: notes, a beat, and noise of a seed; left and right differ. */
const MUSIC = (seconds, rate = 44_100, channels = 2, level = 1) => {
  const voice = (hz, pan) => `${level}*(0.35*sin(2*PI*${hz}*t)*(0.55+0.45*sin(2*PI*0.37*t+${pan}))+0.3*sin(2*PI*55*t)*exp(-6*mod(t\\,0.5))+0.05*(random(${pan})*2-1)*(0.5+0.5*sin(2*PI*0.11*t)))`;
  const voices = Array.from({ length: channels }, (_, c) => voice([220, 331, 147, 50, 440, 523][c], c)).join('|');
  return ['-f', 'lavfi', '-i', `aevalsrc=${voices}:s=${rate}:d=${seconds}${channels === 6 ? ':c=5.1' : ''}`];
};

/** How each file is made. `from` is another one. */
const RECIPES = {
  'music.wav': (to) => ffmpeg(...MUSIC(6.17), '-c:a', 'pcm_s16le', to),
  'surround.wav': (to) => ffmpeg(...MUSIC(2, 48_000, 6), '-c:a', 'pcm_s16le', to),
  'silence.wav': (to) => ffmpeg('-f', 'lavfi', '-i', 'anullsrc=r=44100:cl=stereo', '-t', '3', to),
  'mono.wav': (to) => ffmpeg('-i', tone('music.wav'), '-ac', '1', to),
  'u8.wav': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'pcm_u8', to),
  's24.wav': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'pcm_s24le', to),
  's32.wav': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'pcm_s32le', to),
  'f32.wav': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'pcm_f32le', to),
  'f64.wav': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'pcm_f64le', to),
  'rf64.wav': (to) => ffmpeg('-i', tone('music.wav'), '-rf64', 'always', to),
  'tiny.wav': (to) => ffmpeg('-i', tone('music.wav'), '-af', 'atrim=end_sample=700', to),
  'tiny.mp3': (to) => run('lame', ['--quiet', '-b', '128', tone('tiny.wav'), to]),
  'tiny.opus': (to) => run('opusenc', ['--quiet', tone('tiny.wav'), to]),
  'mulaw.wav': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'pcm_mulaw', to),
  'adpcm.wav': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'adpcm_ima_wav', to),
  'vbr.mp3': (to) => run('lame', ['--quiet', '-V2', tone('music.wav'), to]),
  'cbr.mp3': (to) => run('lame', ['--quiet', '-b', '128', '--tt', 'A title', '--ta', 'An artist', '--add-id3v2', tone('music.wav'), to]),
  'plain.mp3': (to) => ffmpeg('-i', tone('music.wav'), '-b:a', '160k', '-write_xing', '0', '-id3v2_version', '0', to),
  'mono.mp3': (to) => run('lame', ['--quiet', '-b', '64', '-m', 'm', tone('music.wav'), to]),
  'mpeg2.mp3': (to) => run('lame', ['--quiet', '--resample', '22.05', '-b', '64', tone('music.wav'), to]),
  'mpeg25.mp3': (to) => run('lame', ['--quiet', '--resample', '8', '-m', 'm', '-b', '24', tone('music.wav'), to]),
  'layer2.mp3': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'mp2', '-f', 'mp2', to),
  'music.m4a': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'aac', '-b:a', '160k', to),
  'front.m4a': (to) => ffmpeg('-i', tone('music.m4a'), '-c', 'copy', '-movflags', 'faststart', to),
  'pieces.mp4': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'aac', '-b:a', '160k', '-movflags', 'frag_keyframe+empty_moov+default_base_moof', '-frag_duration', '1000000', to),
  'old.mov': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'aac', '-b:a', '96k', to),
  'mp3.mp4': (to) => ffmpeg('-i', tone('plain.mp3'), '-c', 'copy', to),
  'alac.m4a': (to) => ffmpeg('-i', tone('music.wav'), '-c:a', 'alac', to),
  'music.flac': (to) => run('flac', ['--silent', '-5', '-o', to, tone('music.wav')]),
  'fine.flac': (to) => ffmpeg(...MUSIC(2, 96_000), '-c:a', 'flac', '-sample_fmt', 's32', '-bits_per_raw_sample', '24', to),
  'surround.flac': (to) => run('flac', ['--silent', '-5', '-o', to, tone('surround.wav')]),
  'surround.m4a': (to) => ffmpeg('-i', tone('surround.wav'), '-c:a', 'aac', '-b:a', '256k', to),
  'surround.opus': (to) => run('opusenc', ['--quiet', '--bitrate', '256', tone('surround.wav'), to]),
  'music.ogg': (to) => run('oggenc', ['--quiet', '-q', '5', '-o', to, tone('music.wav')]),
  'music.opus': (to) => run('opusenc', ['--quiet', '--bitrate', '128', tone('music.wav'), to]),
  'mono.opus': (to) => run('opusenc', ['--quiet', '--bitrate', '32', '--framesize', '60', tone('mono.wav'), to]),
};

/** The files that decoders of browsers take. */
export const NAMES = Object.keys(RECIPES);

/**
 * A file of music, made once in this process.
 *
 * @param {string} name  of `NAMES`
 * @returns {string} its path
 */
export function tone(name) {
  const path = join(home(), name);
  if (!existsSync(path)) RECIPES[name](path);
  return path;
}

/**
 * A file of this process's folder that a test makes by itself with ffmpeg.
 *
 * @param {string} name
 * @param {string[]} options  before the path
 */
export function made(name, ...options) {
  const path = join(home(), name);
  if (!existsSync(path)) ffmpeg(...options, path);
  return path;
}

/**
 * What ffmpeg decodes and measures of a file, without what an MP4's edit list cuts off at its end, which ffmpeg leaves there.
 *
 * @param {string} path
 * @returns {{ rate: number, channels: Float32Array[], lufs: number }} -70 LUFS and below is silence
 */
export function decoded(path) {
  const { stdout, stderr } = spawnSync('ffmpeg', ['-nostdin', '-nostats', '-i', path, '-map', 'a:0', '-af', 'ebur128', '-f', 'f32le', '-'], { maxBuffer: 1 << 30, timeout: 60_000 });
  const said = String(stderr), all = new Float32Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + stdout.length));
  const [, hours, minutes, seconds] = /Duration: (\d+):(\d+):([\d.]+)/.exec(said), [, rate, layout] = /Audio: pcm_f32le.*?, (\d+) Hz, ([\w.]+)/.exec(said);
  const count = { mono: 1, stereo: 2, '5.1': 6 }[layout], length = all.length / count;
  const most = /\.(m4a|mov)$/.test(path) ? Math.round((3600 * hours + 60 * minutes + Number(seconds)) * rate) : length;
  const channels = Array.from({ length: count }, (_, c) => new Float32Array(Math.min(length, most)).map((_, i) => all[i * count + c]));
  return { rate: Number(rate), channels, lufs: Number(/Integrated loudness:\s+I:\s+(-?[\d.]+) LUFS/.exec(said.split('Summary:').pop())[1]) };
}

/**
 * The waveform of samples, as the protocol says, and nothing else.
 *
 * @param {Float32Array[]} channels
 * @returns {Uint8Array} 2,048 bytes
 */
export function columns(channels) {
  const n = channels[0].length, result = new Uint8Array(2048);
  for (let i = 0; i < 1024; i += 1) {
    const from = Math.floor((i * n) / 1024), to = Math.max(from + 1, Math.floor(((i + 1) * n) / 1024));
    let peak = 0, sum = 0;
    for (const one of channels) {
      for (const x of one.subarray(from, to)) [peak, sum] = [Math.max(peak, Math.abs(x)), sum + x * x];
    }
    const rms = Math.sqrt(sum / (to - from) / channels.length);
    result[i] = Math.min(255, Math.round(255 * peak));
    result[1024 + i] = Math.min(255, Math.round(255 * rms));
  }
  return result;
}

/** How much two waveforms differ at most. */
export const difference = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , into, ...names] = process.argv;
  mkdirSync(into, { recursive: true });
  for (const name of names) {
    const path = tone(name), { rate, channels, lufs } = decoded(path);
    writeFileSync(join(into, name), readFileSync(path));
    writeFileSync(join(into, `${name}.json`), JSON.stringify({ waveform: [...columns(channels)], lufs, seconds: channels[0].length / rate }));
  }
}
