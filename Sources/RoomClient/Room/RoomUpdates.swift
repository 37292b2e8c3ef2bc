import RoomWire
import Synchronization

/// What becomes of a room, in order, for programs without a main actor.
///
/// The room is followed for as long as the sequence or an iterator of it is held. One task iterates. A task that is
/// slower than the room gets ``RoomUpdate/reset(_:)`` in place of a long queue.
public struct RoomUpdates: AsyncSequence, Sendable {
    /// One update.
    public typealias Element = RoomUpdate
    /// Never thrown by a room that ends: ``RoomUpdate/ended(_:)`` tells of it.
    public typealias Failure = ClientError

    let follower: RoomFollower

    /// Begins with what has happened since the last update that was taken.
    public func makeAsyncIterator() -> Iterator { Iterator(follower: follower) }

    /// Takes updates one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let follower: RoomFollower

        /// The next update; nil after ``RoomUpdate/ended(_:)``, and when the task is cancelled.
        public mutating func next() async throws(ClientError) -> RoomUpdate? { await follower.next() }

        /// The next update; nil after ``RoomUpdate/ended(_:)``, and when the task is cancelled.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ClientError) -> RoomUpdate? { await follower.next() }
    }
}

/// The updates of one follower that were not taken yet.
final class RoomFollower: Sendable {
    /// The most updates that wait.
    static let mostWaiting = 256

    private struct State {
        var waiting: [RoomUpdate] = []
        var hasEnded = false
        /// What was told last of each thing that may be told twice: shown, and then confirmed.
        var told: [RoomChange.Subject: RoomChange] = [:]

        /// The changes without those that say again what was said last.
        mutating func news(among changes: [RoomChange]) -> [RoomChange] {
            changes.filter { change in
                for gone in change.gone { told[gone] = nil }
                guard let subject = change.subject else { return true }
                return told.updateValue(change, forKey: subject) != change
            }
        }
    }

    private let state = Mutex(State())
    private let bell = Bell()
    private let release: @Sendable () -> Void

    /// `release` is called when nobody holds the follower any more.
    init(release: @escaping @Sendable () -> Void) { self.release = release }

    deinit { release() }

    func push(_ update: RoomUpdate) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            var update = update
            switch update {
            // What waits is older than what the room is read anew for.
            case .reset: (state.waiting, state.told) = ([], [:])
            case .ended: state.hasEnded = true
            case .offline:
                // The answer to the next connection has these, and tells thereby that it is back.
                state.told[.membership] = nil
                state.told[.online] = nil
                if case .offline? = state.waiting.last { return }
            case .changed(let changes, let position):
                let news = state.news(among: changes)
                guard !news.isEmpty || changes.isEmpty else { return }
                update = .changed(news, through: position)
                if state.waiting.count >= Self.mostWaiting { state.waiting = [.reset(position)] }
                if case .reset? = state.waiting.last {
                    state.waiting[state.waiting.count - 1] = .reset(position)
                    return
                }
            }
            state.waiting.append(update)
        }
        bell.ring()
    }

    func next() async -> RoomUpdate? {
        repeat {
            let (update, isOver) = state.withLock { state -> (RoomUpdate?, Bool) in
                if !state.waiting.isEmpty { return (state.waiting.removeFirst(), false) }
                return (nil, state.hasEnded)
            }
            if update != nil || isOver { return update }
        } while await bell.wait()
        return nil
    }
}

extension RoomChange {
    /// What a change gives a new value.
    enum Subject: Hashable, Sendable {
        case details, queue, playback, membership, online, missing
        case member(MemberID)
        case votes(TrackID)
        case waveform(TrackID)
        case duration(TrackID)
    }

    /// What has a new value; nil for what happens once.
    var subject: Subject? {
        switch self {
        case .details: .details
        case .member(let member): .member(member.id)
        case .votes(let track, _, _): .votes(track)
        case .waveform(let track, _): .waveform(track)
        case .duration(let track, _): .duration(track)
        case .missing: .missing
        case .queue: .queue
        case .playback: .playback
        case .membership: .membership
        case .online: .online
        case .memberLeft, .tracksAdded, .tracksRemoved, .finished: nil
        }
    }

    /// What has no value any more.
    fileprivate var gone: [Subject] {
        switch self {
        case .memberLeft(let member): [.member(member)]
        case .tracksRemoved(let tracks): tracks.flatMap { [.votes($0), .waveform($0), .duration($0)] }
        case .details, .member, .votes, .waveform, .duration, .missing, .queue, .playback, .membership, .online,
            .tracksAdded, .finished:
            []
        }
    }
}
