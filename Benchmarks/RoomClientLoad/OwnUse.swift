import CMalloc
import Foundation

/// The processor time that the calling thread has used.
///
/// It is not disturbed by other programs, unlike a clock.
func threadTime() -> Duration {
    var time = timespec()
    // The call only writes the time.
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
}

/// Calls `body`, and returns the processor time that it takes.
func used(by body: () throws -> Void) rethrows -> Duration {
    let start = threadTime()
    try body()
    return threadTime() - start
}

/// The bytes that the process has allocated and not freed, as the allocator counts them.
func allocatedBytes() -> Int {
    let figures = mallinfo2()
    return Int(figures.uordblks) + Int(figures.hblkhd)
}
