import FoundationEssentials
import RoomDomain
import RoomService
import RoomWire
import SimulatedTime

extension World {
    /// Reads a room: the result must be the fold of its log at a position that was durable at the request or later.
    func look(at room: RoomID, _ client: Client) {
        guard let node = someNode else { return }
        look(at: room, for: client.session.id, on: node, mustWork: plan.isCalm)
    }

    /// Reads a room; with the log out of reach, the server may answer from memory.
    func look(at room: RoomID, for session: SessionID, on node: SimulatedNode, mustWork: Bool) {
        let (truth, isShared) = (truth, plan.settings.logIsShared)
        // A server with its own log does not read it: it shows the state that it knows to be durable.
        let head = isShared ? truth.head(of: room) : truth.shown(of: room)
        // While the log is being written, only the version of its head is compared.
        let keyed = isShared ? truth.keyed(of: room) : truth.keyedShown(of: room)
        let epochs = isShared && isSettling ? truth.room(room)?.epochs.count ?? 0 : 0
        send(node) {
            do throws(RoomFailure) {
                let view = try await node.host.registry.view(room, for: session)
                truth.check(view, for: session)
                truth.check(keyed: view.keyed, of: room, atLeast: keyed, mustBeKnown: mustWork)
                let known = truth.room(room)?.epochs.firstIndex(of: view.epoch) ?? -1
                if mustWork, known + 1 < epochs {
                    truth.complain("\(room) is looked at in an epoch that is over, on \(node.name)")
                }
                if view.seq < head, mustWork {
                    truth.complain("\(room) is looked at as of \(view.seq) on \(node.name), after \(head)")
                }
            } catch {
                guard !truth.hasBanned(session, from: room, as: error) else { return }
                if mustWork || error != .unavailable { truth.complain("\(room) cannot be looked at: \(error)") }
            }
        }
    }

    /// Reads a waveform that a track has: it must be there for as long as the track has it.
    func lookAtWaveform(in room: RoomID, _ client: Client) {
        guard let node = someNode else { return }
        let (head, session, truth) = (truth.head(of: room), client.session.id, truth)
        let names = truth.roomState(room).waveformNames.sorted()
        guard !names.isEmpty else { return }
        let name = names[dice.number(in: 0..<names.count)]
        send(node) {
            do throws(RoomFailure) {
                let data = try await node.host.waveforms.data(of: name, in: room, for: session)
                if let data, WaveformName(of: data) != name { truth.complain("waveform \(name) has other bytes") }
                if data == nil, truth.has(name, in: room, during: head...truth.head(of: room)) {
                    truth.complain("waveform \(name) of \(room) is not found, and a track has it")
                }
            } catch {
                guard !truth.hasBanned(session, from: room, as: error) else { return }
                if error != .unavailable { truth.complain("waveform \(name) of \(room) cannot be read: \(error)") }
            }
        }
    }

    /// Reads a past state of a room.
    func lookBack(at room: RoomID, _ client: Client) {
        guard let node = someNode else { return }
        let head = plan.settings.logIsShared ? truth.head(of: room) : truth.shown(of: room)
        let (seq, session, truth, isCalm) = (dice.number(in: 1...max(1, head)), client.session.id, truth, plan.isCalm)
        let reads = reads
        send(node) {
            reads.begin(for: session, on: node)
            defer { reads.end(for: session, on: node) }
            do throws(RoomFailure) {
                let view = try await node.host.history.view(room, at: seq, for: Asker(session, from: nil))
                if view.seq != seq { truth.complain("\(room) at \(seq) is shown at \(view.seq)") }
                truth.check(view, for: session, knowing: isCalm ? head : seq)
            } catch {
                guard !truth.hasBanned(session, from: room, as: error) else { return }
                guard !reads.areTooMany(for: session, on: node, as: error) else { return }
                // A room that cannot be compared with its log may lack events that others have seen.
                if isCalm || error == .internalFault {
                    truth.complain("\(room) cannot be looked at as of \(seq): \(error)")
                }
            }
        }
    }

    /// Reads a part of a room's log.
    func readLog(of room: RoomID, _ client: Client) {
        guard let node = someNode else { return }
        let session = client.session.id
        let (after, limit) = (dice.number(in: 0...truth.head(of: room)), dice.number(in: 1...50))
        let (truth, reads, isCalm) = (truth, reads, plan.isCalm)
        send(node) {
            reads.begin(for: session, on: node)
            defer { reads.end(for: session, on: node) }
            do throws(RoomFailure) {
                let page = try await node.host.history.events(
                    of: room, after: after, limit: limit, for: Asker(session, from: nil))
                guard let known = truth.room(room), page.seq <= known.head else {
                    return truth.complain("the log of \(room) is said to end at \(page.seq)")
                }
                let expected = known.events.dropFirst(after).prefix(max(0, min(limit, page.seq - after)))
                // The location may have been cleared during the read.
                let shown = [known.states[page.seq], known.state].map { $0.redaction.shown(Array(expected)) }
                if !known.epochs.contains(page.epoch) || !shown.contains(page.events) {
                    truth.complain("the log of \(room) after \(after) is not shown as it is")
                }
            } catch {
                guard !truth.hasBanned(session, from: room, as: error) else { return }
                guard !reads.areTooMany(for: session, on: node, as: error) else { return }
                if isCalm || error == .internalFault { truth.complain("the log of \(room) cannot be read: \(error)") }
            }
        }
    }

    /// Looks a room up by its code, and in the listing.
    func find(_ room: RoomID) {
        guard let node = someNode else { return }
        let (code, truth, isCalm) = (truth.roomState(room).code, truth, plan.isCalm)
        send(node) {
            do throws(RoomFailure) {
                let found = try await node.host.registry.resolve(.code(code))
                if found != room { truth.complain("\(code) is \(found), not \(room)") }
                let listed = try await node.host.listing.list(
                    matching: nil, from: nil, limit: 10, for: Asker(SessionID(room.uuid), from: nil))
                if listed.rooms.contains(where: { truth.room($0.id) == nil }) {
                    truth.complain("rooms are listed that are none")
                }
            } catch {
                if isCalm { truth.complain("\(room) cannot be found: \(error)") }
            }
        }
    }
}
