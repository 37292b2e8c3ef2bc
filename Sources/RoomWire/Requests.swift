import ByteText
package import GeoSearch
package import RoomDomain

/// The body of `POST /v1/sessions` and `PATCH /v1/session`.
package struct SessionRequest: Sendable, Equatable {
    /// The name as it was sent: neither trimmed nor checked.
    package var name: String

    package init(name: String) {
        self.name = name
    }

    /// Writes the body: `{"name":…}`.
    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("name", name)
        writer.endObject()
        return writer.bytes
    }

    /// Reads `{"name":…}`.
    package static func parse(_ body: Span<UInt8>) throws(MessageViolation) -> SessionRequest {
        let fields = try JSONFields(message: body)
        do throws(FieldViolation) {
            return SessionRequest(name: try fields.string("name"))
        } catch {
            throw MessageViolation(error)
        }
    }

    /// Reads `{"name":…}`.
    package static func parse(_ body: [UInt8]) throws(MessageViolation) -> SessionRequest {
        try Self.parse(body.contiguous.span)
    }
}

/// The body of `POST /v1/rooms`.
package struct CreateRoomRequest: Sendable, Equatable {
    /// The name as it was sent: neither trimmed nor checked.
    package var name: String
    /// The room's location, not yet rounded.
    package var location: Coordinate?
    /// The room's visibility; if it is left out, the server chooses.
    package var visibility: Visibility?
    /// The settings that differ from the defaults.
    package var settings: SettingsUpdate

    package init(
        name: String, location: Coordinate? = nil, visibility: Visibility? = nil,
        settings: SettingsUpdate = SettingsUpdate()
    ) {
        self.name = name
        self.location = location
        self.visibility = visibility
        self.settings = settings
    }

    /// Writes the body: `{"name","location"?,"visibility"?,"settings"?}`.
    ///
    /// - Precondition: the numbers in the request are finite; JSON has no others.
    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("name", name)
        writer.member("location", location)
        writer.member("visibility", choice: visibility)
        writer.member("settings", settings)
        writer.endObject()
        return writer.bytes
    }

    /// Reads `{"name","location"?,"visibility"?,"settings"?}`.
    package static func parse(_ body: Span<UInt8>) throws(MessageViolation) -> CreateRoomRequest {
        let fields = try JSONFields(message: body)
        do throws(FieldViolation) {
            return CreateRoomRequest(
                name: try fields.string("name"),
                location: try fields.locationIfPresent("location", at: "location"),
                visibility: try fields.choiceIfPresent("visibility"),
                settings: try fields.settingsUpdate("settings", at: "settings"))
        } catch {
            throw MessageViolation(error)
        }
    }

    /// Reads `{"name","location"?,"visibility"?,"settings"?}`.
    package static func parse(_ body: [UInt8]) throws(MessageViolation) -> CreateRoomRequest {
        try Self.parse(body.contiguous.span)
    }

    /// A hash of the request, as stable as ``CommandJSON/fingerprint(_:)``, stored with its idempotency key.
    package var fingerprint: Int64 {
        var update = RoomUpdate()
        update.name = self.name
        update.location = self.location
        update.visibility = self.visibility
        update.settings = self.settings
        return CommandJSON.fingerprint(.updateRoom(update))
    }
}
