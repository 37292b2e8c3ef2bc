#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The system's values for this process at one instant.
///
/// The kernel generates files under `/proc` when they are read, so nothing here waits for a disk.
package struct ProcessReading {
    var residentBytes: Int
    /// The files that are open.
    package var openFiles: Int
    /// The limit of open files; infinity without one.
    package var fileLimit: Double
    /// The processor time used so far.
    var cpuSeconds: Double

    /// Returns the pages in RAM, from the text of `/proc/self/statm`: its second number (proc_pid_statm(5)).
    package static func residentPages(statm: String) -> Int? {
        let fields = statm.split { $0 == " " || $0 == "\n" }
        guard fields.count > 1 else { return nil }
        return Int(fields[1])
    }

    /// Returns the start time in clock ticks after the system's start, from the text of `/proc/self/stat`.
    ///
    /// It is the twenty-second field; the second field, the program's name in parentheses, may contain any characters
    /// (proc_pid_stat(5)).
    package static func startTicks(stat: String) -> Int? {
        guard let end = stat.lastIndex(of: ")") else { return nil }
        // The first of these is the third field.
        let fields = stat[stat.index(after: end)...].split { $0 == " " || $0 == "\n" }
        guard fields.count > 19 else { return nil }
        return Int(fields[19])
    }

    #if os(Linux)
        /// Reads all values; nil if the system does not provide them.
        package init?() {
            guard let statm = Self.text(of: "/proc/self/statm"), let pages = Self.residentPages(statm: statm),
                let openFiles = Self.entries(of: "/proc/self/fd"), let cpu = Self.seconds(CLOCK_PROCESS_CPUTIME_ID)
            else { return nil }
            var limit = rlimit()
            guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
            residentBytes = pages * sysconf(Int32(_SC_PAGESIZE))
            // One of them is the folder that was just read.
            self.openFiles = openFiles - 1
            fileLimit = limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
            cpuSeconds = cpu
        }

        /// Returns the start time in seconds since the Unix epoch; nil if the system does not provide it.
        static func startTime() -> Double? {
            guard let stat = text(of: "/proc/self/stat"), let ticks = startTicks(stat: stat),
                let now = seconds(CLOCK_REALTIME), let sinceBoot = seconds(CLOCK_BOOTTIME)
            else { return nil }
            return now - sinceBoot + Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))
        }

        private static func seconds(_ clock: clockid_t) -> Double? {
            var time = timespec()
            guard unsafe clock_gettime(clock, &time) == 0 else { return nil }
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }

        /// Reads the text of a short file.
        private static func text(of path: String) -> String? {
            // The path is a terminated string for the duration of the call, here and below.
            let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            // Both files are one line of well under 1 KB. The buffer is not longer than its capacity.
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
                count = unsafe max(0, read(file, buffer.baseAddress, buffer.count))
            }
            return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
        }

        /// Returns the number of entries in a folder, without `.` and `..`.
        private static func entries(of path: String) -> Int? {
            // Closed once, and not used after that.
            guard let folder = unsafe opendir(path) else { return nil }
            defer { unsafe closedir(folder) }
            var count = 0
            while unsafe readdir(folder) != nil { count += 1 }
            return count - 2
        }
    #else
        package init?() { nil }

        static func startTime() -> Double? { nil }
    #endif
}
