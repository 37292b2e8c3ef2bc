import Testing

@testable import PushServer

/// The fields by which a client says which form of a file it takes and which it has.
@Suite struct ConditionalRequestTests {
    @Test(arguments: [
        ([], false), ([""], false), (["gzip"], true), (["deflate, gzip, br"], true), (["GZIP"], true),
        (["x-gzip"], true), (["br"], false), (["identity"], false), (["br", "gzip;q=0.5"], true), (["*"], true),
        (["gzip;q=0"], false), (["gzip;q=0.000, *"], false), (["*;q=0"], false), (["gzip; q=0.001"], true),
        (["gzip;q=1.000"], true), (["identity;q=0.5, gzip;q=0.4"], false), (["identity;q=0.5, gzip;q=0.5"], true),
        (["identity, gzip;q=0.9"], false), (["identity;q=0, gzip"], true), (["identity;q=0"], false),
        (["br, *;q=0.1"], true), (["gzip;Q=0.3"], true), (["gzip ; q=0.3"], true), (["gzip\t;\tq=0"], false),
        // Weights that cannot be read.
        (["gzip;q=2"], false), (["gzip;q=1.001"], false), (["gzip;q=-1"], false), (["gzip;q="], false),
        (["gzip;q=0.1234"], false), (["gzip;q=.5"], false), (["gzip;x=1"], false), (["gzip;q=1;q=0"], false),
        (["gzip;q=1e0"], false), (["gzipped"], false), ([",,;,gzip,"], true),
    ])
    func `gzip is chosen where it is acceptable and not less wanted than no coding`(fields: [String], isChosen: Bool) {
        #expect(ContentCoding.prefersGzip(fields) == isChosen)
    }

    @Test(arguments: [
        ([], false), ([""], false), ([#""a""#], true), ([#"W/"a""#], true), (["*"], true), ([" * "], false),
        (["\t*"], true), ([#""b", "a""#], true), ([#""b","a""#], true), ([#""b"  ,  W/"a" , "c""#], true),
        ([#""b""#, #""a""#], true), ([#""A""#], false), (["a"], false), ([#""a"#], false), ([#""a-gzip""#], false),
        ([#"w/"a""#], false), ([#""x,"a""#], false), ([#""x,","a""#], true), ([#""b" "a""#], true),
        (["b, \"a\""], false),
        ([#"*, "b""#], false), ([",,"], false), (["\"\""], false),
    ])
    func `a tag is found in a list, weak or strong`(fields: [String], isFound: Bool) {
        #expect(EntityTag.matches(#""a""#, fields) == isFound)
    }
}
