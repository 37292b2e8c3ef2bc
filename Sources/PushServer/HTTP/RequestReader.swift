import HTTPTypes
import Hummingbird
import NIOCore
import RoomDomain
import RoomService
import RoomWire

/// Reads the parts of requests that have a cost: bodies, and the rooms that paths name.
struct RequestReader: Sendable {
    let rooms: RoomHost
    let admission: Admission
    /// The longest body, in bytes.
    let maximumBodyLength: Int

    /// The value that stands for the address that a request comes from; nil if that address does not count.
    func network(of request: Request, _ context: APIContext) -> UInt64? {
        admission.network(of: context.peer, forwardedFor: request.forwardedFor)
    }

    /// The session behind a request, and the address that it comes from.
    func asker(of request: Request, _ context: APIContext) throws(CommandFailure) -> Asker {
        Asker(try context.session().id, from: network(of: request, context))
    }

    /// The room that the path names.
    func room(of request: Request, _ context: APIContext) async throws(CommandFailure) -> RoomID {
        guard let text = context.parameters.get("room"), let reference = RoomReference(text) else {
            throw CommandFailure(.notFound)
        }
        let seeker = RoomSeeker(session: try context.session().id, address: network(of: request, context))
        return try await RoomLookup(rooms: rooms.registry, admission: admission).room(reference, for: seeker)
    }

    /// The whole body, charged to its sender.
    func body(of request: Request, _ context: APIContext) async throws -> [UInt8] {
        let most = maximumBodyLength
        // A body of unknown length may reach the longest allowed length.
        let length = request.headers[.contentLength].flatMap { Int($0) } ?? most
        let charge = try context.memory.charge(bodyOf: min(length, most))
        defer { withExtendedLifetime(charge) {} }
        do {
            let body = try await request.body.collect(upTo: most)
            admission.bodyArrived(
                body.readableBytes, of: context.authenticated?.id, from: network(of: request, context))
            return Array(buffer: body)
        } catch is NIOTooManyBytesError {
            throw CommandFailure(.tooLarge, "at most \(most) bytes")
        }
    }
}

extension Request {
    /// The key that identifies a retry; nil if the request has none.
    func idempotencyKey() throws(CommandFailure) -> String? {
        guard let name = HTTPField.Name("Idempotency-Key"), let key = headers[name] else { return nil }
        guard ClientMessage.isKey(key) else {
            throw CommandFailure(.badRequest, "Idempotency-Key: 1 to 128 characters, none of them a control character")
        }
        return key
    }

    /// The trimmed `q`; empty if there is none.
    func searchText() throws(CommandFailure) -> String {
        let text = uri.queryParameters["q"].map { String($0) } ?? ""
        guard let trimmed = TextRule.accepted(text, length: 0...RoomLimits.roomName.upperBound) else {
            throw CommandFailure(.badRequest, "q: at most 80 characters, none of them a control character")
        }
        return trimmed
    }

    /// The integer in a query parameter; nil if there is no parameter of this name.
    func integer(_ name: Substring, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        guard let text = uri.queryParameters[name] else { return nil }
        guard let value = PlainInteger.value(text), range.contains(value) else {
            throw CommandFailure(.badRequest, "\(name): expected an integer of at least \(range.lowerBound)")
        }
        return value
    }
}
