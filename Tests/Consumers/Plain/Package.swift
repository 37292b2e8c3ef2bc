// swift-tools-version:6.2
import PackageDescription

// An app for Apple's platforms: the library without another package.
let package = Package(
    name: "Plain",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Backline", path: "../../..", traits: [])],
    targets: [
        .executableTarget(
            name: "Plain",
            dependencies: [
                .product(name: "RoomClient", package: "Backline")
            ],
            path: "Sources")
    ]
)
