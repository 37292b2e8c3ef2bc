package import NIOCore

/// The status and fields of an HTTP/1.1 response.
package struct ResponseHead: Equatable, Sendable {
    /// 100 to 999.
    package let status: Int
    /// The fields between the start line and the empty line.
    package let fields: HeaderFields

    /// Makes a head to be written.
    ///
    /// - Precondition: `status` has three digits.
    package init(status: Int, fields: HeaderFields = HeaderFields()) {
        precondition((100...999).contains(status), "\(status)")
        self.status = status
        self.fields = fields
    }

    /// Appends the head, with the empty line that ends it.
    package func write(into buffer: inout ByteBuffer) {
        // RFC 9112 §4: the reason phrase may be empty, but the space before it is required
        buffer.writeString("HTTP/1.1 \(self.status) \(self.status == 101 ? "Switching Protocols" : "")\r\n")
        self.fields.write(into: &buffer)
    }
}

extension HeaderFields {
    /// Appends every field as a line, and the empty line that ends the head.
    func write(into buffer: inout ByteBuffer) {
        for field in self.all {
            buffer.writeString(field.name)
            buffer.writeString(": ")
            buffer.writeString(field.value)
            buffer.writeString("\r\n")
        }
        buffer.writeString("\r\n")
    }
}
