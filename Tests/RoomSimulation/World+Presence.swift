import NIOCore
import RoomDomain
import RoomService
import SimulatedTime

/// A member who lost the connection to a server, which must not show the member as offline for a while.
struct LostConnection {
    var node: SimulatedNode
    var room: RoomID
    var member: MemberID
    /// The epoch of the room's log.
    var epoch: String
    /// The end of the grace, in nanoseconds.
    var until: Int64
}

extension World {
    /// Records that a client lost a connection, if the server had told it that it is online.
    func noteLoss(of connection: Client.Connection, by client: Client) {
        let room = connection.room
        guard connection.isFollowing, !connection.isCatchingUp,
            let member = truth.roomState(room).memberOfSession[client.session.id], connection.online.contains(member),
            let epoch = truth.room(room)?.epoch, client.positions[room]?.epoch == epoch
        else { return }
        lost.removeAll { $0.until <= scheduler.now }
        lost.append(
            LostConnection(
                node: connection.node, room: room, member: member, epoch: epoch,
                until: scheduler.now + plan.settings.presence.grace.nanoseconds))
    }

    /// Records that a client is back at a server, or leaves.
    func forgetLoss(of client: Client, in room: RoomID, on node: SimulatedNode) {
        let member = truth.roomState(room).memberOfSession[client.session.id]
        lost.removeAll { $0.node === node && $0.room == room && $0.member == member }
    }

    /// Complains about a server that shows a member as offline within the grace.
    func expectGrace(for isOffline: (MemberID) -> Bool, in room: RoomID, on node: SimulatedNode) {
        for loss in lost where loss.node === node && loss.room == room && scheduler.now < loss.until {
            guard truth.room(room)?.epoch == loss.epoch, truth.roomState(room).members[loss.member] != nil else {
                continue
            }
            if isOffline(loss.member) {
                truth.complain("\(loss.member.rawValue) of \(room) is offline on \(node.name), and may be back")
            }
        }
    }
}
