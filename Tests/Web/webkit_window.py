"""A window with WebKitGTK in it, driven by lines of JSON on a socket: `webkit.py` starts it, with the system's Python.

No driver: one answers a chooser of files at once, and its browsers are always private. What pages write to the console,
and what they ask for, is on standard output.
"""

import json
import os
import socket
import sys
import threading

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gio, GLib, Gtk, WebKit2  # noqa: E402

given = json.loads(sys.argv[1])
line = socket.socket(fileno=int(sys.argv[2]))
manager = WebKit2.WebsiteDataManager(base_data_directory=f"{given['folder']}/data", base_cache_directory=f"{given['folder']}/cache")
context = WebKit2.WebContext.new_with_website_data_manager(manager)
# WebKitGTK takes authorities from the system alone.
context.allow_tls_certificate_for_host(Gio.TlsCertificate.new_from_file(given["certificate"]), "localhost")
settings = WebKit2.Settings(enable_write_console_messages_to_stdout=True, enable_page_cache=True)
known = WebKit2.Settings.get_all_features()
features = {one.get_identifier(): one for one in map(known.get, range(known.get_length()))}
for name, isOn in given["features"].items():
    settings.set_feature_enabled(features[name], isOn)
scripts = WebKit2.UserContentManager()
for source in given["scripts"]:
    scripts.add_script(WebKit2.UserScript(
        source, WebKit2.UserContentInjectedFrames.TOP_FRAME, WebKit2.UserScriptInjectionTime.START, None, None))
view = WebKit2.WebView(
    web_context=context, settings=settings, user_content_manager=scripts,
    # As Safari: sound needs a tap.
    website_policies=WebKit2.WebsitePolicies(autoplay=WebKit2.AutoplayPolicy.ALLOW_WITHOUT_SOUND))
window = Gtk.Window()
window.add(view)
chooser = None
loading = None


def choose(_, request):
    global chooser
    chooser = request
    return True


def leave(_, dialog):
    """A page that plays asks whether it is to be left: it is."""
    dialog.confirm_set_confirmed(True)
    return True


def loaded(_, event):
    global loading
    if event == WebKit2.LoadEvent.FINISHED and loading:
        answer(loading, True)
        loading = None


def requested(_, resource, request):
    print("REQUEST", request.get_uri(), flush=True)
    resource.connect("failed", lambda _, error: error.matches(WebKit2.NetworkError.quark(), WebKit2.NetworkError.CANCELLED)
                     or print("FAILED", request.get_uri(), error.message, flush=True))


view.connect("run-file-chooser", choose)
view.connect("script-dialog", leave)
view.connect("load-changed", loaded)
view.connect("resource-load-started", requested)
view.connect("web-process-terminated", lambda _, reason: print("CONSOLE the page's process has ended:", reason, flush=True))


def answer(number, value):
    line.sendall(json.dumps([number, value]).encode() + b"\n")


def do(number, command, value):
    global chooser, loading
    if command == "size":
        window.resize(*value)
        window.show_all()
        answer(number, True)
    elif command == "goto":
        loading = number
        view.load_uri(value) if value else view.reload()
    elif command == "run":
        view.call_async_javascript_function(value, -1, None, None, None, None, has_run, number)
    elif command == "chooser":
        answer(number, chooser and {"types": chooser.get_mime_types(), "multiple": chooser.get_select_multiple()})
    elif command == "files":
        chooser.select_files(value)
        chooser = None
        answer(number, True)


def has_run(view, result, number):
    try:
        value = view.call_async_javascript_function_finish(result)
        answer(number, {"value": json.loads(value.to_json(0) or "null")})
    except GLib.Error as error:
        answer(number, {"error": error.message})


def listen():
    for text in line.makefile(encoding="utf-8"):
        GLib.idle_add(do, *json.loads(text))
    # The test has ended.
    os._exit(0)


threading.Thread(target=listen, daemon=True).start()
Gtk.main()
