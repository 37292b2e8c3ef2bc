package import NIOCore

/// The ``TLSEventLoopResources`` of every event loop of a group.
package struct TLSEventLoopGroupResources: Sendable {
    private let boxes: [ObjectIdentifier: NIOLoopBoundBox<TLSEventLoopResources>]

    /// Makes the resources of all loops of `group`.
    ///
    /// - Throws: ``TLSFault/setup(_:)`` when memory is short.
    package init(_ group: any EventLoopGroup) throws(TLSFault) {
        var boxes: [ObjectIdentifier: NIOLoopBoundBox<TLSEventLoopResources>] = [:]
        for loop in group.makeIterator() {
            boxes[ObjectIdentifier(loop)] = NIOLoopBoundBox.makeBoxSendingValue(
                try TLSEventLoopResources(), eventLoop: loop)
        }
        self.boxes = boxes
    }

    /// Returns the resources of `loop`; call on that loop only.
    ///
    /// - Precondition: `loop` belongs to the group.
    package func resources(on loop: any EventLoop) -> TLSEventLoopResources {
        guard let box = boxes[ObjectIdentifier(loop)] else {
            preconditionFailure("\(loop) is not a loop of the group whose TLS resources these are")
        }
        return box.value
    }
}
