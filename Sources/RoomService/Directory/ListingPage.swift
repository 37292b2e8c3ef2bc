package import RoomWire

/// One page of the listing.
package struct ListingPage: Sendable {
    /// Rooms, most listeners first, then the newest.
    package var rooms: [RoomSummary]
    /// Where the next page begins; nil at the end.
    package var next: ListingCursor?
}
