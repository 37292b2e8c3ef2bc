"""The DJ's own files: added, found again after a reload, opened, and never sent."""

import base64
import hashlib
import json
import pathlib
import struct
import subprocess

import pytest

import backline
import browsers

HERE = pathlib.Path(__file__).parent

FILES = {"tagged.flac": "flac", "tagged.ogg": "vorbis", "tagged.opus": "opus", "latin.mp3": "mp3", "early.m4a": "mp4",
         "info.wav": "wav"}
"""One of each format, with its name in the library."""

OPEN = """async () => {
    const script = document.querySelector('script[type=module]').src;
    const module = await import(new URL('deck/library.js', script));
    window.library = await module.Library.open();
    window.forgetLibrary = (await import(new URL("deck/kept.js", script))).forgetLibrary;
    window.seen = songs => songs.map(({title, artist = null, format, kept, name}) => ({title, artist, format, kept, name}));
    window.why = promise => promise.then(file => `${file.name} ${file.size} ${file.type}`, problem => problem.why ?? String(problem));
}"""
"""Opens the library in a page, as `library`."""

ROOT = """async files => {
    // Handles of the browser's private files: as real as those of a picker, which no test can answer.
    const root = await (await navigator.storage.getDirectory()).getDirectoryHandle('music', {create: true});
    for (const [path, base64] of Object.entries(files)) {
        const names = path.split('/');
        let folder = root;
        for (const name of names.slice(0, -1)) folder = await folder.getDirectoryHandle(name, {create: true});
        const writing = await (await folder.getFileHandle(names.at(-1), {create: true})).createWritable();
        await writing.write(Uint8Array.from(atob(base64), one => one.charCodeAt(0)));
        await writing.close();
    }
    window.root = root;
}"""


@pytest.fixture(scope="module")
def music(tmp_path_factory):
    """A folder with files of all formats."""
    folder = tmp_path_factory.mktemp("music")
    names = [*FILES, "cbr.mp3", "other.ogg", "pieces.mp4", "lossless.m4a", "flac.mp4", "opus.mp4"]
    subprocess.run(["node", HERE / "tagged-files.mjs", folder, *names], check=True, timeout=120)
    return folder


def numbered(music, number):
    """The bytes of a small MP3 whose title is a number."""
    text = f"\3Song {number:04}".encode()
    frames = b"TIT2" + struct.pack(">IH", len(text), 0) + text
    head = b"ID3\3\0\0" + bytes((len(frames) >> shift) & 127 for shift in (21, 14, 7, 0))
    return head + frames + (music / "cbr.mp3").read_bytes()


def encoded(data):
    return base64.b64encode(data).decode()


def source_id(data):
    """A file's name among tracks: of its size, its ends, and eight places between them where these are not all of it."""
    step = (len(data) - 2 * 65536) / 8
    places = [data[int(65536 + step * place):][:8192] for place in range(8)] if step > 0 else []
    digest = hashlib.sha256(struct.pack(">Q", len(data)) + data[:65536] + data[-65536:] + b"".join(places)).digest()
    return base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")


def give(page, paths):
    """Puts files into an element for files, which is returned."""
    page.evaluate("""() => {
        document.querySelector('#given')?.remove();
        document.body.append(Object.assign(document.createElement('input'), {type: 'file', multiple: true, id: 'given', hidden: true}));
    }""")
    element = page.locator("#given")
    element.set_input_files([str(path) for path in paths])
    return element


def add(page, paths):
    return give(page, paths).evaluate("""async input => {
        const {songs, skipped, cancelled} = await library.add([...input.files]);
        return {songs: seen(songs), ids: songs.map(song => song.sourceId), skipped, cancelled};
    }""")


COPIES = pytest.mark.parametrize("place, browser", [
    ("opfs", ""),
    # Safari before 26, and before 17: a page cannot write to the file system, and is not told what there is room for.
    ("database", "delete FileSystemFileHandle.prototype.createWritable;"),
    ("database", "delete FileSystemFileHandle.prototype.createWritable; delete StorageManager.prototype.estimate;"),
], ids=["folder", "database", "untold"])
"""Browsers whose copies of files lie at these places."""


def home(visit, house, browser=""):
    page = visit(house, "/")
    # The page's own session is made, and its requests are over.
    page.wait_for_function("() => localStorage.getItem('backline.session')")
    page.wait_for_load_state("networkidle")
    page.add_init_script(browser)
    page.evaluate(browser)
    page.evaluate(OPEN)
    return page


def again(page):
    page.reload()
    page.evaluate(OPEN)


@COPIES
def test_files_are_added_kept_and_found_after_a_reload(visit, house, music, place, browser):
    page = home(visit, house, browser)
    before = len(page.watch.requests)
    answer = add(page, [music / name for name in FILES])
    assert answer["skipped"] == [] and answer["cancelled"] is False
    assert {song["name"]: song["format"] for song in answer["songs"]} == FILES
    assert all(song["kept"] == "memory" and song["artist"] == "Ínês & Co" for song in answer["songs"])
    assert answer["ids"] == [source_id((music / name).read_bytes()) for name in FILES]
    # One is copied, as when it is queued; of another one the analysis is known.
    flac, ogg = answer["ids"][:2]
    assert page.evaluate("async id => [await library.keep(id), library.state.bytes, library.songs.get(id).kept]", flac) == [
        True, (music / "tagged.flac").stat().st_size, place]
    page.evaluate("""async ids => {
        for (const [i, id] of ids.entries()) await library.remember(id, {lufs: -9.5 - i, waveform: new Uint8Array(2048).fill(7), durationMs: 3003});
    }""", [flac, ogg])
    again(page)
    assert page.evaluate("() => seen([...library.songs.values()])") == [dict(answer["songs"][0], kept=place)]
    found = page.evaluate("""async id => {
        const song = library.songs.get(id), file = await library.file(song);
        const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()));
        return [file.name, file.type, [...bytes].map(one => one.toString(16).padStart(2, '0')).join(''), song.lufs,
            song.waveform.length, song.durationMs, song.addedAt > Date.now() - 60000];
    }""", flac)
    digest = hashlib.sha256((music / "tagged.flac").read_bytes()).hexdigest()
    assert found == ["tagged.flac", "audio/flac", digest, -9.5, 2048, 3003, True]
    # What was found out of a file is known when it comes again, under another name.
    assert add(page, [music / "tagged.ogg"])["ids"] == [ogg]
    assert page.evaluate("id => { const {lufs, durationMs, waveform} = library.songs.get(id); return [lufs, durationMs, waveform[9]]; }",
                         ogg) == [-10.5, 3003, 7]
    page.evaluate("() => library.clear()")
    assert page.evaluate("() => library.songs.size") == 0
    assert page.evaluate("() => indexedDB.databases().then(all => all.filter(({name}) => name.startsWith('backline-library')))") == []
    again(page)
    assert page.evaluate("() => [library.songs.size, library.state.bytes]") == [0, 0]
    assert page.evaluate("async () => { for await (const one of (await navigator.storage.getDirectory()).keys()) return one; }") is None
    # Nothing of it has left the browser: the page has asked for its own modules only.
    asked = page.watch.requests[before:]
    assert {request.method for request in asked} == {"GET"} and not any(request.post_data for request in asked)
    assert not [one.url for one in asked if any(name.split(".")[0] in one.url for name in FILES)]


def test_folders_are_walked_and_found_by_their_handles(visit, house, music):
    page = home(visit, house)
    mp3 = encoded((music / "latin.mp3").read_bytes())
    flac = encoded((music / "tagged.flac").read_bytes())
    files = {f"2/{'deep/' * 3}b.flac": flac, "10.mp3": encoded(numbered(music, 10)), "1.mp3": mp3, ".hidden.mp3": mp3, ".git/x.mp3": mp3,
             "cover.jpg": mp3, "notes.txt": mp3, "broken.mp3": encoded(b"no music"), "empty.flac": "",
             "/".join(["d"] * 17) + "/too-deep.mp3": encoded(numbered(music, 17))}
    page.evaluate(ROOT, files)
    answer = page.evaluate("""async () => {
        const told = [], {songs, skipped} = await library.add([root], {progress: now => told.push({...now})});
        return {names: songs.map(song => [song.name, song.kept]), skipped, told, ids: songs.map(song => song.sourceId)};
    }""")
    assert answer["names"] == [["1.mp3", "handle"], ["b.flac", "handle"], ["10.mp3", "handle"]]
    assert answer["skipped"] == [{"name": "broken.mp3", "why": "format"}, {"name": "empty.flac", "why": "empty"}]
    assert answer["told"][-1] == {"done": 5, "total": 5, "name": ""}
    assert all(one["done"] <= one["total"] for one in answer["told"])
    again(page)
    assert page.evaluate("() => [...library.songs.values()].map(song => song.name).sort()") == ["1.mp3", "10.mp3", "b.flac"]
    first, flac_id, tenth = answer["ids"]
    size = (music / "tagged.flac").stat().st_size
    assert page.evaluate("id => why(library.file(library.songs.get(id)))", flac_id) == f"b.flac {size} audio/flac"
    assert page.evaluate("id => library.keep(id)", flac_id) is True
    assert page.evaluate("() => library.state") == {
        "count": 3, "permission": "granted", "keeps": True, "persisted": page.evaluate("navigator.storage.persisted()"), "bytes": 0}
    # One is another file now, one is gone.
    page.evaluate(ROOT, {"1.mp3": encoded(numbered(music, 1))})
    page.evaluate("() => root.removeEntry('10.mp3')")
    assert page.evaluate("ids => Promise.all(ids.map(id => why(library.file(library.songs.get(id)))))", [first, tenth]) == ["changed", "gone"]
    assert page.evaluate("id => library.picture(library.songs.get(id))", tenth) is None
    # A file by itself, removed and added again.
    page.evaluate("""async id => {
        await library.remove(id);
        await library.add([await root.getFileHandle('1.mp3')]);
    }""", first)
    again(page)
    assert page.evaluate("() => why(library.file([...library.songs.values()].find(song => song.title === 'Song 0001')))") == (
        f"1.mp3 {len(numbered(music, 1))} audio/mpeg")


def test_permission_is_asked_again_by_one_button(visit, house, music):
    page = home(visit, house)
    page.evaluate(ROOT, {"a/1.mp3": encoded(numbered(music, 1)), "a/2.mp3": encoded(numbered(music, 2)), "3.mp3": encoded(numbered(music, 3))})
    page.evaluate("async () => library.add([await root.getDirectoryHandle('a'), await root.getFileHandle('3.mp3')])")
    page.reload()
    page.evaluate("""() => {
        // As Chromium does after a restart.
        window.asked = [], window.answers = {};
        FileSystemHandle.prototype.queryPermission = async function () { return answers[this.name] === 'granted' ? 'granted' : 'prompt'; };
        FileSystemHandle.prototype.requestPermission = async function () { asked.push(this.name); return answers[this.name] ??= 'granted'; };
    }""")
    page.evaluate(OPEN)
    assert page.evaluate("() => [library.state.permission, library.state.count]") == ["prompt", 3]
    assert page.evaluate("() => why(library.file([...library.songs.values()][0]))") == "permission"
    page.evaluate("() => { answers.a = answers['3.mp3'] = 'denied'; }")
    assert page.evaluate("async () => [await library.renew(), library.state.permission, asked.length]") == [False, "denied", 1]
    page.evaluate("() => { answers = {}; asked = []; }")
    assert page.evaluate("async () => [await library.renew(), library.state.permission, asked.sort()]") == [True, "granted", ["3.mp3", "a"]]
    assert page.evaluate("() => why(library.file([...library.songs.values()][0]))").endswith("audio/mpeg")


@pytest.mark.soak("times are measured")
def test_five_hundred_files_are_added_without_a_long_task(visit, house, music, tmp_path):
    page = home(visit, house)
    for number in range(500):
        (tmp_path / f"{number:03}.mp3").write_bytes(numbered(music, number))
    (tmp_path / "other.mp3").write_text("no music")
    files = give(page, sorted(tmp_path.glob("*.mp3")))
    with browsers.longest_task(page) as longest:
        answer = files.evaluate("""async input => {
            let changes = 0, told = 0;
            library.onChange = () => { changes += 1; };
            const started = performance.now();
            const {songs, skipped} = await library.add([...input.files], {progress: () => { told += 1; }});
            return {count: songs.length, skipped, changes, told, ms: performance.now() - started, size: library.songs.size};
        }""")
    print(f"500 files: {answer['ms']:.0f} ms, longest task {longest['ms']:.0f} ms, {answer['changes']} changes told")
    assert answer["count"] == answer["size"] == 500 and answer["skipped"] == [{"name": "other.mp3", "why": "format"}]
    assert answer["told"] == 502 and answer["changes"] <= 3 + answer["ms"] / 200
    assert longest["ms"] <= 250
    page.evaluate("() => library.clear()")
    page.evaluate(OPEN)
    cancelled = page.locator("#given").evaluate("""async input => {
        const controller = new AbortController();
        const {songs, cancelled} = await library.add([...input.files], {signal: controller.signal,
            progress: ({done}) => { if (done === 100) controller.abort(); }});
        return [songs.length, cancelled, library.songs.size];
    }""")
    assert cancelled[0] == cancelled[2] and 100 <= cancelled[0] <= 101 and cancelled[1] is True


@COPIES
def test_copies_stay_within_the_budget(visit, house, music, tmp_path, place, browser):
    page = home(visit, house, browser)
    paths = [tmp_path / f"{number}.mp3" for number in range(5)]
    for number, path in enumerate(paths):
        path.write_bytes(numbered(music, number))
    size = paths[0].stat().st_size
    # Half of what the browser gives is enough for three.
    page.evaluate("quota => { navigator.storage.estimate = async () => ({quota, usage: 0}); }", 2 * 3 * size + 100)
    ids = add(page, paths)["ids"]
    assert page.evaluate("async ids => { for (const id of ids) await library.keep(id); return library.state.bytes; }", ids[:3]) == 3 * size
    # The oldest gives way, unless it is queued; one that is kept again is young.
    assert page.evaluate("ids => library.keep(ids[0])", ids) is True
    assert page.evaluate("ids => library.keep(ids[3], [ids[1]])", ids) is True
    kept = "ids => ids.map(id => library.songs.get(id).kept !== 'memory')"
    assert page.evaluate(kept, ids) == [True, True, False, True, False]
    assert page.evaluate("ids => library.keep(ids[4], ids)", ids) is False
    assert page.evaluate("async ids => (await Promise.all([library.keep(ids[4]), library.keep(ids[2])])).join()", ids) == "true,true"
    assert page.evaluate("() => library.state.bytes") == 3 * size
    again(page)
    assert page.evaluate("() => [...library.songs.values()].map(song => song.name).sort()") == ["2.mp3", "3.mp3", "4.mp3"]
    assert page.evaluate("async () => Promise.all([...library.songs.values()].map(async song => (await library.file(song)).size))") == [size] * 3


def test_a_folder_that_is_added_again_has_its_new_files(visit, house, music):
    page = home(visit, house)
    page.evaluate(ROOT, {f"{number}.mp3": encoded(numbered(music, number)) for number in range(3)})
    (copied,) = add(page, [music / "cbr.mp3"])["ids"]
    assert page.evaluate("id => library.keep(id)", copied) is True
    page.evaluate("async () => library.add([root])")
    # One has other tags now, and is as long as before; one has a new name; one that was copied is there as well.
    page.evaluate(ROOT, {"1.mp3": encoded(numbered(music, 7)), "new.mp3": encoded(numbered(music, 2)),
                         "copied.mp3": encoded((music / "cbr.mp3").read_bytes())})
    page.evaluate("() => root.removeEntry('2.mp3')")
    for _ in range(2):
        again(page)
        page.evaluate("async () => library.add([await (await navigator.storage.getDirectory()).getDirectoryHandle('music')])")
        assert page.evaluate("() => [...library.songs.values()].map(song => `${song.title} ${song.name} ${song.kept}`).sort()") == [
            "Song 0000 0.mp3 handle", "Song 0002 new.mp3 handle", "Song 0007 1.mp3 handle", "copied copied.mp3 handle"]
        assert page.evaluate("() => Promise.all([...library.songs.values()].map(song => why(library.file(song))))") == [
            page.evaluate("song => `${song.name} ${song.size} audio/mpeg`", song) for song in page.evaluate("() => [...library.songs.values()]")]
    assert page.evaluate("() => library.state.bytes") == 0
    # One handle for one folder, and no copy of what has a handle.
    assert page.evaluate("""() => new Promise(resolve => {
        indexedDB.open('backline-library').onsuccess = event => {
            const database = event.target.result, asked = database.transaction('roots').objectStore('roots').count();
            asked.onsuccess = () => { database.close(); resolve(asked.result); };
        };
    })""") == 1
    assert page.evaluate("""async () => {
        const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('backline-library');
        for await (const name of folder.keys()) return name;
    }""") is None


def test_a_copy_that_is_gone_is_made_again(visit, house, music):
    page = home(visit, house)
    (id,) = add(page, [music / "tagged.flac"])["ids"]
    assert page.evaluate("id => library.keep(id)", id) is True
    page.evaluate("id => library.remember(id, {lufs: -9})", id)
    again(page)
    page.evaluate("async id => (await (await navigator.storage.getDirectory()).getDirectoryHandle('backline-library')).removeEntry(id)", id)
    assert page.evaluate("id => why(library.file(library.songs.get(id)))", id) == "gone"
    assert page.evaluate("() => [library.songs.size, library.state.bytes]") == [0, 0]
    again(page)
    assert page.evaluate("() => library.songs.size") == 0
    add(page, [music / "tagged.flac"])
    assert page.evaluate("async id => [await library.keep(id), library.songs.get(id).lufs]", id) == [True, -9]
    again(page)
    assert page.evaluate("id => why(library.file(library.songs.get(id)))", id).startswith("tagged.flac ")


def test_a_browser_that_keeps_nothing_still_plays(visit, house, music):
    page = visit(house, "/")
    page.evaluate("""() => {
        // As in private windows of some browsers.
        IDBFactory.prototype.open = () => { throw new DOMException('', 'SecurityError'); };
        IDBFactory.prototype.deleteDatabase = () => { throw new DOMException('', 'SecurityError'); };
        StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('', 'SecurityError'));
        StorageManager.prototype.persist = () => Promise.reject(new TypeError());
    }""")
    page.evaluate(OPEN)
    (id,) = add(page, [music / "latin.mp3"])["ids"]
    assert page.evaluate("() => library.state.keeps") is False
    assert page.evaluate("id => library.keep(id)", id) is False
    page.evaluate("id => library.remember(id, {lufs: -8})", id)
    assert page.evaluate("id => why(library.file(library.songs.get(id)))", id).startswith("latin.mp3 ")
    page.evaluate("() => library.clear()")
    page.evaluate("() => forgetLibrary()")


def test_two_tabs_share_the_library(visit, house, music):
    one = home(visit, house)
    two = one.context.new_page()
    two.goto("/")
    two.evaluate(OPEN)
    (id,) = add(one, [music / "tagged.flac"])["ids"]
    (other,) = add(two, [music / "tagged.ogg"])["ids"]
    assert one.evaluate("id => library.keep(id)", id) and two.evaluate("id => library.keep(id)", other)
    again(two)
    assert two.evaluate("() => library.songs.size") == 2
    # Signing out in one does not wait for the other, which goes on with what it holds and keeps nothing any more.
    two.evaluate("() => forgetLibrary()")
    assert two.evaluate("async () => (await indexedDB.databases()).length") == 0
    assert one.evaluate("id => why(library.file(library.songs.get(id)))", id).startswith("tagged.flac ")
    assert add(one, [music / "latin.mp3"])["songs"] and one.evaluate("id => library.keep(id)", id) is False
    again(two)
    assert two.evaluate("() => library.songs.size") == 0


def test_pictures_and_old_texts_by_the_browsers_own_decoders(visit, house, music):
    page = home(visit, house)
    for name, type in (("latin.mp3", "image/jpeg"), ("tagged.opus", "image/jpeg"), ("cbr.mp3", None)):
        (id,) = add(page, [music / name])["ids"]
        shown = page.evaluate("""async id => {
            const blob = await library.picture(library.songs.get(id));
            if (!blob) return null;
            const {width, height} = await createImageBitmap(blob);
            return [blob.type, width, height];
        }""", id)
        assert shown == (type and [type, 160, 160]), name
    # Windows writes characters of its own as Latin-1 (Node's decoder does not know them).
    title = page.evaluate("""async bytes => {
        const {songs} = await library.add([new File([Uint8Array.from(atob(bytes), one => one.charCodeAt(0))], 'x.mp3')]);
        return songs[0].title;
    }""", encoded(numbered(music, 1).replace(b"\3Song 0001", b"\0\x93Hi\x94 \x80 10")))
    assert title == "“Hi” € 10"
    # Where no header tells, the browser is asked: a film in pieces; two streams behind each other.
    assert abs(page.evaluate("bytes => library.add([new File([Uint8Array.from(atob(bytes), one => one.charCodeAt(0))], 'x')]).then(({songs}) => songs[0].durationMs)",
                             encoded((music / "pieces.mp4").read_bytes())) - 3000) < 60
    # The browser is asked whether it plays the sound of an MP4; it is one that knows no ALAC.
    assert page.evaluate("() => new Audio().canPlayType('audio/mp4; codecs=\"alac\"')") == ""
    sounds = add(page, [music / name for name in ("lossless.m4a", "flac.mp4", "opus.mp4")])
    assert sounds["skipped"] == [{"name": "lossless.m4a", "why": "unplayable"}]
    assert [song["format"] for song in sounds["songs"]] == ["mp4", "mp4"]
    chained = encoded((music / "tagged.ogg").read_bytes() + (music / "other.ogg").read_bytes())
    assert page.evaluate("bytes => library.add([new File([Uint8Array.from(atob(bytes), one => one.charCodeAt(0))], 'x')]).then(({songs}) => songs[0].durationMs)",
                         chained) >= 3000


ODD = ["adts.aac", "flac.oga", "opus.webm", "mp3.wav", "adpcm.wav", "wide.wav", "apple.aiff", "lossless.m4a"]
"""Files that some browsers play."""

OPENED = """async input => {
    const opened = {};
    for (const file of input.files) {
        const audio = new Audio(URL.createObjectURL(file));
        opened[file.name] = await new Promise(resolve => { audio.oncanplay = () => resolve(true); audio.onerror = () => resolve(false); });
    }
    return opened;
}"""
"""What the browser plays of files, by itself."""


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    subprocess.run(["node", HERE / "tagged-files.mjs", folder, *ODD], check=True, timeout=120)
    return folder


def test_what_this_browser_plays_is_what_is_taken(visit, house, odd):
    page = home(visit, house)
    opened = give(page, [odd / name for name in ODD]).evaluate(OPENED)
    # Chromium without the codecs of others.
    assert [name for name in ODD if opened[name]] == ["adts.aac", "flac.oga", "opus.webm", "mp3.wav"]
    answer = add(page, [odd / name for name in ODD])
    assert [song["name"] for song in answer["songs"]] == ["adts.aac", "flac.oga", "opus.webm", "mp3.wav"]
    assert answer["skipped"] == [{"name": name, "why": "format" if name == "apple.aiff" else "unplayable"}
                                 for name in ODD if not opened[name]]
    assert page.evaluate("() => [...library.songs.values()].filter(song => song.unplayable).map(song => song.name)") == [
        "adpcm.wav", "wide.wav", "lossless.m4a"]
    assert all(abs(ms - 3000) < 100 for ms in page.evaluate("ids => ids.map(id => library.songs.get(id).durationMs)", answer["ids"]))
    # Each opens as the deck opens it.
    assert all(page.evaluate("""ids => Promise.all(ids.map(async id => {
        const audio = new Audio(URL.createObjectURL(await library.file(library.songs.get(id))));
        return new Promise(resolve => { audio.oncanplay = () => resolve(true); audio.onerror = () => resolve(false); });
    }))""", answer["ids"]))


def test_a_track_is_found_by_its_names_where_its_file_is_another(visit, house, music):
    page = home(visit, house)
    (id,) = add(page, [music / "latin.mp3"])["ids"]
    find = "track => library.find(track)?.name ?? null"
    track = page.evaluate("id => library.toTrack(library.songs.get(id))", id)
    assert track == {"source": "local", "sourceId": id, "title": "Maré Alta", "artist": "Ínês & Co", "album": "Água", "durationMs": 3000}
    assert page.evaluate(find, track) == "latin.mp3"
    assert page.evaluate(find, {"source": "local", "sourceId": "x", "title": "MARE ALTA ", "artist": "ines & co"}) == "latin.mp3"
    assert page.evaluate(find, {"source": "other", "sourceId": id, "title": "x"}) is None
    page.evaluate("id => library.remove(id)", id)
    assert page.evaluate(find, track) is None


def test_what_is_dropped_is_taken(visit, house, music):
    page = home(visit, house)
    dropped = give(page, [music / "latin.mp3", music / "tagged.ogg"]).evaluate("""async input => {
        const data = new DataTransfer();
        for (const file of input.files) data.items.add(file);
        data.setData('text/plain', 'no file');
        const {songs} = await library.add(library.fromDrop(data));
        return songs.map(song => song.name);
    }""")
    assert dropped == ["latin.mp3", "tagged.ogg"]


def test_dropped_folders_of_browsers_without_handles_are_walked(visit, house, music):
    page = home(visit, house)
    # Such a browser gives entries, and of a folder at most a hundred at once.
    taken = page.evaluate("""async bytes => {
        const music = Uint8Array.from(atob(bytes), one => one.charCodeAt(0));
        const file = name => ({name, isFile: true, isDirectory: false,
            file: done => done(new File([music, new TextEncoder().encode(name)], name))});
        const folder = (name, entries) => ({name, isFile: false, isDirectory: true, createReader: () => {
            const left = [...entries];
            return {readEntries: done => setTimeout(() => done(left.splice(0, 100)))};
        }});
        const broken = {name: 'b', isFile: false, isDirectory: true, createReader: () => ({readEntries: (_, failed) => failed(new DOMException('', 'NotFoundError'))})};
        const gone = {...file('gone.mp3'), file: (_, failed) => failed(new DOMException('', 'NotFoundError'))};
        const many = Array.from({length: 150}, (_, i) => file(`${i}.mp3`));
        const all = folder('all', [folder('deep', many), file('.hidden.mp3'), file('cover.png'), broken, gone, file('a.mp3')]);
        const {songs, skipped} = await library.add([all, file('last.mp3')]);
        return {count: songs.length, names: [songs[0].name, ...songs.slice(-3).map(song => song.name)], skipped, kept: songs[0].kept};
    }""", encoded((music / "cbr.mp3").read_bytes()))
    assert taken == {"count": 152, "names": ["a.mp3", "148.mp3", "149.mp3", "last.mp3"], "kept": "memory",
                     "skipped": [{"name": "gone.mp3", "why": "unreadable"}]}


def test_the_picker_falls_back_to_an_element(visit, house, music):
    page = home(visit, house)
    # The pickers cannot be answered by a test.
    page.evaluate("() => { delete window.showOpenFilePicker; delete window.showDirectoryPicker; }")
    with page.expect_file_chooser() as chosen:
        page.evaluate("() => { window.items = library.pick('files'); }")
    assert chosen.value.is_multiple()
    chosen.value.set_files([music / "latin.mp3", music / "tagged.ogg"])
    assert page.evaluate("async () => (await items).map(file => file.name)") == ["latin.mp3", "tagged.ogg"]
    page.evaluate("() => { window.showOpenFilePicker = async () => { throw new DOMException('', 'AbortError'); }; }")
    assert page.evaluate("() => library.pick('files')") == []


@pytest.mark.soak("Firefox")
def test_firefox_decides_by_itself(house, odd, fox):
    """What Firefox takes is what it plays."""
    fox.goto(browsers.origin(house) + "/")
    fox.run(f"({OPEN})()")
    data = {name: encoded((odd / name).read_bytes()) for name in ODD if name != "lossless.m4a"}
    answer = json.loads(fox.run(f"""(async () => {{
        const files = Object.entries({json.dumps(data)}).map(([name, text]) => new File([Uint8Array.from(atob(text), one => one.charCodeAt(0))], name));
        const opened = await ({OPENED})({{files}});
        const {{songs}} = await library.add(files);
        return JSON.stringify({{opened, taken: songs.map(song => song.name)}});
    }})()"""))
    print(answer["opened"])
    assert answer["taken"] == [name for name in data if answer["opened"][name]]
    assert {"adts.aac", "opus.webm"} <= {*answer["taken"]} and "apple.aiff" not in answer["taken"]


@pytest.mark.soak("Firefox")
def test_firefox_keeps_copies(house, music, fox):
    """Files that have no handle are found after a reload."""
    fox.goto(browsers.origin(house) + "/")
    fox.run(f"({OPEN})()")
    data = encoded((music / "tagged.flac").read_bytes())
    assert fox.run(f"""(async () => {{
        const bytes = Uint8Array.from(atob({json.dumps(data)}), one => one.charCodeAt(0));
        navigator.storage.persist = async () => false;
        const {{songs: [song]}} = await library.add([new File([bytes], 'a.flac')]);
        return `${{song.title}} ${{song.sourceId}} ${{song.kept}} ${{await library.keep(song.sourceId)}}`;
    }})()""") == f"Maré Alta ☂ 𝔊 {source_id((music / 'tagged.flac').read_bytes())} memory true"
    fox.goto(browsers.origin(house) + "/")
    fox.run(f"({OPEN})()")
    size = (music / "tagged.flac").stat().st_size
    assert fox.run("why(library.file([...library.songs.values()][0]))") == f"a.flac {size} audio/flac"
    fox.run("library.clear().then(() => 0)")
    assert backline.eventually(lambda: fox.run("indexedDB.databases().then(all => all.every(one => one.name !== 'backline-library'))"),
                               "the library is gone")
    assert fox.faults(browsers.origin(house)) == []
