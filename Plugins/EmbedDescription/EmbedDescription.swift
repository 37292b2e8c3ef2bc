import Foundation
import PackagePlugin

/// Compiles the description of the API, Documentation/openapi.yaml, into a target, as JSON.
@main
struct EmbedDescription: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        let description = context.package.directoryURL.appending(path: "Documentation/openapi.yaml")
        let output = context.pluginWorkDirectoryURL.appending(path: "APIDescription.swift")
        return [
            .buildCommand(
                displayName: "Embedding the description of the API",
                executable: try context.tool(named: "EmbedDescriptionTool").url,
                arguments: [description.path, output.path], inputFiles: [description], outputFiles: [output])
        ]
    }
}
