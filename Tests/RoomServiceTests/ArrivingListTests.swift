import Testing

@testable import RoomService

/// `ArrivingList` against a bus that loses, repeats and reorders.
@Suite struct ArrivingListTests {
    @Test func `the last part brings the elements of all`() {
        var list = ArrivingList<Int>()
        let results = [
            list.take(0, isLast: false, [1]), list.take(1, isLast: false, []), list.take(2, isLast: true, [2, 3]),
            list.take(0, isLast: true, []),
        ]
        #expect(results == [nil, nil, [1, 2, 3], []])
    }

    @Test(arguments: [[0, 2], [1, 2], [0, 0, 2], [0, 1, 1, 2], [0, 2, 1, 2]])
    func `a list with a part that is lost, repeated or late never ends`(parts: [Int]) {
        var list = ArrivingList<Int>()
        for part in parts {
            let all = list.take(part, isLast: part == 2, [part])
            #expect(all == nil)
        }
    }

    @Test func `the first part begins the list anew, and dropped parts are forgotten`() {
        var list = ArrivingList<Int>()
        _ = list.take(0, isLast: false, [1])
        _ = list.take(0, isLast: false, [2])
        let anew = list.take(1, isLast: true, [3])
        #expect(anew == [2, 3])
        _ = list.take(0, isLast: false, [1])
        list.drop()
        let dropped = list.take(1, isLast: true, [3])
        #expect(dropped == nil)
    }
}
