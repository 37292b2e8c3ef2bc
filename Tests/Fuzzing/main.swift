import Foundation
import FuzzProperties

// Runs a fuzzer under libFuzzer, which reads the arguments. The environment names the fuzzer, since libFuzzer starts
// this program again with arguments of its own.

/// libFuzzer's driver: it reads the arguments and passes one input after the other to `check`, which returns 0.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ check: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

enum Chosen {
    static let fuzzer = ProcessInfo.processInfo.environment["FUZZER"].flatMap(Fuzzer.init(rawValue:))
}

guard Chosen.fuzzer != nil else {
    print("FUZZER must be one of \(Fuzzer.allCases.map(\.rawValue).joined(separator: ", "))")
    exit(2)
}
var count = CommandLine.argc
var arguments = unsafe CommandLine.unsafeArgv
// unsafe: the arguments live as long as the program
let status = unsafe runDriver(&count, &arguments) { bytes, count in
    // unsafe: the input is valid for `count` bytes during the call
    let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    do throws(BrokenProperty) {
        try Chosen.fuzzer?.check(input)
    } catch {
        // A trap is what libFuzzer takes for a finding.
        fatalError(error.description)
    }
    return 0
}
exit(status)
