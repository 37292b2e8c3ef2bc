import Glibc

/// The limit of open files and connections of the process.
enum OpenFiles {
    /// The fewest with which a server starts: it needs up to a hundred for itself.
    private static let fewest = 256

    /// Raises the limit to the highest that the system allows this process, because every connection needs a
    /// descriptor; throws if that is too low for a server.
    static func raiseLimit() throws(Failure) {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        // Both calls use the structure only while they run.
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            // As little as there was before may do.
            _ = unsafe setrlimit(resource, &limit)
            _ = unsafe getrlimit(resource, &limit)
        }
        guard limit.rlim_cur >= fewest else {
            throw .unavailable(
                """
                the process may have \(limit.rlim_cur) files open, and a server needs \(fewest) and one more for each \
                connection: raise the limit (ulimit -n, LimitNOFILE)
                """)
        }
    }
}
