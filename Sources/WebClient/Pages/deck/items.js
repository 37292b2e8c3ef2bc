// Files as people give them: picked, dropped, or in folders.

/** How deep folders are walked. */
const DEEPEST = 16;
/** Files and folders of one addition that are looked at. */
const MOST_ENTRIES = 50_000;

/** Endings of what lies beside music and is left out of folders without a word. */
const BESIDE = /\.(?:jpe?g|png|gif|webp|bmp|tiff?|txt|nfo|log|cue|m3u8?|pls|pdf|ini|db|html?|xml|json|url|lnk|sfv|md5|docx?|rtf|zip|rar|7z)$/i;

/** Endings that a dialog for files offers. */
const ENDINGS = ['.mp3', '.m4a', '.mp4', '.flac', '.ogg', '.oga', '.opus', '.wav'];

const BY_NAME = new Intl.Collator(undefined, { numeric: true });

/** @typedef {File | FileSystemFileHandle | FileSystemDirectoryHandle | FileSystemEntry} Item */

/**
 * A file that was found. `root` is the handle that was given, where the browser has handles: of the file, or of the folder
 * in which it lies at `path` (names, the file's last); its permission holds for all in it. `folder`: what lies in one has
 * the same; so have files that were given by themselves, which people pick in one folder.
 *
 * @typedef {{ name: string, open(): Promise<File>, root?: FileSystemFileHandle | FileSystemDirectoryHandle, path: string[], folder: unknown }} Entry
 */

/**
 * Walks items in order. Hidden files are left out, and what lies too deep.
 *
 * @param {Item[]} items
 * @param {{ waiting: number }} count how many are waiting, kept up to date
 * @returns {AsyncGenerator<Entry>}
 */
export async function* walk(items, count) {
  /** @typedef {{ item: Item, depth: number, root?: FileSystemDirectoryHandle, path: string[], folder?: unknown }} Waiting */
  /** @type {Waiting[]} the next one last */
  const waiting = [];
  let left = MOST_ENTRIES;
  /** @param {Waiting[]} some */
  const take = (some) => {
    const taken = some.slice(0, left);
    left -= taken.length;
    waiting.push(...taken.reverse());
  };
  take(items.filter((item) => !(item instanceof File) || isShown(item.webkitRelativePath)).map((item) => ({ item, depth: 0, path: [] })));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { item, depth, root, path, folder } = next;
    count.waiting = waiting.length;
    if (item instanceof File) {
      yield { name: item.name, open: async () => item, path, folder: item.webkitRelativePath.replace(/[^/]*$/, '') };
    } else if ('kind' in item && item.kind === 'file') {
      const handle = /** @type {FileSystemFileHandle} */ (item);
      yield { name: handle.name, open: () => handle.getFile(), root: root ?? handle, path, folder };
    } else if ('isFile' in item && item.isFile) {
      yield { name: item.name, open: () => new Promise((resolve, reject) => /** @type {FileSystemFileEntry} */ (item).file(resolve, reject)), path, folder };
    } else if (depth < DEEPEST) {
      const inner = (await contents(/** @type {any} */ (item), left)).filter((one) => isShown(one.name));
      inner.sort((a, b) => BY_NAME.compare(a.name, b.name));
      const top = root ?? ('kind' in item ? /** @type {FileSystemDirectoryHandle} */ (item) : undefined);
      take(inner.map((one) => ({ item: one, depth: depth + 1, root: top, path: [...path, one.name], folder: item })));
    }
  }
}

/**
 * Whether what lies in a folder is looked at: no part of its path is hidden, and it is none of the things beside music.
 *
 * @param {string} path empty for a file that lies in no folder
 */
function isShown(path) {
  return path === '' || (!/(^|[/\\])\./.test(path) && !BESIDE.test(path) && path.split('/').length <= DEEPEST + 1);
}

/**
 * What lies in a folder; nothing where it cannot be read.
 *
 * @param {FileSystemDirectoryHandle | FileSystemDirectoryEntry} folder
 * @param {number} most
 * @returns {Promise<(FileSystemFileHandle | FileSystemDirectoryHandle | FileSystemEntry)[]>}
 */
async function contents(folder, most) {
  const found = [];
  try {
    if ('values' in folder) {
      for await (const one of folder.values()) {
        if (found.push(one) >= most) break;
      }
    } else {
      const reader = folder.createReader();
      for (let some = [null]; some.length && found.length < most;) {
        some = await new Promise((resolve, reject) => reader.readEntries(/** @type {any} */ (resolve), reject));
        found.push(...some);
      }
    }
  } catch {
    // What was found before is taken.
  }
  return /** @type {any[]} */ (found);
}

/**
 * What was dropped. To be called inside the event; handles where the browser has them, else entries, else files.
 *
 * @param {DataTransfer} dataTransfer
 * @returns {Promise<Item[]>}
 */
export async function dropped(dataTransfer) {
  const items = [...dataTransfer.items].filter((item) => item.kind === 'file').map((item) => {
    const other = item.webkitGetAsEntry?.() ?? item.getAsFile();
    return item.getAsFileSystemHandle?.().then((handle) => handle ?? other, () => other) ?? other;
  });
  return /** @type {Item[]} */ ((await Promise.all(items)).filter((item) => item));
}

/** A picker is open. It tells its end, and a browser opens no other one meanwhile. */
let isPicking = false;
/** Ends the wait for the newest chooser of an element. */
let endChooser = () => {};

/**
 * Asks for files or a folder. To be called inside a gesture. Not every browser tells that an element's chooser was closed:
 * the next one ends the wait for it.
 *
 * @param {'files' | 'folder'} kind
 * @returns {Promise<Item[]>} none where nothing was picked
 */
export async function picked(kind) {
  if (isPicking) return [];
  endChooser();
  try {
    isPicking = true;
    if (kind === 'folder' && window.showDirectoryPicker) return [await window.showDirectoryPicker({ id: 'backline', mode: 'read' })];
    if (kind === 'files' && window.showOpenFilePicker) {
      return await window.showOpenFilePicker({ id: 'backline', multiple: true, types: [{ accept: { 'audio/*': ENDINGS } }] });
    }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') return [];
    // Where a browser has pickers and refuses them, it still has the element.
  } finally {
    isPicking = false;
  }
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = input.hidden = true;
  if (kind === 'folder') input.webkitdirectory = true;
  else input.accept = `audio/*,${ENDINGS.join()}`;
  return new Promise((resolve) => {
    endChooser = () => {
      input.remove();
      resolve([...input.files ?? []]);
    };
    input.onchange = input.oncancel = endChooser;
    // What only its own handlers hold is garbage to WebKit, also while its chooser is open: it stands in the page until then.
    document.body.append(input);
    input.click();
  });
}
