"""Files whose headers lie, in a browser: the page's own conductor, sound and player, real files and elements, and a room that is a model."""

import pathlib
import subprocess

import pytest

pytestmark = [pytest.mark.alone, pytest.mark.soak("sound in real time")]
"""Sound in real time: a browser beside would take it the processor."""

TREE = pathlib.Path(__file__).parents[2]
ORIGIN = "https://localhost"

EVENING = """async ({files, claims}) => {
    const page = '/Sources/WebClient/Pages/';
    const [{Conductor}, {Sound}, {Room}, {RoomModel}] = await Promise.all(
        [`${page}deck/conductor.js`, `${page}deck/sound.js`, `${page}room/room.js`, '/Tests/Web/room-model.mjs'].map(one => import(one)));
    const blobs = await Promise.all(files.map(async name => (await fetch(`/music/${name}`)).blob()));
    const lengths = {}, faults = [];
    const model = new RoomModel({now: () => Date.now()});
    model.send(1, {type: 'addTracks', tracks: files.map(name => ({source: 'local', sourceId: name, title: name, durationMs: claims}))});
    for (const track of files.keys()) model.send(1, {type: 'enqueue', track: track + 1});
    model.send(1, {type: 'play'});
    const take = () => {
        for (const event of model.events.slice(store.room.seq)) store.room.apply(event);
        conductor.changed(true);
    };
    const store = {
        room: new Room(model.snapshot()), link: {state: 'live'}, clock: {now: () => Date.now(), errorMs: 0}, isPending: () => false, goAhead() {},
        async send(command) {
            if (command.type === 'setDuration') lengths[command.track] = command.durationMs;
            const {result} = model.send(1, JSON.parse(JSON.stringify(command)));
            take();
            return result ?? {};
        },
    };
    const device = {
        store, found: {}, now: () => Date.now(), canPlay: () => true, lack: {isBare: false}, showPicture() {}, stepped() {}, fadeMs: 2000, levelled: false,
        songOf: track => ({sourceId: files[track - 1]}),
        library: {file: async ({sourceId}) => blobs[files.indexOf(sourceId)], remember: async () => {}},
    };
    const sound = new Sound(device, {
        ended: ms => conductor.ended(ms), playing: () => { conductor.deck.sounds(); conductor.look(true); }, stalled() {}, paused: () => faults.push('paused'),
        failed: error => faults.push(String(error)), refused: wants => faults.push(wants),
    });
    const conductor = new Conductor(device, sound, null);
    take();
    while (store.room.playback.status !== 'stopped') await new Promise(next => setTimeout(next, 100));
    conductor.close();
    sound.close();
    return {lengths, faults, heard: store.room.history.map(({track, playedMs}) => [track, playedMs]).reverse()};
}"""


def tone(path, hertz, seconds, *options):
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"sine=frequency={hertz}:sample_rate=44100:duration={seconds}",
                    "-ac", "2", *options, str(path)], check=True)
    return path


def evening(whole_chromium, folder, files, claims):
    """Plays files of a folder to the end."""
    context = whole_chromium.browser.new_context()

    def answer(route):
        path = route.request.url.removeprefix(ORIGIN)
        file = folder / path.removeprefix("/music/") if path.startswith("/music/") else TREE / path[1:]
        if file.is_file():
            kind = "text/javascript" if file.suffix in (".js", ".mjs") else "application/octet-stream"
            route.fulfill(body=file.read_bytes(), content_type=kind)
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    try:
        context.route(f"{ORIGIN}/**", answer)
        page = context.new_page()
        page.goto(f"{ORIGIN}/")
        told = page.evaluate(EVENING, {"files": files, "claims": claims})
    finally:
        context.close()
    assert told["faults"] == []
    return told


def test_where_headers_lie_songs_are_heard_whole_and_their_lengths_are_told(whole_chromium, tmp_path):
    short = tone(tmp_path / "short.mp3", 500, 3, "-c:a", "libmp3lame", "-q:a", "4", "-id3v2_version", "0")
    data = bytearray(short.read_bytes())
    frames = data.find(b"Xing") + 8
    data[frames:frames + 4] = (int.from_bytes(data[frames:frames + 4], "big") // 5).to_bytes(4, "big")
    short.write_bytes(data)
    # A header that claims more than there is.
    cut = tone(tmp_path / "cut.flac", 700, 4)
    cut.write_bytes(cut.read_bytes()[:cut.stat().st_size // 2])
    told = evening(whole_chromium, tmp_path, [short.name, cut.name], claims=60_000)
    print(told["lengths"], told["heard"])
    assert abs(told["lengths"]["1"] - 3000) < 200
    assert 1200 < told["lengths"]["2"] < 2600
    assert [ms > told["lengths"][str(track)] - 300 for track, ms in told["heard"]] == [True, True]
