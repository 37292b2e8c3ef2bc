/// The service worker of a server that has no page: it ends the one that a browser has from an earlier time.
package enum DepartingWorker {
    /// The script.
    package static let file = WebFile(type: .js, bytes: Array(script.utf8))

    private static let script = """
        // This server has no page. The worker of an earlier page deletes its caches and ends.
        self.addEventListener("install", () => self.skipWaiting());
        self.addEventListener("activate", (event) => event.waitUntil((async () => {
            for (const name of await caches.keys()) await caches.delete(name);
            await self.registration.unregister();
            for (const page of await self.clients.matchAll({ type: "window" })) page.navigate(page.url).catch(() => {});
        })()));

        """
}
