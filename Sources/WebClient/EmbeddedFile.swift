import ByteText

/// One file that was compiled into the program, as the plugin `EmbedFiles` writes it.
struct EmbeddedFile: Sendable {
    /// The path below the folder of pages.
    let path: String
    /// The file's bytes.
    let bytes: [UInt8]

    /// A file of UTF-8.
    init(_ path: String, text: String) {
        self.path = path
        bytes = Array(text.utf8)
    }

    /// Any other file; text that is not base 64 stands for an empty one.
    init(_ path: String, base64: String) {
        self.path = path
        bytes = Base64.standard.decode(base64.utf8) ?? []
    }
}
