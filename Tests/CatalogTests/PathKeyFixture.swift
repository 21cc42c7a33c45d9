import Ordering

enum PathKeyFixture {
    /// Keys of an order, a step apart.
    static func keys(_ count: Int) -> [PathKey] { PathKey.appending(count, after: nil) }
}
