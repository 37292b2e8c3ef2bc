import RoomDomain
import RoomWire
import Testing

@Suite struct ErrorCodeTests {
    @Test func `codes and statuses are those of the protocol`() {
        let statuses = Dictionary(uniqueKeysWithValues: ErrorCode.allCases.map { ($0.rawValue, $0.httpStatus) })
        #expect(
            statuses == [
                "bad_request": 400, "method_not_allowed": 405, "not_acceptable": 406, "unsupported_media_type": 415,
                "unauthorized": 401, "forbidden": 403, "banned": 403, "not_found": 404, "not_member": 409,
                "conflict": 409, "room_closed": 410, "too_large": 413, "limit_reached": 422, "rate_limited": 429,
                "internal": 500, "unavailable": 503, "outcome_unknown": 503,
            ])
    }

    @Test func `codes of one status have its phrase as their title`() {
        let titles = Dictionary(grouping: ErrorCode.allCases, by: \.httpStatus).mapValues { Set($0.map(\.title)) }
        #expect(titles.values.allSatisfy { $0.count == 1 })
        #expect(titles[404] == ["Not Found"])
        #expect(titles[409] == ["Conflict"])
    }

    @Test func `every refusal has its code and says why`() {
        let refusals: [(RoomRefusal, ErrorCode, String)] = [
            (.badRequest("a"), .badRequest, "a"), (.forbidden("b"), .forbidden, "b"),
            (.banned, .banned, "you are banned from this room"), (.notFound("c"), .notFound, "c"),
            (.notMember, .notMember, "only members may do this: join first"), (.conflict("d"), .conflict, "d"),
            (.roomClosed, .roomClosed, "the room is closed"), (.limitReached("e"), .limitReached, "e"),
            (.banned(retryAfterMs: 9), .banned, "you are banned from this room for a time"),
            (.rateLimited("f", retryAfterMs: 7), .rateLimited, "f"),
        ]
        for (refusal, code, detail) in refusals {
            #expect(ErrorCode(refusal) == code)
            #expect(refusal.detail == detail)
        }
        #expect(refusals.compactMap { $0.0.retryAfterMs } == [9, 7])
    }
}
