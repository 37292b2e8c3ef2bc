package import RoomWire

/// One page of the listing.
package struct ListingPage: Sendable {
    /// The rooms, those with most listeners first, then the newest.
    package var rooms: [RoomSummary]
    /// The start of the next page; nil at the end.
    package var next: ListingCursor?
}
