// swift-tools-version:6.2
import PackageDescription

// A program that names no traits, and so gets the default ones.
let package = Package(
    name: "Everything",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Backline", path: "../../..")],
    targets: [
        .executableTarget(
            name: "Everything",
            dependencies: [
                .product(name: "RoomClient", package: "Backline"), .product(name: "RoomClientNIO", package: "Backline"),
                .product(name: "RoomClientGRDB", package: "Backline"),
            ],
            path: "Sources")
    ]
)
