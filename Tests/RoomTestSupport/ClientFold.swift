import Foundation
package import RoomWire

/// A client that knows only the protocol: it folds the JSON that it receives.
///
/// It is written from the protocol only, so that it and the server's fold check each other.
package struct ClientFold {
    package typealias Object = [String: JSONValue]

    package private(set) var epoch = ""
    package private(set) var seq = 0
    /// `State` of the protocol.
    package private(set) var state: Object = [:]
    /// `You` of the protocol; nil for a session that is not a member.
    package private(set) var you: Object?
    /// The faults in the received messages.
    package private(set) var complaints: [String] = []

    package init() {}

    /// The state in a form that can be compared.
    package var stateValue: JSONValue { Self.value(self.state) }
    package var youValue: JSONValue? { self.you.map(Self.value) }

    /// Handles one message from the server.
    package mutating func receive(_ bytes: [UInt8]) throws {
        let message = try JSONValue(parsing: bytes).object?.byName ?? [:]
        switch message["type"]?.string {
        case "snapshot":
            self.epoch = message["epoch"]?.string ?? ""
            self.seq = self.integer(message, "seq")
            self.state = message["state"]?.object?.byName ?? [:]
            self.you = message["you"]?.object?.byName
        case "resumed":
            if message["epoch"]?.string != self.epoch { self.complaints.append("resumed in another epoch") }
            if self.integer(message, "seq") < self.seq { self.complaints.append("resumed before \(self.seq)") }
            self.you = message["you"]?.object?.byName
        case "delta":
            let events = message["events"]?.array ?? []
            let (from, seq) = (self.integer(message, "from"), self.integer(message, "seq"))
            if from != self.seq + 1 { self.complaints.append("a delta from \(from) after \(self.seq)") }
            if seq - from + 1 != events.count { self.complaints.append("\(events.count) events in \(from)…\(seq)") }
            for event in events { self.fold(event.object?.byName ?? [:]) }
            if seq != self.seq { self.complaints.append("a delta to \(seq) ends at \(self.seq)") }
        default: self.complaints.append("a message of type \(String(describing: message["type"]))")
        }
    }

    /// Handles the result of its own `join`.
    package mutating func joined(as member: Int64) {
        guard self.you == nil else { return }
        let entry = self.objects("members").first { $0["member"] == .integer(member) }
        self.you = ["member": .integer(member), "role": entry?["role"] ?? .null, "votes": .array([])]
    }

    // MARK: Folding

    private mutating func fold(_ event: Object) {
        let seq = self.integer(event, "seq")
        if seq != self.seq + 1 { self.complaints.append("event \(seq) after \(self.seq)") }
        self.seq = seq
        let at = event["at"] ?? .null
        switch event["type"]?.string ?? "" {
        case "roomCreated":
            self.state = event.filter { !["seq", "at", "type"].contains($0.key) }
            self.state["createdAt"] = at
            self.state["playback"] = .object(JSONObject([.init(name: "status", value: .string("stopped"))]))
            for list in ["members", "pool", "requests", "queue", "history"] { self.state[list] = .array([]) }
        case "memberJoined":
            var member = event.filter { ["member", "name", "role"].contains($0.key) }
            member["joinedAt"] = at
            self.set("members", self.objects("members") + [member])
        case "memberLeft":
            self.set("members", self.objects("members").filter { $0["member"] != event["member"] })
            for vote in event["votes"]?.array ?? [] { self.setVotes(vote.object?.byName ?? [:]) }
            if let skipVotes = event["skipVotes"] {
                self.setSkipVotes(skipVotes) { voters in voters.removeAll { event["member"] == .integer($0) } }
            }
            if self.you?["member"] == event["member"] { self.you = nil }
        case "memberRenamed": self.change("members", "member", event) { $0["name"] = event["name"] }
        case "roleChanged":
            self.change("members", "member", event) { $0["role"] = event["role"] }
            if self.you?["member"] == event["member"] { self.you?["role"] = event["role"] }
        case "roomUpdated":
            if event["locationCleared"] == .bool(true) { self.state["location"] = nil }
            for name in ["name", "location", "visibility", "settings"] {
                if let value = event[name] { self.state[name] = value }
            }
        case "roomClosed": self.foldClosing(event, at)
        case "memberBanned", "memberUnbanned": break
        case "tracksAdded", "tracksRemoved", "voteCast", "voteWithdrawn", "votesCleared": self.foldPool(event)
        case "waveformSet": self.change("pool", "track", event) { $0["waveform"] = event["waveform"] }
        case "durationSet": self.change("pool", "track", event) { $0["durationMs"] = event["durationMs"] }
        case "missingSet":
            let missing = event["tracks"]?.array ?? []
            self.set(
                "pool",
                self.objects("pool").map { track in
                    var track = track
                    track["missing"] = missing.contains(track["track"] ?? .null) ? .bool(true) : nil
                    return track
                })
        case "skipVoteCast":
            self.setSkipVotes(event["skipVotes"] ?? .null) { voters in
                voters.append(event["by"]?.integer ?? 0)
                voters.sort()
            }
        case "skipVoteWithdrawn":
            self.setSkipVotes(event["skipVotes"] ?? .null) { voters in
                voters.removeAll { event["by"] == .integer($0) }
            }
        case "entryEnqueued", "entryRemoved", "entryMoved": self.foldQueue(event)
        case "playbackStarted", "playbackPaused", "playbackResumed", "playbackSeeked", "playbackStopped",
            "entryFinished":
            self.foldPlayback(event)
        default: self.complaints.append("an event of type \(String(describing: event["type"]))")
        }
    }

    private mutating func foldClosing(_ event: Object, _ at: JSONValue) {
        self.state["closedAt"] = self.state["closedAt"] ?? at
        guard event["forget"] == .bool(true) else { return }
        self.state["location"] = nil
        self.set("members", self.objects("members").map { $0.merging(["name": .string("-")]) { $1 } })
    }

    private mutating func foldPool(_ event: Object) {
        switch event["type"]?.string {
        case "tracksAdded":
            let added = (event["tracks"]?.array ?? []).map { value in
                var track = value.object?.byName ?? [:]
                track["addedBy"] = event["by"]
                track["votes"] = .integer(0)
                return track
            }
            let pool = (self.objects("pool") + added).map { track in
                (title: Self.sortKey(track["title"]?.string ?? ""), number: track["track"]?.integer ?? 0, track)
            }
            let sorted = pool.sorted { left, right in
                left.title == right.title
                    ? left.number < right.number : left.title.lexicographicallyPrecedes(right.title)
            }
            self.set("pool", sorted.map { $0.2 })
        case "tracksRemoved":
            let gone = event["tracks"]?.array ?? []
            self.set("pool", self.objects("pool").filter { !gone.contains($0["track"] ?? .null) })
            self.set("queue", self.objects("queue").filter { !gone.contains($0["track"] ?? .null) })
            self.sortRequests()
            self.changeOwnVotes { votes in votes.removeAll { gone.contains(.integer($0)) } }
        case "votesCleared":
            self.setVotes(["track": event["track"] ?? .null, "votes": .integer(0)])
            self.changeOwnVotes { votes in votes.removeAll { event["track"] == .integer($0) } }
        default:
            self.setVotes(event)
            guard self.you?["member"] == event["by"], let track = event["track"]?.integer else { return }
            let isCast = event["type"]?.string == "voteCast"
            self.changeOwnVotes { votes in
                votes.removeAll { $0 == track }
                if isCast { votes.append(track) }
            }
        }
    }

    private mutating func foldQueue(_ event: Object) {
        var queue = self.objects("queue")
        let place = queue.firstIndex { $0["entry"] == event["entry"] }
        let index = self.integer(event, "index")
        switch event["type"]?.string {
        case "entryEnqueued":
            var entry = event.filter { ["entry", "track"].contains($0.key) }
            entry["addedBy"] = event["by"]
            queue.insert(entry, at: index)
        case "entryMoved": if let place { queue.insert(queue.remove(at: place), at: index) }
        default: if let place { queue.remove(at: place) }
        }
        self.set("queue", queue)
    }

    private mutating func foldPlayback(_ event: Object) {
        var playback = self.state["playback"]?.object?.byName ?? [:]
        switch event["type"]?.string {
        case "playbackStarted":
            self.set("queue", self.objects("queue").filter { $0["entry"] != event["entry"] })
            playback = event.filter { ["entry", "track", "positionMs", "atMs"].contains($0.key) }
            playback["status"] = .string("playing")
            playback["startedBy"] = event["by"]
            playback["startedAt"] = event["startedAt"] ?? event["at"]
            playback["startedSeq"] = event["seq"]
            playback["skipVotes"] = .integer(0)
        case "entryFinished":
            let track = self.objects("pool").first { $0["track"] == event["track"] }
            var entry = event.filter { ["entry", "track", "reason", "startedAt", "playedMs"].contains($0.key) }
            entry["title"] = track?["title"]
            entry["artist"] = track?["artist"]
            entry["endedAt"] = event["endedAt"] ?? event["at"]
            self.set("history", Array(([entry] + self.objects("history")).prefix(50)))
            playback = ["status": .string("stopped")]
        case "playbackStopped": playback = ["status": .string("stopped")]
        default:
            playback["positionMs"] = event["positionMs"]
            playback["atMs"] = event["atMs"]
            if event["type"]?.string == "playbackPaused" { playback["status"] = .string("paused") }
            if event["type"]?.string == "playbackResumed" { playback["status"] = .string("playing") }
        }
        self.state["playback"] = Self.value(playback)
    }

    private mutating func setSkipVotes(_ skipVotes: JSONValue, _ change: (inout [Int64]) -> Void) {
        var playback = self.state["playback"]?.object?.byName ?? [:]
        playback["skipVotes"] = skipVotes
        var voters = (playback["skipVoters"]?.array ?? []).compactMap(\.integer)
        change(&voters)
        playback["skipVoters"] = voters.isEmpty ? nil : .array(voters.map(JSONValue.integer))
        self.state["playback"] = Self.value(playback)
    }

    // MARK: Parts

    private mutating func setVotes(_ counted: Object) {
        self.change("pool", "track", counted) { track in
            track["votes"] = counted["votes"]
            track["requestedSeq"] = counted["requestedSeq"]
        }
        self.sortRequests()
    }

    private mutating func sortRequests() {
        let requested = self.objects("pool").filter { self.integer($0, "votes") > 0 }
        let sorted = requested.sorted { left, right in
            (-self.integer(left, "votes"), self.integer(left, "requestedSeq"))
                < (-self.integer(right, "votes"), self.integer(right, "requestedSeq"))
        }
        self.state["requests"] = .array(sorted.compactMap { $0["track"] })
    }

    private mutating func changeOwnVotes(_ change: (inout [Int64]) -> Void) {
        guard self.you != nil else { return }
        var votes = (self.you?["votes"]?.array ?? []).compactMap(\.integer)
        change(&votes)
        self.you?["votes"] = .array(votes.sorted().map(JSONValue.integer))
    }

    private mutating func change(_ list: String, _ key: String, _ event: Object, _ change: (inout Object) -> Void) {
        var objects = self.objects(list)
        for index in objects.indices where objects[index][key] == event[key] { change(&objects[index]) }
        self.set(list, objects)
    }

    private func objects(_ list: String) -> [Object] {
        (self.state[list]?.array ?? []).map { $0.object?.byName ?? [:] }
    }

    private mutating func set(_ list: String, _ objects: [Object]) {
        self.state[list] = .array(objects.map(Self.value))
    }

    private func integer(_ object: Object, _ name: String) -> Int { Int(object[name]?.integer ?? 0) }

    private static func value(_ object: Object) -> JSONValue {
        .object(JSONObject(object.map { JSONObject.Member(name: $0.key, value: $0.value) }))
    }

    /// NFC, each scalar lowercased by itself.
    private static func sortKey(_ title: String) -> [UInt32] {
        title.precomposedStringWithCanonicalMapping.unicodeScalars.flatMap { scalar in
            scalar.properties.lowercaseMapping.unicodeScalars.map(\.value)
        }
    }
}
