package import NIOCore
internal import SystemErrors

extension IOError {
    /// The system's text for the error, such as `Address already in use`, without the call that failed.
    package var reason: String { SystemError(code: errnoCode).description }
}

extension Error {
    /// Whether a host to listen on is neither an address nor a name that can be resolved.
    package var isUnknownHost: Bool { self is SocketAddressError || self is SocketAddressError.UnknownHost }
}
