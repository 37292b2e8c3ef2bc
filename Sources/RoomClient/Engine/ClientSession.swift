import RoomDomain
import RoomWire
import Synchronization

/// The session's token, and HTTP requests under it.
actor ClientSession {
    private let server: ServerAddress
    private let transport: any ClientTransport
    private let store: any ClientStore
    private let credentials: Credentials
    private var token: String?
    private var making: Task<String, any Error>?

    init(server: ServerAddress, credentials: Credentials, transport: any ClientTransport, store: any ClientStore) {
        self.server = server
        self.transport = transport
        self.store = store
        self.credentials = credentials
        if case .token(let token) = credentials.kind { self.token = token }
    }

    /// Begins with the token that was kept.
    func begin(with stored: String?) {
        guard case .guest = credentials.kind else { return }
        token = stored
    }

    /// The session is over: a guest becomes another one.
    func forget() async throws {
        guard case .guest = credentials.kind else { return }
        token = nil
        try await store.setToken(nil)
    }

    /// The token; a guest's session is made when there is none, once however many ask.
    func currentToken() async throws(ClientError) -> String {
        if let token { return token }
        guard case .guest(let name) = credentials.kind else {
            throw ClientError(.unauthorized, "there is no token")
        }
        let task = making ?? Task { try await self.makeSession(name: name) }
        making = task
        let result = await task.result
        making = nil
        switch result {
        case .success(let token): return token
        case .failure(let error):
            throw error as? ClientError ?? ClientError(.store, "the session could not be kept", cause: error)
        }
    }

    private func makeSession(name: String) async throws -> String {
        if token == nil, let kept = try await store.load().token { token = kept }
        if let token { return token }
        let response = try await send("POST", "/v1/sessions", body: SessionRequest(name: name).encoded(), token: nil)
        guard let made = try? HTTPBody.SessionAnswer.parse(response), let token = made.token else {
            throw ClientError(.unreadable, "the server's answer is no session")
        }
        try await store.setToken(token)
        self.token = token
        return token
    }

    /// Sends a request under the session, and returns the body of a successful answer.
    nonisolated func send(
        _ method: String, _ target: String, body: [UInt8]? = nil, key: CommandKey? = nil,
        accepts: String = "application/json"
    ) async throws(ClientError) -> [UInt8] {
        try await send(method, target, body: body, key: key, accepts: accepts, token: await currentToken())
    }

    private nonisolated func send(
        _ method: String, _ target: String, body: [UInt8]? = nil, key: CommandKey? = nil,
        accepts: String = "application/json", token: String?
    ) async throws(ClientError) -> [UInt8] {
        var request = ClientRequest(method, target, at: server, body: body)
        request.fields["accept"] = accepts
        if body != nil { request.fields["content-type"] = "application/json" }
        if let token { request.fields["authorization"] = "Bearer \(token)" }
        if let key { request.fields["idempotency-key"] = key.description }
        let response: ClientResponse
        do throws(TransportFault) {
            response = try await transport.send(request)
        } catch {
            throw ClientError(error)
        }
        guard (200..<300).contains(response.status) else { throw ClientError(response) }
        return response.body
    }
}
