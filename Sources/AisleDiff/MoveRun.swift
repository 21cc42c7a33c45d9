/// Several moves whose elements are adjacent both before and after.
struct MoveRun {
    var to: Int
    var from: Int
    var count: Int
    var isReversed: Bool
}
