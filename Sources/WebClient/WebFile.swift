package import NIOCore
import TLSTransport
import WebSocketCodec

/// One file of the page, in the forms in which it is sent.
package struct WebFile: Sendable {
    /// One form of a file.
    package struct Form: Sendable {
        /// The bytes; all answers share them.
        package let bytes: ByteBuffer
        /// The strong entity tag (RFC 9110 §8.8.3), with its quotation marks.
        package let entityTag: String
    }

    /// The value of `Content-Type`.
    package let mediaType: String
    /// The file as it is.
    package let identity: Form
    /// The file in gzip's format; nil if that is not shorter.
    package let gzip: Form?

    /// Makes the forms of a file.
    package init(type: WebFileType, bytes: [UInt8]) {
        let digest = WebFile.shortDigest(bytes)
        mediaType = type.mediaType
        identity = Form(bytes: ByteBuffer(bytes: bytes), entityTag: "\"\(digest)\"")
        gzip =
            if type.isCompressible, let short = Gzip.compress(bytes), short.count < bytes.count {
                Form(bytes: ByteBuffer(bytes: short), entityTag: "\"\(digest)-gzip\"")
            } else {
                nil
            }
    }

    /// The first 16 hexadecimal digits of the SHA-256.
    static func shortDigest(_ bytes: [UInt8]) -> String { String(SHA256Digest(hashing: bytes).hex.prefix(16)) }
}
