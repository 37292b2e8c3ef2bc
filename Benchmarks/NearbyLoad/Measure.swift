import ArgumentParser
import CMalloc
import Foundation
import GeoSearch

/// Fills an index with the rooms of a file and runs the queries of another.
struct Measure: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Times inserts and searches, and writes the answers.")

    @Option(help: "The rooms: 16 bytes of id, latitude and longitude as doubles each.")
    var rooms: String

    @Option(help: "Where to search: latitude and longitude as doubles each.")
    var queries: String

    @Option(help: "Radii to search within, metres, comma between them.")
    var radii: String

    @Option(help: "Rooms an answer has at most.")
    var limit: Int = 50

    @Option(help: "The answers: for each query of each radius a count (UInt64), then as many ids and distances.")
    var answers: String?

    @Option(help: "Size of cells that locations are rounded to, metres; 0: not rounded.")
    var cell: Double = 0

    @Option(help: "How often each query is asked; its median time counts.")
    var rounds: Int = 3

    func run() throws {
        let rooms = try Self.records(of: rooms, size: 32).map { record in
            (record.load(UUID.self, at: 0), try Self.coordinate(record, at: 16).rounded(toCellsOf: cell).coordinate)
        }
        let origins = try Self.records(of: queries, size: 16).map { try Self.coordinate($0, at: 0) }
        let radii = radii.split(separator: ",").compactMap { Double($0) }

        let resident = try Self.residentBytes()
        var index = NearbyIndex()
        let clock = ContinuousClock()
        let inserting = clock.measure {
            for (id, coordinate) in rooms { index.place(id, at: coordinate) }
        }
        let memory = try Self.residentBytes() - resident
        guard index.count == rooms.count else { throw Defect("\(index.count) of \(rooms.count) rooms are there") }
        var figures = [
            ("inserts_s", inserting / .seconds(1)), ("bytes_per_room", Double(memory) / Double(rooms.count)),
        ]

        var written = Data()
        for radius in radii {
            // All queries run once in each round, so that no query finds its own data in the processor's caches.
            var times = Array(repeating: [Duration](), count: origins.count)
            for round in 0..<rounds {
                for (number, origin) in origins.enumerated() {
                    let start = clock.now
                    let hits = index.nearest(to: origin, within: radius, limit: limit)
                    times[number].append(clock.now - start)
                    guard round == 0, answers != nil else { continue }
                    Self.append(UInt64(hits.count), to: &written)
                    for hit in hits {
                        Self.append(hit.id.uuid, to: &written)
                        Self.append(hit.distance, to: &written)
                    }
                }
            }
            let sorted = times.map { $0.sorted()[rounds / 2] }.sorted()
            for (name, part) in [("p50", 0.5), ("p99", 0.99), ("max", 1)] {
                let time = sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
                figures.append(("\(Int(radius))_us_\(name)", time / .microseconds(1)))
            }
        }
        if let answers { try written.write(to: URL(fileURLWithPath: answers)) }

        // Move half of the rooms to the locations of others, then remove all.
        let moved = rooms.count / 2
        let moving = clock.measure {
            for number in 0..<moved { index.place(rooms[number].0, at: rooms[rooms.count - 1 - number].1) }
        }
        let removing = clock.measure {
            for (id, _) in rooms { index.remove(id) }
        }
        guard index.count == 0 else { throw Defect("\(index.count) rooms are left") }
        figures.append(("move_us", moving / .microseconds(1) / Double(moved)))
        figures.append(("remove_us", removing / .microseconds(1) / Double(rooms.count)))
        report(figures)
    }

    /// A record of a file.
    private struct Record {
        let bytes: Data

        func load<Value>(_ type: Value.Type, at offset: Int) -> Value {
            // The file's size was checked, and any bytes are valid values of the types that are read here.
            unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: offset, as: type) }
        }
    }

    private static func records(of path: String, size: Int) throws -> [Record] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        guard data.count % size == 0 else { throw Defect("\(path) is cut off") }
        return stride(from: 0, to: data.count, by: size).map { Record(bytes: data[$0..<$0 + size]) }
    }

    private static func coordinate(_ record: Record, at offset: Int) throws -> Coordinate {
        let latitude = record.load(Double.self, at: offset)
        let longitude = record.load(Double.self, at: offset + 8)
        guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
            throw Defect("\(latitude), \(longitude) is no point")
        }
        return coordinate
    }

    private static func append<Value>(_ value: Value, to data: inout Data) {
        unsafe withUnsafeBytes(of: value) { unsafe data.append(contentsOf: $0) }
    }

    /// Resident memory of this process, without free memory of the allocator, which the server returns once a minute.
    private static func residentBytes() throws -> Int {
        malloc_trim(0)
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .ascii).split(separator: " ")
        guard pages.count > 1, let resident = Int(pages[1]) else { throw Defect("/proc/self/statm reads \(pages)") }
        return resident * 4_096
    }
}
