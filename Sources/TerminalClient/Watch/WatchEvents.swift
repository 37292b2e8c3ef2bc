import Observation
import RoomClient

/// Everything that a watched room, the connection and the terminal tell, in one row.
@MainActor final class WatchEvents {
    enum Event: Sendable {
        /// The room is at another stage or position, or its commands are.
        case changed
        /// Tracks have come or gone.
        case pool
        /// Members have come or gone, or are here or not.
        case members
        case update(RoomUpdate)
        case fault(TransportFault)
        /// The client connects no more.
        case ended(ClientError?)
        case terminal(FullScreen.Event)
        /// The moment of a number has come.
        case tick(Int)
        case draw
        /// Nothing has followed the escape byte of this number.
        case settle(Int)
        case waveform(WaveformName, Waveform?)
        /// What a key has led to.
        case notice(String?)
    }

    let stream: AsyncStream<Event>
    private nonisolated let continuation: AsyncStream<Event>.Continuation
    let session: TerminalSession
    let reference: RoomReference
    let room: Room

    init(_ session: TerminalSession, _ reference: RoomReference) {
        (stream, continuation) = AsyncStream.makeStream()
        self.session = session
        self.reference = reference
        room = session.client.room(reference)
    }

    /// Begins to tell what the room and the connection do.
    func start(in group: inout DiscardingTaskGroup) {
        let (continuation, session, reference) = (continuation, session, reference)
        group.addTask {
            do throws(ClientError) {
                try await session.client.run()
                continuation.yield(.ended(nil))
            } catch {
                continuation.yield(.ended(error))
            }
        }
        let updates = session.client.follow(reference)
        group.addTask {
            do throws(ClientError) {
                for try await update in updates { continuation.yield(.update(update)) }
            } catch {
                continuation.yield(.ended(error))
            }
        }
        group.addTask {
            for await fault in session.faults.stream { continuation.yield(.fault(fault)) }
        }
        observeStage()
        observePool()
        observeMembers()
    }

    nonisolated func tell(_ event: Event) { continuation.yield(event) }

    /// Tells an event after a time.
    func tell(_ event: Event, after time: Duration, in group: inout DiscardingTaskGroup) {
        let continuation = continuation
        group.addTask {
            guard (try? await Task.sleep(for: time, tolerance: .milliseconds(2))) != nil else { return }
            continuation.yield(event)
        }
    }

    /// Does something beside, and tells what became of it.
    func tell(in group: inout DiscardingTaskGroup, _ work: @escaping @Sendable () async -> Event) {
        let continuation = continuation
        group.addTask { continuation.yield(await work()) }
    }

    /// Passes on what a terminal tells.
    func follow(_ screen: FullScreen, in group: inout DiscardingTaskGroup) {
        let (continuation, events) = (continuation, screen.events)
        group.addTask { for await event in events { continuation.yield(.terminal(event)) } }
    }

    // An observation tells of one change, and is made again by whoever has taken the event.

    func observeStage() {
        let continuation = continuation
        withObservationTracking {
            _ = (room.phase, room.position, room.pending.count)
        } onChange: {
            continuation.yield(.changed)
        }
    }

    func observePool() {
        let continuation = continuation
        withObservationTracking {
            _ = room.pool
        } onChange: {
            continuation.yield(.pool)
        }
    }

    func observeMembers() {
        let continuation = continuation
        withObservationTracking {
            _ = (room.members, room.onlineMembers, room.online)
        } onChange: {
            continuation.yield(.members)
        }
    }
}
