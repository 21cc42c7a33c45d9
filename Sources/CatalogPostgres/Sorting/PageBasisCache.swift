internal import Catalog
internal import LibPQ

/// The basis of a page of one shelf, with the shelf's location.
struct LocatedBasis: Sendable {
    let basis: PageBasis
    let location: ShelfLocation
}

/// A cache of page bases from the last reads. An entry is only a guess, which every read confirms, so
/// outdated entries do no harm.
final class PageBasisCache: Sendable {
    private struct UserShelf: Hashable {
        let address: ShelfAddress
        let user: UserID

        /// The approximate size, in bytes.
        var size: Int { 96 + address.size + user.text.utf8.count }
    }

    private struct UserSorts {
        let sorts: RememberedSorts
        let revision: Int64

        /// The approximate size, in bytes: an upper bound, because equal sorts are kept once.
        var size: Int { 64 + sorts.size }
    }

    /// The size of each cache, in bytes: about 10,000 shelves, and 50,000 users' sorts without filters.
    private static let limit = 16 << 20
    /// The size of the largest entries to keep, in bytes.
    private static let largest = 256 << 10

    private struct KeptBasis {
        /// Without attributes, which the cache of the stores' attributes keeps and counts.
        let located: LocatedBasis
        let hasAttributes: Bool
    }

    /// The bases of pages for everyone.
    private let bases = SharedCache<ShelfAddress, KeptBasis>(limit: limit, largest: largest) {
        $0.size + $1.located.basis.size
    }
    private let attributeSets: AttributeSets
    /// The remembered sorts of users by shelf. The head of the shelf is that of `bases`.
    private let sorts = SharedCache<UserShelf, UserSorts>(limit: limit, largest: largest) { $0.size + $1.size }
    /// Equal sorts, which a user may remember for many shelves, and many users for one, are kept once.
    private let known = SharedCache<RememberedSorts, RememberedSorts>(limit: limit, largest: largest) { sorts, _ in
        sorts.size
    }

    init(_ attributeSets: AttributeSets) { self.attributeSets = attributeSets }

    func basis(of request: PageRequest) -> LocatedBasis? {
        guard let address = request.address, let kept = bases[address] else { return nil }
        let (head, location) = (kept.located.basis.head, kept.located.location)
        var attributes = ResolvedAttributes.none
        if kept.hasAttributes {
            guard let found = attributeSets.known(of: head, in: location.storeID) else { return nil }
            attributes = found
        } else if request.rememberingUser == nil {
            return kept.located
        }
        var (remembered, revision) = (RememberedSorts.none, Int64(0))
        if let user = request.rememberingUser {
            guard let known = sorts[UserShelf(address: address, user: user)] else { return nil }
            (remembered, revision) = (known.sorts, known.revision)
        }
        let basis = PageBasis(head: head, sorts: remembered, revision: revision, attributes: attributes)
        return LocatedBasis(basis: basis, location: location)
    }

    /// Returns where the shelf of a request was last time; nil if that is not known.
    func location(of request: PageRequest) -> ShelfLocation? {
        request.address.flatMap { bases[$0]?.located.location }
    }

    func insert(_ found: LocatedBasis, of request: PageRequest) {
        let basis = found.basis
        insert(LocatedHead(head: basis.head, location: found.location), basis.attributes, of: request)
        guard let address = request.address, let user = request.rememberingUser else { return }
        let key = UserShelf(address: address, user: user)
        sorts[key] = UserSorts(sorts: shared(basis.sorts), revision: basis.revision)
    }

    /// Returns the instance of equal sorts that is kept.
    private func shared(_ sorts: RememberedSorts) -> RememberedSorts {
        if let known = known[sorts] { return known }
        known[sorts] = sorts
        return sorts
    }

    /// Inserts only the shelf and its store, with the attributes of the store.
    func insert(_ shelf: LocatedHead, _ attributes: ResolvedAttributes, of request: PageRequest) {
        guard let address = request.address else { return }
        bases[address] = KeptBasis(
            located: LocatedBasis(basis: PageBasis(head: shelf.head), location: shelf.location),
            hasAttributes: !attributes.all.isEmpty
        )
    }
}

// Approximate sizes in memory, in bytes.

extension ShelfAddress {
    fileprivate var size: Int { 64 + store.text.utf8.count + shelf.text.utf8.count }
}

extension PageBasis {
    fileprivate var size: Int {
        let (store, shelf) = (head.store, head.state.shelf)
        return 1024 + store.title.utf8.count + shelf.title.utf8.count + sorts.size
    }
}

extension RememberedSorts {
    fileprivate var size: Int { 32 + (shelf?.size ?? 0) + (store?.size ?? 0) }
}

extension RememberedSort {
    fileprivate var size: Int {
        filter.values.values.reduce(128 + 32 * sort.terms.count) { sum, value in
            guard let texts = value.manyTexts else { return sum + 96 }
            return texts.reduce(sum + 96) { $0 + 48 + $1.utf8.count }
        }
    }
}

extension FilterValue {
    /// The texts of a value that may have many; nil for others.
    fileprivate var manyTexts: [String]? {
        switch self {
        case .texts(let texts), .given(let texts): texts
        case .attribute(let condition): condition.texts
        case .flag, .amount, .amountPerQuantity, .moment, .dimensions: nil
        }
    }
}
