package import NIOHTTP1
package import WebSocketCodec

extension RequestHead {
    /// Converts a head that SwiftNIO has read; nil if a field is invalid.
    ///
    /// SwiftNIO's reader keeps white space behind a value, which is no part of it (RFC 9110 §5.5).
    package init?(_ head: HTTPRequestHead) {
        var fields = HeaderFields()
        for (name, value) in head.headers {
            let end = value.utf8.lastIndex { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            let trimmed = end.map { String(decoding: value.utf8[...$0], as: UTF8.self) } ?? ""
            guard let field = HeaderField(name, trimmed) else { return nil }
            fields.append(field)
        }
        self.init(
            method: head.method.rawValue, target: head.uri, isHTTP11: head.version == .http1_1, fields: fields)
    }
}
