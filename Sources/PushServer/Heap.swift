import CMalloc

/// The process's heap.
enum Heap {
    /// Makes the allocator return large blocks to the system as soon as they are freed.
    ///
    /// By default, it comes to keep up to 64 MiB of them for each thread once a block of that size was freed.
    static func prepare() {
        mallopt(M_MMAP_THRESHOLD, 256 << 10)
        mallopt(M_TRIM_THRESHOLD, 4 << 20)
    }

    /// Returns unused pages to the system.
    ///
    /// Without this call the allocator keeps them when rooms and connections have gone, because one used block above
    /// them is enough. Takes some milliseconds for each 100 MB, so it must not run on an event loop.
    static func giveBack() {
        malloc_trim(0)
    }
}
