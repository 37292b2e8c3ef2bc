import Foundation
import PackagePlugin

/// Compiles the files of a target's folder `Pages` into the target, as string literals.
///
/// Each build lists the folder anew, so a file that was added or removed needs nothing else. Hidden files and what
/// only the type checker reads (`*.ts`, `tsconfig.json`) are left out.
@main
struct EmbedFiles: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let folder = target.directoryURL.appending(path: "Pages")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { path in
                let isHidden = path.split(separator: "/").contains { $0.hasPrefix(".") }
                return !isHidden && !path.hasSuffix(".ts") && path != "tsconfig.json" && !isDirectory(folder, path)
            }
            .sorted()
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedPages.swift")
        return [
            .buildCommand(
                displayName: "Embedding the files of \(target.name)/Pages",
                executable: try context.tool(named: "EmbedFilesTool").url,
                // The paths are arguments, so that the tool runs again when one is gone.
                arguments: [folder.path, output.path] + paths,
                inputFiles: paths.map { folder.appending(path: $0) },
                outputFiles: [output])
        ]
    }

    private func isDirectory(_ folder: URL, _ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: folder.appending(path: path).path, isDirectory: &isDirectory)
            && isDirectory.boolValue
    }
}
