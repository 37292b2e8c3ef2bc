import CMalloc

/// The process's heap.
enum Heap {
    /// Gives pages in which nothing lies back to the system.
    ///
    /// The allocator keeps them by itself when rooms and connections have gone, since one that is left on a page above
    /// them is enough. Takes some milliseconds for each 100 MB; not for an event loop.
    static func giveBack() {
        malloc_trim(0)
    }
}
