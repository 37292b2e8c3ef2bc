import Foundation
import FuzzProperties

/// The inputs of one fuzzer that are kept beside the tests.
struct Corpus {
    /// The parts of a corpus, each a folder.
    enum Part: String, CaseIterable {
        /// Inputs written by people; the tested code understands them.
        case seeds
        /// Inputs found by the fuzzer: each reaches code that the others do not.
        case found
        /// Inputs that once broke the property.
        case failures
    }

    /// One input.
    struct Input {
        let name: String
        let bytes: [UInt8]
    }

    let folder: URL

    init(_ fuzzer: Fuzzer, file: String = #filePath) {
        self.folder = URL(filePath: file).deletingLastPathComponent().deletingLastPathComponent()
            .appending(components: "FuzzCorpora", fuzzer.rawValue)
    }

    /// The inputs of one part by name; none if there is no folder.
    func inputs(_ part: Part) throws -> [Input] {
        let folder = self.folder.appending(path: part.rawValue)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            Input(name: name, bytes: Array(try Data(contentsOf: folder.appending(path: name))))
        }
    }
}
