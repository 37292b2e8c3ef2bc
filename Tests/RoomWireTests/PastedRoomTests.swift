import RoomTestSupport
import RoomWire
import Testing

@Suite struct PastedRoomTests {
    @Test func `the room of a text is read as the table has it`() throws {
        for row in try RoomLinks.all().texts {
            #expect(PastedRoom(row.text)?.reference.text == row.room, "\(row)")
        }
    }

    @Test func `the room of an address is read as the table has it`() throws {
        for row in try RoomLinks.all().addresses {
            #expect(PastedRoom(row.path)?.reference.text == row.room, "\(row)")
        }
    }

    @Test func `a link without a scheme names its server, and a path none`() {
        #expect(PastedRoom("Look: (party.example:8443/r/7KQ2ZM)")?.server == "party.example:8443")
        #expect(PastedRoom("/r/7KQ2ZM")?.server == nil)
        #expect(PastedRoom("7KQ2ZM")?.server == nil)
    }
}
