internal import Glibc
package import NIOCore

/// The stream socket beneath a channel of SwiftNIO, for sending past the channel's own queue.
///
/// The channel owns the descriptor and closes it; the descriptor's number may then stand for something
/// else. It may therefore be used only on the channel's event loop and while `isActive` is true there:
/// SwiftNIO's `BaseSocketChannel.close0` closes the socket and ends `isActive` without running anybody's
/// code in between.
package struct StreamSocket {
    private let descriptor: NIOBSDSocket.Handle
    /// Held here, since the way from a handler to its channel leads through memory that a delivery has not touched.
    private let channel: any Channel

    /// Finds the socket; `nil` for a channel that has none, such as an `EmbeddedChannel` or a pipe.
    package init?(_ channel: any Channel) {
        let operations = channel.pipeline.syncOperations
        let handle = try? operations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
        guard let descriptor = handle ?? nil else { return nil }
        var type: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        // Writes at most `size` bytes, which is what `type` has.
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0, type == Int32(SOCK_STREAM.rawValue)
        else {
            return nil
        }
        self.descriptor = descriptor
        self.channel = channel
    }

    /// Whether the socket may be used.
    var isOpen: Bool { channel.isActive }

    /// Bytes that the system has taken for the peer and that the peer has not acknowledged; nil where it does not say.
    package var unacknowledgedByteCount: Int? {
        guard isOpen else { return nil }
        var count: Int32 = 0
        // unsafe: writes an int, which is what `count` is
        guard unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return nil }
        return Int(count)
    }

    /// Sends what the socket takes at once, and returns how many bytes that were.
    ///
    /// Fewer than all, or none, when the socket's buffer is full and also when the connection has failed:
    /// SwiftNIO then meets the same error with the rest, and deals with it.
    func send(_ bytes: ByteBuffer) -> Int {
        // The bytes are only read, during the call.
        let sent = unsafe bytes.withUnsafeReadableBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        return max(sent, 0)
    }
}
