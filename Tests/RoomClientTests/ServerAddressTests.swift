import RoomClient
import RoomTestSupport
import Testing

/// How people name a server.
@Suite struct ServerAddressTests {
    @Test func `names that mean this very device lead nobody else there, as the table says`() throws {
        let table = try Table.read("loopback", as: [String: [String]].self)
        #expect(table.keys.sorted() == ["others", "this device"])
        for (kind, hosts) in table {
            #expect(!hosts.isEmpty)
            for host in hosts {
                let address = try #require(ServerAddress(host.contains(":") ? "[\(host)]:8443" : "\(host):8443"))
                #expect(address.isLoopback == (kind == "this device"), "\(host)")
            }
        }
    }

    @Test(arguments: ["party.example", "party.localhost", "127.0.0.2", "0.0.0.0"])
    func `a token crosses no network in plain text`(host: String) {
        #expect(ServerAddress("http://\(host)") == nil)
    }
}
