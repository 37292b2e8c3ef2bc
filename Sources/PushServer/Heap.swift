import CMalloc

/// The process's heap.
enum Heap {
    /// Lets what is large leave memory as soon as it is freed: by itself the allocator comes to keep up to 64 MiB of it for
    /// each thread, once something of that size was freed.
    static func prepare() {
        mallopt(M_MMAP_THRESHOLD, 256 << 10)
        mallopt(M_TRIM_THRESHOLD, 4 << 20)
    }

    /// Gives pages in which nothing lies back to the system.
    ///
    /// The allocator keeps them by itself when rooms and connections have gone, since one that is left on a page above
    /// them is enough. Takes some milliseconds for each 100 MB; not for an event loop.
    static func giveBack() {
        malloc_trim(0)
    }
}
