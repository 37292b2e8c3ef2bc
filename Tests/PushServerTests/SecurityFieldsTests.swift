import HTTPTypes
import Testing

@testable import PushServer

@Suite struct SecurityFieldsTests {
    private func text(_ policy: AnswerPolicy, isSecure: Bool = false) -> [String] {
        SecurityFields(policy, isSecure: isSecure).fields.map { "\($0.name): \($0.value)" }
    }

    @Test func `JSON is not cached, loads nothing and cannot be framed`() {
        #expect(
            text(.data, isSecure: true) == [
                "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cache-Control: no-store",
                "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
                "Strict-Transport-Security: max-age=31536000",
            ])
    }

    @Test(arguments: [
        (AnswerPolicy.Caching.never, "no-store"), (.revalidated, "no-cache"),
        (.immutable, "public, max-age=31536000, immutable"),
        (.privateImmutable, "private, max-age=31536000, immutable"),
    ])
    func `a page loads only the server's own resources and may be cached`(caching: AnswerPolicy.Caching, field: String)
    {
        #expect(
            text(.page(caching)) == [
                "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cache-Control: \(field)",
                "Content-Security-Policy: default-src 'self'; img-src 'self' blob:; media-src blob:; "
                    + "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                    + "require-trusted-types-for 'script'; trusted-types backline",
                "Permissions-Policy: geolocation=(self), screen-wake-lock=(self), autoplay=(self), microphone=(), "
                    + "camera=()",
                "Cross-Origin-Opener-Policy: same-origin",
            ])
    }

    @Test func `fields of an answer are kept, and missing ones are added`() throws {
        var answer: HTTPFields = [.cacheControl: "max-age=5", .contentType: "text/html"]
        SecurityFields(.page(.revalidated), isSecure: true).add(to: &answer)
        #expect(answer[.cacheControl] == "max-age=5")
        #expect(
            answer.map(\.name.rawName).sorted() == [
                "Cache-Control", "Content-Security-Policy", "Content-Type", "Cross-Origin-Opener-Policy",
                "Permissions-Policy", "Referrer-Policy", "Strict-Transport-Security", "X-Content-Type-Options",
            ])
        let once = answer
        // The fields of the connection itself follow.
        SecurityFields(isSecure: true).add(to: &answer)
        #expect(answer == once)
    }
}
