package import RoomDomain
package import RoomWire

/// How one room is followed: from the position of its replica, over any number of connections.
package struct Following: Sendable {
    /// The stage, as an app shows it.
    package enum Phase: Sendable, Equatable {
        /// The room is not known yet, and the server is or will be asked.
        case connecting
        /// The replica is what the server has shown last.
        case live
        /// The server has answered, and events up to this number are on their way.
        case catchingUp(to: Int)
        /// There is a replica, and no connection.
        case offline
        /// The room is not followed any more: its end, a ban, or no such room.
        case ended(Refusal)
    }

    package enum Step: Equatable, Sendable {
        /// Ask the room, from this position.
        case ask(Position?)
        /// The replica has changed.
        case changed([RoomChange])
        /// The replica has begun another epoch, or its first one.
        case began
        /// The room has answered a question: its count of keyed commands, nil if the server does not know it.
        case answered(keyed: Int?)
        /// The phase is another one.
        case phase(Phase)
    }

    /// The time after which a room that does not answer now is asked again, beside a random part.
    static let askAgainMs: Int64 = 1_000

    /// A question on this connection.
    enum Question: Sendable, Equatable {
        case none
        /// The socket was opened for the room, which is the question.
        case opening
        case asked(Int64)
        /// It was not answered for now.
        case again(at: ClientInstant)
    }

    /// The room, as the app names it.
    package let reference: RoomReference
    /// The room; nil before the first snapshot.
    package internal(set) var replica: Replica?
    /// The stage, as an app shows it.
    package internal(set) var phase: Phase
    var question = Question.none
    var isConnected = false
    /// Who the client is by the newest answer to its own `join`; nil once the room, which has shown other, was asked.
    var joinedAs: MemberID?

    package init(_ reference: RoomReference) {
        self.reference = reference
        phase = .connecting
    }

    /// Takes the room as it was kept, where nothing newer is known and the server was not asked yet.
    package mutating func adopt(_ stored: StoredRoom) -> [Step] {
        guard replica == nil, question == .none, !hasEnded else { return [] }
        replica = Replica(stored)
        return [.began, .changed([.reset])] + turn(to: .offline)
    }

    /// The room's identifier; nil if it is not known yet.
    package var id: RoomID? {
        if let replica { return replica.id }
        return if case .id(let id) = reference { id } else { nil }
    }

    /// Whether the server has shown the room on this connection.
    var isAnswered: Bool {
        switch phase {
        case .live, .catchingUp: true
        case .connecting, .offline, .ended: false
        }
    }

    /// Whether the room is followed no more.
    package var hasEnded: Bool { if case .ended = phase { true } else { false } }

    /// The next moment at which the room has to be asked; nil if there is none.
    package var due: ClientInstant? { if case .again(let at) = question { at } else { nil } }

    // MARK: The connection

    /// A connection is open; `isAsked`: it was opened for this room and from its position.
    package mutating func connected(isAsked: Bool) -> [Step] {
        guard !hasEnded else { return [] }
        isConnected = true
        guard isAsked else { return ask() }
        question = .opening
        return []
    }

    /// The connection is lost.
    package mutating func disconnected() -> [Step] {
        isConnected = false
        question = .none
        return hasEnded ? [] : turn(to: replica == nil ? .connecting : .offline)
    }

    /// Asks the room again, unless a question is open.
    package mutating func ask() -> [Step] {
        guard isConnected, !hasEnded else { return [] }
        switch question {
        case .opening, .asked: return []
        case .none, .again: return [.ask(replica?.position)]
        }
    }

    /// The question was sent under this `id`.
    package mutating func asked(_ id: Int64) { question = .asked(id) }

    /// Asks again, if it is time.
    package mutating func tick(at now: ClientInstant) -> [Step] {
        guard case .again(let at) = question, at <= now else { return [] }
        return ask()
    }

    /// Whether the room is waited for under this `id`.
    package func awaits(_ re: Int64?) -> Bool { re.map { question == .asked($0) } ?? false }
}
