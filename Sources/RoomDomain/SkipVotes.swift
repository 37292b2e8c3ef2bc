/// Counts the votes to skip what is on air.
///
/// The page counts by the same rule; `Tests/Tables/skip-votes.json` has what comes of it.
package enum SkipVotes {
    /// The votes that count: those of members who are online.
    package static func counted<Member: Hashable>(_ voters: some Collection<Member>, online: Set<Member>) -> Int {
        voters.count(where: online.contains)
    }

    /// The votes that count, as far as a client knows.
    ///
    /// Some servers name no voters, only their number `votes`; and nobody who is `online` in a large room: then all count.
    /// `me` is the member who asks, who is there.
    package static func counted<Member: Hashable>(
        _ voters: some Collection<Member>, of votes: Int, online: Set<Member>?, me: Member?
    ) -> Int {
        guard let online, voters.count == votes else { return votes }
        return counted(voters, online: me.map { online.union([$0]) } ?? online)
    }

    /// The number of votes that skips: a fraction of the online members, rounded up, at least one.
    package static func needed(ratio: Double, online: Int) -> Int {
        // A product that is a whole number except for rounding errors of its factors counts as whole.
        max(1, Int((ratio * Double(online) - 1e-9).rounded(.up)))
    }
}
