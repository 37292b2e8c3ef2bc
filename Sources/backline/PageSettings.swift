import ArgumentParser
import SystemCalls
import WebClient

/// The settings of the page that the server shows to browsers.
struct PageSettings: ParsableArguments {
    @Flag(help: "Serve no page, only the API. [BACKLINE_NO_WEB=true]")
    var noWeb = false

    @Option(
        help: ArgumentHelp(
            "Serve the page from this folder instead of the one in the program, and read each file anew for each request: for those who change the page. [BACKLINE_WEB_DIRECTORY; default: the page in the program]",
            valueName: "dir"))
    var webDirectory: String?

    /// The place that the page comes from.
    func source() throws -> WebSource {
        let directory = webDirectory ?? Environment["BACKLINE_WEB_DIRECTORY"]
        if try noWeb || Environment.isSet("BACKLINE_NO_WEB") {
            guard directory == nil else {
                throw Failure.usage("--no-web: a folder of the page has no effect without a page")
            }
            return .none
        }
        guard let directory else { return .embedded }
        let folder: WebFolder
        do throws(SystemError) {
            folder = try WebFolder(directory)
        } catch {
            throw Failure.usage("--web-directory: '\(directory)' cannot be served: \(error.description)")
        }
        guard (try? folder.file(at: "index.html")) != nil else {
            throw Failure.usage("--web-directory: '\(directory)' has no index.html, which is the page")
        }
        return .folder(folder)
    }
}
