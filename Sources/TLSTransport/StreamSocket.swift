internal import Glibc
package import NIOCore

/// The stream socket beneath a channel of SwiftNIO, for sending without the channel's own queue.
///
/// The channel owns the descriptor and closes it; afterwards the number may belong to another file. It may therefore be
/// used only on the channel's event loop and while `isActive` is true there: SwiftNIO's `BaseSocketChannel.close0`
/// closes the socket and ends `isActive` without running other code in between.
package struct StreamSocket {
    private let descriptor: NIOBSDSocket.Handle
    /// Stored here, because reaching the channel through a handler reads memory that a delivery has not touched.
    private let channel: any Channel

    /// Finds the socket; `nil` for a channel without one, such as an `EmbeddedChannel` or a pipe.
    package init?(_ channel: any Channel) {
        let operations = channel.pipeline.syncOperations
        let handle = try? operations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
        guard let descriptor = handle ?? nil else { return nil }
        var type: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        // Writes at most `size` bytes, the size of `type`.
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0, type == Int32(SOCK_STREAM.rawValue)
        else {
            return nil
        }
        self.descriptor = descriptor
        self.channel = channel
    }

    /// Whether the socket may be used.
    var isOpen: Bool { channel.isActive }

    /// Bytes that the system has taken for the peer and that the peer has not acknowledged; nil if the system does not
    /// tell.
    package var unacknowledgedByteCount: Int? {
        guard isOpen else { return nil }
        var count: Int32 = 0
        // unsafe: writes an int, which is the type of `count`
        guard unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 else { return nil }
        return Int(count)
    }

    /// Sends as many bytes as the socket accepts at once, and returns their number.
    ///
    /// The number is smaller, or 0, if the socket's buffer is full and also if the connection has failed: SwiftNIO then
    /// meets the same error with the rest, and handles it.
    func send(_ bytes: ByteBuffer) -> Int {
        // The bytes are only read, during the call.
        let sent = unsafe bytes.withUnsafeReadableBytes {
            unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        return max(sent, 0)
    }
}
