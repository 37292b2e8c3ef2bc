import RoomClient

/// The client's store of a command: the token is remembered in the user's folder, everything else lives as long as the
/// command.
struct SessionStore: ClientStore {
    let folder: ConfigurationFolder
    let server: String
    let name: String

    func load() async throws -> StoredClient {
        StoredClient(token: try folder.load().servers[server]?.token)
    }

    func setToken(_ token: String?) async throws {
        try folder.update { configuration in
            var known = configuration.servers[server] ?? Configuration.Server()
            known.token = token
            known.name = token == nil ? known.name : name
            configuration.servers[server] = known
        }
    }

    func room(_ reference: RoomReference) async -> StoredRoom? { nil }
    func save(_ room: StoredRoom, of reference: RoomReference) async {}
    func removeRoom(_ reference: RoomReference) async {}
    func put(_ command: StoredCommand) async {}
    func removeCommand(_ ordinal: Int) async {}
}
