import Glibc

/// The limit of open files and connections of the process.
enum OpenFiles {
    /// Raises the limit to the highest that the system allows this process, because every connection needs a
    /// descriptor.
    ///
    /// Returns the limit that then applies; nil if the system does not tell.
    static func raiseLimit() -> UInt? {
        var limit = rlimit()
        // Both calls use the structure only while they run.
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        guard limit.rlim_cur < limit.rlim_max else { return limit.rlim_cur }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        return unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit.rlim_max : before
    }
}
