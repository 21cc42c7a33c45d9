internal import Catalog
internal import Shelves

/// The search indexes of the tables in memory, and the rules by which the words of stores match.
///
/// An index is built when a search needs it first. Later versions of its table share it until a searched value differs. With another language
/// of the store, its rules and its indexes are made again; with other synonyms, only its rules are.
final class SearchIndexes: Sendable {
    /// An index with the table that has it.
    final class KeptIndex: Sendable {
        let version: Int64
        let table: ShelfTable
        let index: SearchIndex

        init(_ shelf: ShelfSnapshot, _ index: SearchIndex) {
            (version, table, self.index) = (shelf.version, shelf.table, index)
        }

        /// The size of the index in memory, in bytes. The table is usually in memory anyway.
        var size: Int { index.size + 64 }
    }

    /// Identifies what the rules of a store follow from.
    struct RulesState: Sendable, Hashable {
        let language: String
        let storeVersion: Int64
        /// The revision of the deployment's synonyms.
        let revision: Int64
    }

    final class KeptRules: Sendable {
        let state: RulesState
        let rules: SearchRules

        init(_ rules: SearchRules, at state: RulesState) { (self.rules, self.state) = (rules, state) }

        /// The size in memory, in bytes.
        var size: Int { rules.size + 2 * state.language.utf8.count + 64 }
    }

    private struct LoadKey: Hashable {
        let table: ShelfCaches.TableKey
        let version: Int64
        let languages: [InflectionLanguage]
    }

    private struct RulesKey: Hashable {
        let storeID: Int32
        let state: RulesState
    }

    private let caches: ShelfCaches
    private let loads = SharedWork<LoadKey, SearchIndex>()
    private let compilations = SharedWork<RulesKey, SearchRules>()

    init(_ caches: ShelfCaches) { self.caches = caches }

    // MARK: - Indexes

    /// Returns the index of a shelf, or of a union, if it is in memory; otherwise nil.
    func known(_ shelf: ShelfSnapshot, at key: ShelfCaches.TableKey, _ inflection: Inflection) -> SearchIndex? {
        guard let kept = caches.indexes[key], kept.version == shelf.version, kept.index.inflection == inflection else {
            return nil
        }
        return kept.index
    }

    /// Returns the index of a shelf, or of a union. It is built on another thread than an event loop's; concurrent callers share that work.
    ///
    /// - Parameter inflection: the forms of words in the store's language.
    /// - Throws: `CancellationError`.
    /// - Complexity: O(*n*) for *n* bytes of texts, and O(*w* log *w*) for *w* distinct words, unless an earlier version of the table has the index.
    func index(
        of shelf: ShelfSnapshot,
        at key: ShelfCaches.TableKey,
        _ inflection: Inflection
    ) async throws -> SearchIndex {
        if let known = known(shelf, at: key, inflection) { return known }
        let load = LoadKey(table: key, version: shelf.version, languages: inflection.languages)
        return try await loads.value(load) {
            await offLoop(if: true) { self.make(shelf, at: key, inflection) }
        }
    }

    private func make(_ shelf: ShelfSnapshot, at key: ShelfCaches.TableKey, _ inflection: Inflection) -> SearchIndex {
        if let known = known(shelf, at: key, inflection) { return known }
        let index = earlier(shelf, at: key, inflection) ?? SearchIndex(shelf.table, inflection: inflection)
        if let latest = caches.indexes[key], latest.version > shelf.version { return index }
        caches.insert(KeptIndex(shelf, index), for: key)
        return index
    }

    /// Returns the index of another version if this one has it, too.
    private func earlier(
        _ shelf: ShelfSnapshot,
        at key: ShelfCaches.TableKey,
        _ inflection: Inflection
    ) -> SearchIndex? {
        guard let kept = caches.indexes[key], kept.index.inflection == inflection,
            SearchIndex.isShared(by: kept.table, and: shelf.table)
        else { return nil }
        return kept.index
    }

    // MARK: - Rules

    /// Returns the rules of a store if they are in memory; otherwise nil.
    func knownRules(of storeID: Int32, at state: RulesState) -> SearchRules? {
        guard let kept = caches.rules[storeID], kept.state == state else { return nil }
        return kept.rules
    }

    /// Returns the rules of a store: the forms of words in its language, and its synonyms.
    ///
    /// - Parameters:
    ///   - state: the state of the store, read before its synonyms are.
    ///   - read: reads the synonyms in effect.
    func rules(
        of storeID: Int32,
        at state: RulesState,
        _ read: @escaping @Sendable () async throws -> Synonyms
    ) async throws -> SearchRules {
        if let known = knownRules(of: storeID, at: state) { return known }
        return try await compilations.value(RulesKey(storeID: storeID, state: state)) {
            let synonyms = try await read()
            let kept = self.caches.rules[storeID]
            let inflection = Inflection(InflectionLanguage(tag: state.language).map { [$0] } ?? [])
            let rules =
                if let kept, kept.rules.inflection == inflection, kept.rules.synonyms == synonyms {
                    kept.rules
                } else {
                    await offLoop(if: synonyms != .none) { SearchRules(inflection: inflection, synonyms: synonyms) }
                }
            self.caches.insert(KeptRules(rules, at: state), of: storeID)
            return rules
        }
    }
}

extension ShelfCaches {
    /// Keeps an index, and drops those of tables that have left the memory.
    fileprivate func insert(_ index: SearchIndexes.KeptIndex, for key: TableKey) {
        indexes.insert(index, for: key)
        dropIndexesWithoutTables()
        fitShelves()
    }

    fileprivate func insert(_ kept: SearchIndexes.KeptRules, of storeID: Int32) {
        rules.insert(kept, for: storeID)
        fitShelves()
    }

    /// Drops the indexes of tables that have left the memory, because an index keeps its table.
    func dropIndexesWithoutTables() {
        let indexed = indexes.entries.map(\.key)
        guard !indexed.isEmpty else { return }
        let tables = Set(shelves.entries.map { TableKey.shelf($0.key) } + unions.entries.map { TableKey.union($0.key) })
        for key in indexed where !tables.contains(key) { indexes.remove(key) }
    }
}
