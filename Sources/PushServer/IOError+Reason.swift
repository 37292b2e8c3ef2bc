package import NIOCore
internal import SystemCalls

extension IOError {
    /// The system's text for the error, such as `Address already in use`, without the call that failed.
    package var reason: String { SystemError(code: errnoCode).description }
}
