import Observation
public import RoomClient

extension Room {
    /// Waits until a condition of the room holds.
    ///
    /// ```swift
    /// try await room.until { $0.requests.first?.isMine == true }
    /// ```
    ///
    /// The condition is looked at when something changes that it has read of the room or of its tracks, and once more
    /// when the time is over. `limit` is by the system's clock; time in which the machine is busy with other things counts
    /// less.
    ///
    /// - Throws: ``WaitFailure`` if the condition does not hold then, or if the task is cancelled; it describes the room.
    public func until(
        within limit: Duration = .seconds(10), file: String = #fileID, line: Int = #line,
        _ condition: @MainActor (Room) -> Bool
    ) async throws(WaitFailure) {
        let alarm = Alarm()
        let isMet = await alarm.wait(within: limit) {
            withObservationTracking {
                condition(self)
            } onChange: {
                alarm.ring()
            }
        }
        guard !isMet else { return }
        let reason = Task.isCancelled ? "the task was cancelled" : "it did not come to this within \(limit)"
        throw WaitFailure("\(file):\(line): \(reason); the room is:\n\(report)")
    }

    /// The room in words, for a test that has failed: what is shown, a line for each kind of thing.
    ///
    /// Of long lists, only the beginning is given.
    public var report: String {
        var lines = ["phase: \(phase)"]
        if let position { lines.append("position: \(position.sequence) of epoch \(position.epoch)") }
        if let details { lines.append("room: \"\(details.name)\", code \(code ?? "unknown")") }
        lines.append("me: \(me.map { "member \($0.member.rawValue), \($0.role)" } ?? "not a member")")
        let online = onlineMembers?.map(\.rawValue).sorted()
        lines.append("online: \(online.map { "\($0)" } ?? self.online.map { "\($0)" } ?? "unknown")")
        lines.append(Self.list("members", members.values.sorted { $0.id < $1.id }, describe))
        lines.append(Self.list("pool", pool, describe))
        lines.append(Self.list("requests", requests, describe))
        lines.append(Self.list("queue", queue) { "entry \($0.id.rawValue) of track \($0.track.rawValue)" })
        lines.append("playback: \(playback.map(describe) ?? "stopped")")
        lines.append(Self.list("history", history) { "\"\($0.title)\" \($0.end)" })
        lines.append(Self.list("pending", pending) { "\($0.command.name)\($0.isKept ? " (kept)" : "")" })
        return lines.map { "    \($0)" }.joined(separator: "\n")
    }

    private func describe(_ member: Member) -> String { "\(member.id.rawValue) \"\(member.name)\" \(member.role)" }

    private func describe(_ track: Track) -> String {
        let notes = [track.isMine ? "mine" : nil, track.isPending ? "pending" : nil].compactMap(\.self)
        let votes = "\(track.votes) votes\(notes.isEmpty ? "" : ", \(notes.joined(separator: ", "))")"
        return "\(track.id.rawValue) \"\(track.info.title)\" (\(votes))"
    }

    private func describe(_ playback: Playback) -> String {
        let status = playback.isPaused ? "paused" : "playing"
        return "\(status) entry \(playback.entry.rawValue) of track \(playback.track.rawValue) at \(playback.position)"
    }

    private static func list<Element>(_ name: String, _ all: [Element], _ text: (Element) -> String) -> String {
        let shown = all.prefix(10).map(text).joined(separator: ", ")
        let rest = all.count > 10 ? " and \(all.count - 10) more" : ""
        return all.isEmpty ? "\(name): none" : "\(name): \(shown)\(rest)"
    }
}
