/// The types of files that the page may consist of.
package enum WebFileType: String, CaseIterable, Sendable {
    case html, js, css, svg, png, jpg, webp, ico, woff2, webmanifest

    /// The type of a file, by the end of its name; nil if such files are not served.
    package init?(path: some StringProtocol) {
        guard let dot = path.lastIndex(of: ".") else { return nil }
        self.init(rawValue: String(path[path.index(after: dot)...]))
    }

    /// The value of `Content-Type`.
    package var mediaType: String {
        switch self {
        case .html: "text/html; charset=utf-8"
        // RFC 9239 §6.1.1.
        case .js: "text/javascript; charset=utf-8"
        case .css: "text/css; charset=utf-8"
        case .svg: "image/svg+xml"
        case .png: "image/png"
        case .jpg: "image/jpeg"
        case .webp: "image/webp"
        case .ico: "image/vnd.microsoft.icon"
        case .woff2: "font/woff2"
        case .webmanifest: "application/manifest+json"
        }
    }

    /// Whether a file becomes shorter by compression; the others are compressed already.
    var isCompressible: Bool {
        switch self {
        case .html, .js, .css, .svg, .ico, .webmanifest: true
        case .png, .jpg, .webp, .woff2: false
        }
    }
}
