// swift-tools-version:6.2
import PackageDescription

// A program for Linux: the library, and its transport on SwiftNIO.
let package = Package(
    name: "OnLinux",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Backline", path: "../../..", traits: ["NIOClient"])],
    targets: [
        .executableTarget(
            name: "OnLinux",
            dependencies: [
                .product(name: "RoomClient", package: "Backline"), .product(name: "RoomClientNIO", package: "Backline"),
            ],
            path: "Sources")
    ]
)
