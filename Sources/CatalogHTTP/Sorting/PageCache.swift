internal import Catalog
internal import HTTPTypes
internal import NIOCore
internal import Synchronization

/// Rendered pages, by path and plan, each good for exactly one entity tag.
///
/// Nothing here is ever trusted by itself: the catalog settles what the page must be, and only the tag of that lets the
/// remembered bytes out. So no write needs to invalidate anything, and users with the same sort share a page.
final class PageCache: Sendable {
    struct Page: Sendable {
        let tag: String
        let headers: HTTPFields
        let body: ByteBuffer
    }

    private struct State {
        var pages: [String: Page] = [:]
        /// The keys as they came, oldest first; one may stand here again after its page was replaced.
        var order: [String] = []
        var next = 0
        var bytes = 0
    }

    private let bound: Int
    private let state = Mutex(State())

    /// - Parameter bound: the most bytes that are kept; 0 keeps nothing.
    init(bound: Int) { self.bound = bound }

    /// What a page is remembered as: its shelf, and all of the plan but what its tag has.
    static func key(_ path: String, _ plan: PagePlan) -> String {
        "\(path)?\(plan.view.text) \(plan.facetNames) \(plan.limit) \(plan.after?.place ?? "")"
    }

    func page(_ key: @autoclosure () -> String, _ tag: String) -> Page? {
        guard bound > 0 else { return nil }
        let key = key()
        return state.withLock { $0.pages[key] }.flatMap { $0.tag == tag ? $0 : nil }
    }

    /// Keeps a page; the oldest ones make room.
    func keep(_ page: Page, as key: String) {
        guard cost(key, page) <= bound / 16 else { return }
        state.withLock { state in
            if let old = state.pages.updateValue(page, forKey: key) {
                state.bytes -= cost(key, old)
            } else {
                state.order.append(key)
            }
            state.bytes += cost(key, page)
            while state.bytes > bound {
                let oldest = state.order[state.next]
                state.next += 1
                if let gone = state.pages.removeValue(forKey: oldest) { state.bytes -= cost(oldest, gone) }
            }
            if state.next > 4096 {
                state.order.removeFirst(state.next)
                state.next = 0
            }
        }
    }

    /// The bytes of a page, with what keeping it takes.
    private func cost(_ key: String, _ page: Page) -> Int { page.body.storageCapacity + key.utf8.count * 2 + 512 }
}
