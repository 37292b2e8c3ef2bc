#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension Room {
    /// Sends a value to one member as JSON; returns when it is on its way to their devices.
    ///
    /// Members negotiate peer-to-peer connections with signals, for example. The server does not read them and keeps
    /// none.
    public func signal(_ value: some Encodable & Sendable, to member: MemberID) async throws(ClientError) {
        let data: Data
        do {
            data = try JSONEncoder().encode(value)
        } catch {
            throw ClientError(.badRequest, "the value cannot be written as JSON", cause: error)
        }
        try await signal(json: [UInt8](data), to: member)
    }
}

extension Signal {
    /// Reads the data as a value.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws(ClientError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(json))
        } catch {
            throw ClientError(.unreadable, "the signal has another form", cause: error)
        }
    }
}
