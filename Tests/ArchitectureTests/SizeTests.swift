import Testing

/// The sizes of types and files in the targets that serve: each can be read as a whole.
@Suite struct SizeTests {
    private static let mostProperties = 20
    private static let mostLines = 300

    @Test(arguments: ["RoomService", "PushServer"])
    func `no type has more than 20 stored properties`(name: String) throws {
        let target = try #require(try SourceTree().targets.first { $0.name == name })
        let counts = target.files.values.map(storedProperties).reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        #expect(counts.count > 50)
        for (type, count) in counts where count > Self.mostProperties {
            Issue.record("\(type) has \(count) stored properties")
        }
    }

    @Test(arguments: ["RoomService", "PushServer"])
    func `no file has more than 300 lines`(name: String) throws {
        let target = try #require(try SourceTree().targets.first { $0.name == name })
        for (path, text) in target.files {
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count - 1
            #expect(lines <= Self.mostLines, "\(path)")
        }
    }

    @Test func `stored properties are counted, with observers and lazy ones`() {
        let source = """
            struct Plain { let a: Int, b: [Int: (Int) -> Set<Int>]; var c = 1, d = 2 }
            final class Watched: Sendable {
                @Wrapped(by: 3) private(set) weak var a: Watched?
                var b: Int = 3 { didSet { let c = 1 } }
                var d: Int {
                    willSet { print(newValue) }
                }
                lazy var e: Int = { let f = 1; return f }()
                let (g, _): (Int, Int)
                private let h: @Sendable (Int, Int) -> Dictionary<Int, Int>
                let i =
                    if true { 1 } else { 2 }
                unowned(unsafe) let j: any Sendable
                    & AnyObject
            }
            """
        #expect(storedProperties(in: source) == ["Plain": 4, "Watched": 9])
    }

    @Test func `computed and static properties, locals and cases are not stored`() {
        let source = #"""
            actor Room {
                static let a = 1
                class var b: Int { 1 }
                private static var c: [Int] = []
                var d: Int { let e = 1; return e }
                var f: Int {
                    get { 1 }
                }
                var text: String { "let g = \(h { let i = 1; return i }) }" }
                subscript(j: Int) -> Int { var k = j; return k }
                func by(actor: Actor, struct: Int) { for case let l? in [actor.class] { print(l) } }
                // let m = 1
                let only: Int
            }
            protocol Named { var name: String { get } }
            enum Kind { case one(Int); var n: Int { 1 }; static var o = 1 }
            """#
        #expect(storedProperties(in: source) == ["Room": 1])
    }

    @Test func `nested types count for themselves, wherever they are`() {
        let source = """
            struct Outer {
                struct Inner { let a: Int; let b: Int }
                enum Kind { struct Deep { var c = 0 } }
                let inner: Inner
                func local() { struct Local { let d: Int } }
            }
            extension Outer.Inner where Self: Sendable { final class More<T: Sendable> { let e: T; let f: T } }
            """
        #expect(
            storedProperties(in: source)
                == ["Outer": 1, "Outer.Inner": 2, "Outer.Kind.Deep": 1, "Local": 1, "Outer.Inner.More": 2])
    }
}
