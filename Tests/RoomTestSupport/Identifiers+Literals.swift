package import RoomDomain

extension MemberID: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int) { self.init(rawValue: value) }
}

extension TrackID: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int) { self.init(rawValue: value) }
}

extension EntryID: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int) { self.init(rawValue: value) }
}
