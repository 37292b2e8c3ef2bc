import Testing

@testable import PushServer

@Suite struct AuthenticationTests {
    private let token = "bls_" + String(repeating: "A", count: 43)
    private let other = "bls_" + String(repeating: "B", count: 43)

    @Test func `a cookie is valid only for its own host`() {
        #expect(
            Authentication.cookie(token: token, lifetimeMs: 60_000)
                == "__Host-backline_session=\(token); Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=60")
    }

    @Test func `the session's cookie is found among others`() {
        for cookies in [
            ["__Host-backline_session=\(token)"], ["a=1; __Host-backline_session=\(token);b=2"],
            ["a=1", "__Host-backline_session=\(token)"], ["a", "=", ";; __Host-backline_session=\(token) "],
        ] {
            let expected = cookies.last?.hasSuffix(" ") == true ? nil : token
            #expect(Authentication.token(authorization: nil, cookies: cookies) == expected, "\(cookies)")
        }
    }

    @Test func `no other name is read`() {
        for name in [
            "backline_session", "__Secure-backline_session", "__host-backline_session", "__Host-backline_session ",
            "\t__Host-backline_session", "__Host-Backline_session", "",
        ] {
            #expect(Authentication.token(authorization: nil, cookies: ["\(name)=\(token)"]) == nil, "\(name)")
        }
        // A foreign cookie, at any position, changes nothing.
        let mixed = "backline_session=\(other); __Host-backline_session=\(token); backline_session=\(other)"
        #expect(Authentication.token(authorization: nil, cookies: [mixed]) == token)
    }

    @Test func `several cookies of this name are all ignored`() {
        for cookies in [
            ["__Host-backline_session=\(token); __Host-backline_session=\(other)"],
            ["__Host-backline_session=\(token)", "__Host-backline_session=\(token)"],
            ["__Host-backline_session=; __Host-backline_session=\(token)"],
            ["__Host-backline_session=\(token); __Host-backline_session="],
        ] {
            #expect(Authentication.token(authorization: nil, cookies: cookies) == nil, "\(cookies)")
        }
        let both = ["__Host-backline_session=\(token); __Host-backline_session=\(other)"]
        #expect(Authentication.token(authorization: "Bearer \(other)", cookies: both) == other)
    }
}
