"""Every screen and state in both themes: accessible, whole, and without a line on the console."""

import pytest

import browsers
import screens
import serving


@pytest.mark.parametrize("device", browsers.DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("scene", screens.SCENES, ids=lambda scene: scene.__name__)
def test_a_screen(scene, device, chromium_shell, house, authority, tmp_path):
    numbers = iter(range(100))

    def make_server(*options):
        return serving.make_server(authority, tmp_path / str(next(numbers)), *options)

    # A phone is seen in both themes, and a laptop in the light one.
    theme = "dark" if device.touch else "light"
    stage = screens.Stage(chromium_shell, house, device, make_server, scheme=theme)
    faults = []
    try:
        for name, page in scene(stage):
            browsers.settle(page)
            faults += [f"{name}: {fault}" for fault in browsers.layout_faults(page) + browsers.small_targets(page)]
            faults += [f"{name}: {fault}" for fault in browsers.Axe(page).violations()]
            if theme == "dark":
                # Only colours differ.
                browsers.show_theme(page, "light")
                faults += [f"{name}, light: {fault}" for fault in browsers.Axe(page).violations("color-contrast")]
                browsers.show_theme(page, "dark")
        for watch in stage.watches:
            watch.check()
    finally:
        stage.clear()
    assert not faults, "\n".join(faults)
