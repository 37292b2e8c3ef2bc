"""Every screen and state in both themes: accessible, whole, and without a line on the console."""

import pytest

import browsers
import parties
import screens
import serving
import steps


CASES = [
    pytest.param(scene, device, id=f"{scene.__name__}-{device.name}")
    for scene in screens.SCENES
    for device in browsers.DEVICES
    if device.touch or scene not in screens.NARROW
]


@pytest.mark.parametrize("scene, device", CASES)
def test_a_screen(scene, device, chromium, house, authority, tmp_path):
    numbers = iter(range(100))

    def make_server(*options):
        return serving.make_server(authority, tmp_path / str(next(numbers)), *options)

    # Dark on a phone and light on a laptop, or both on a phone. `Scripts/screens` looks at both on both.
    is_narrow, scheme = scene in screens.NARROW, "dark" if device.touch else "light"
    stage = screens.Stage(
        chromium, house, device, make_server, scheme=scheme, **({"reduced_motion": "reduce"} if is_narrow else {}))
    faults, themes = [], {}
    try:
        for name, page in scene(stage):
            browsers.settle(page)
            theme = themes.get(page, scheme)
            faults += [f"{name}, {theme}: {fault}" for fault in browsers.faults(page)]
            if is_narrow:
                # Only colours differ. The page stays as it is: what it shows next is looked at in this theme first.
                themes[page] = theme = "dark" if theme == "light" else "light"
                browsers.show_theme(page, theme)
                faults += [f"{name}, {theme}: {fault}" for fault in browsers.Axe(page).violations("color-contrast")]
        for watch in stage.watches:
            watch.check()
    finally:
        stage.clear()
    assert not faults, "\n".join(faults)


def test_with_little_motion_another_theme_is_there_at_once(visit, party, house):
    page = visit(house, party(parties.rooftop, house).path, reduced_motion="reduce")
    steps.on_air(page, "Maré Alta")
    artist = page.locator("li.row .artist").first
    before = artist.evaluate("node => getComputedStyle(node).color")
    after, moving = artist.evaluate("""node => {
        document.documentElement.dataset.theme = 'light';
        return [getComputedStyle(node).color, document.getAnimations().filter(one => one instanceof CSSTransition).length];
    }""")
    assert (after != before, moving) == (True, 0)
