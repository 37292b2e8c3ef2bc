"""Makes pictures of every screen and state, and checks each; `Scripts/screens` calls it.

    take_screens.py FOLDER [SCENE…] [--device phone|laptop] [--theme dark|light] [--language en|de]

Scenes are driven by English texts: in German, each text of a state is put in German for its picture.
"""

import argparse
import contextlib
import html
import json
import pathlib
import subprocess
import sys
import tempfile

import playwright.sync_api

sys.path.insert(1, str(pathlib.Path(__file__).parents[1] / "EndToEnd"))

import browsers  # noqa: E402
import screens  # noqa: E402
import serving  # noqa: E402
import trust  # noqa: E402

STYLE = """body { font: 14px system-ui, sans-serif; background: #222; color: #eee; margin: 16px }
section { display: flex; flex-wrap: wrap; gap: 16px; align-items: flex-start; margin: 8px 0 32px }
figure { margin: 0 } figcaption { padding: 4px 0 } img { display: block; height: 420px; border-radius: 6px }"""

# Puts texts, and attributes that are read or shown, into German, also those that come while a picture is taken; `null`
# puts them back, where nobody has changed them.
TRANSLATE = """rows => {
    const NAMES = ['placeholder', 'title', 'aria-label', 'label'];
    const put = (node, name, text) => name ? node.setAttribute(name, text) : (node.data = text);
    const get = (node, name) => name ? node.getAttribute(name) : node.data;
    if (rows === null) {
        window.translating.disconnect();
        for (const [node, name, before, after] of window.translated) if (get(node, name) === after) put(node, name, before);
        document.documentElement.lang = 'en';
        return;
    }
    const table = rows.map(([pattern, text]) => [new RegExp(pattern, 'u'), text]);
    const german = text => {
        const [, start, middle, end] = text.match(/^(\\s*)(.*?)(\\s*)$/s);
        const [pattern, other] = table.find(([pattern]) => pattern.test(middle)) ?? [];
        return pattern ? start + middle.replace(pattern, other) + end : text;
    };
    window.translated = [];
    const change = (node, name) => {
        const before = get(node, name), after = german(before);
        if (after !== before) { put(node, name, after); window.translated.push([node, name, before, after]); }
    };
    const all = () => {
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) change(texts.currentNode, null);
        for (const name of NAMES) for (const node of document.querySelectorAll(`[${name}]`)) change(node, name);
        window.translating.takeRecords();
    };
    window.translating = new MutationObserver(all);
    window.translating.observe(document.body, {subtree: true, childList: true, characterData: true, attributeFilter: NAMES});
    all();
    document.documentElement.lang = 'de';
}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("scenes", nargs="*", help="names of scenes, or parts of them; none: all")
    parser.add_argument("--device", choices=[device.name for device in browsers.DEVICES])
    parser.add_argument("--theme", choices=["dark", "light"])
    parser.add_argument("--language", choices=["en", "de"], default="en")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    scenes = [one for one in screens.SCENES
              if not asked.scenes or any(part in one.__name__ for part in asked.scenes)]
    themes = [asked.theme] if asked.theme else ["dark", "light"]
    failures, faults, translations = [], [], None
    if asked.language == "de":
        source = pathlib.Path(__file__).with_name("translations.mjs")
        translations = json.loads(subprocess.run(["node", source], check=True, capture_output=True).stdout)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="backline-screens-")))
        authority = trust.Authority(folder)
        driver = stack.enter_context(playwright.sync_api.sync_playwright())
        chromium = stack.enter_context(contextlib.closing(browsers.Chromium(driver, authority.home(), shell=True)))
        made = iter(range(1000))

        def make_server(*options):
            return serving.make_server(authority, folder / f"data-{next(made)}", *options)

        server = stack.enter_context(make_server())
        for device in browsers.DEVICES:
            if asked.device and device.name != asked.device:
                continue
            stage = screens.Stage(chromium, server, device, make_server)

            def show(name, page):
                if translations:
                    page.evaluate(TRANSLATE, translations)
                for theme in themes:
                    browsers.show_theme(page, theme)
                    page.screenshot(path=str(asked.folder / f"{name}.{device.name}.{theme}.png"))
                    faults.extend(f"{name}, {device.name}, {theme}: {fault}" for fault in browsers.faults(page))
                browsers.show_theme(page, "dark")
                if translations:
                    page.evaluate(TRANSLATE, None)

            failures += [(device.name, *one) for one in screens.run(stage, scenes, show)]
    write_index(asked.folder)
    for device, scene, _ in failures:
        print(f"{scene} on a {device} failed", file=sys.stderr)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if failures or faults else 0


def write_index(folder):
    """A page that shows all pictures of a folder."""
    names = {}
    for file in sorted(folder.glob("*.*.*.png")):
        names.setdefault(file.name.split(".")[0], []).append(file.name)
    parts = ["<!doctype html><meta charset=utf-8><title>Screens</title><style>", STYLE, "</style>"]
    for name, files in names.items():
        parts.append(f"<h2>{html.escape(name)}</h2><section>")
        parts += [f'<figure><a href="{file}"><img src="{file}" loading="lazy" alt=""></a>'
                  f"<figcaption>{' '.join(file.split('.')[1:3])}</figcaption></figure>" for file in files]
        parts.append("</section>")
    (folder / "index.html").write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
