extension ClientResponse {
    /// A server's answer to a handshake, where the system keeps the head of such an answer only.
    ///
    /// The body is the problem that the status stands for in an answer to a handshake (protocol, section 3). It stays
    /// empty where the answer is no problem by its `Content-Type`: a proxy gave it, and it says nothing of the session or
    /// the room.
    init(refusal status: Int, type: String?, retryAfter: String?) {
        self.init(status: status)
        guard type?.lowercased().hasPrefix("application/problem+json") == true else { return }
        let code: ClientError.Code =
            switch status {
            case 401: .unauthorized
            // Only browsers name an origin; the other 403 is for those who are banned.
            case 403: .banned
            case 404: .notFound
            case 429: .rateLimited
            default: status >= 500 ? .unavailable : .badRequest
            }
        let wait = retryAfter.flatMap { Int($0) }.map { #","retryAfterMs":\#(min(max($0, 0), 86_400) * 1_000)"# } ?? ""
        body = [UInt8](
            #"{"title":"","status":\#(status),"code":"\#(code)","detail":"the server refused the socket"\#(wait)}"#.utf8
        )
    }
}
