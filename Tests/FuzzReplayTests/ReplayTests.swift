import FuzzProperties
import Testing

struct ReplayTests {
    @Test(arguments: Fuzzer.allCases, Corpus.Part.allCases)
    func `the property holds for every input that is kept`(_ fuzzer: Fuzzer, _ part: Corpus.Part) throws {
        for input in try Corpus(fuzzer).inputs(part) {
            do throws(BrokenProperty) {
                try fuzzer.check(input.bytes)
            } catch {
                Issue.record("\(fuzzer.rawValue)/\(part.rawValue)/\(input.name): \(error)")
            }
        }
    }

    @Test(arguments: Fuzzer.allCases)
    func `every seed is understood`(_ fuzzer: Fuzzer) throws {
        let seeds = try Corpus(fuzzer).inputs(.seeds)
        #expect(!seeds.isEmpty)
        for seed in seeds {
            #expect(try fuzzer.check(seed.bytes) == .accepted, "\(fuzzer.rawValue)/\(seed.name)")
        }
    }

    @Test(arguments: Fuzzer.allCases)
    func `corpora stay small`(_ fuzzer: Fuzzer) throws {
        let inputs = try Corpus.Part.allCases.flatMap { try Corpus(fuzzer).inputs($0) }
        #expect(inputs.count <= 600)
        #expect(inputs.reduce(0) { $0 + $1.bytes.count } <= 1 << 20)
    }
}
