import Testing

/// The parser of the other tests accepts valid text and refuses invalid text.
@Suite struct ParserTests {
    @Test func `the specification's example of a counter is read`() throws {
        let text = """
            # HELP http_requests_total The total number of HTTP requests.
            # TYPE http_requests_total counter
            http_requests_total{method="post",code="200"} 1027
            http_requests_total{method="post",code="400"} 3

            """
        let parsed = try ExpositionParser(Array(text.utf8))
        #expect(parsed.value("http_requests_total", ["method": "post", "code": "400"]) == 3)
    }

    @Test(arguments: [
        "a 1", "# TYPE a counter\na 1", "# TYPE a counter\n", "a 1\n# TYPE a counter\n",
        "# TYPE a counter\na -1\n", "# TYPE a counter\na 1\na 1\n", "# TYPE a counter\nb 1\n",
        "# TYPE a counter\na{b=\"c} 1\n", "# TYPE a counter\na{b=\"\\t\"} 1\n",
        "# TYPE a counter\na{b=\"c\",b=\"d\"} 1\n",
        "# TYPE a counter\na{1=\"c\"} 1\n", "# TYPE a counter\na one\n", "# TYPE a untyped\na 1\n", "# a\n",
        "# TYPE a counter\na 1\n# TYPE b counter\nb 1\n# TYPE a counter\na{b=\"c\"} 1\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
        "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n",
    ])
    func `text that is not in the format is refused`(text: String) {
        #expect(throws: ExpositionParser.Violation.self) { try ExpositionParser(Array(text.utf8)) }
    }
}
