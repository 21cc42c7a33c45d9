internal import Catalog
internal import FoundationEssentials
internal import Shelves
internal import Synchronization

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
        /// Whether the table is in memory only for the index, because the caches have another version of it.
        let ownsTable: Bool

        init(_ version: Int64, _ table: ShelfTable, _ index: SearchIndex, ownsTable: Bool = false) {
            (self.version, self.table, self.index, self.ownsTable) = (version, table, index, ownsTable)
        }

        func owningTable(_ ownsTable: Bool) -> KeptIndex { KeptIndex(version, table, index, ownsTable: ownsTable) }

        /// The size in memory, in bytes.
        var size: Int { index.size + 64 + (ownsTable ? table.size : 0) }
    }

    /// Identifies what the rules of a store follow from.
    struct RulesState: Sendable, Hashable {
        let language: String
        let storeVersion: Int64
        /// The revision of the deployment's synonyms.
        let revision: Int64

        fileprivate var inflection: Inflection {
            Inflection(InflectionLanguage(tag: language).map { [$0] } ?? [])
        }
    }

    /// Identifies rules in memory.
    enum RulesKey: Hashable, Sendable {
        case store(Int32)
        /// The rules of all stores with these languages that have no synonyms of their own.
        case shared([InflectionLanguage])
    }

    /// The rules of a store at a state, or those of several stores at a revision.
    final class KeptRules: Sendable {
        /// The state of the store that the rules were made for first.
        fileprivate let state: RulesState
        /// nil for a store with the rules of several stores.
        fileprivate let rules: SearchRules?

        fileprivate init(_ rules: SearchRules?, at state: RulesState) { (self.rules, self.state) = (rules, state) }

        /// The size in memory, in bytes.
        var size: Int { (rules?.size ?? 0) + 2 * state.language.utf8.count + 64 }
    }

    private struct LoadKey: Hashable {
        let table: ShelfCaches.TableKey
        let version: Int64
        let languages: [InflectionLanguage]
    }

    private struct CompilationKey: Hashable {
        let storeID: Int32
        let state: RulesState
    }

    private let caches: ShelfCaches
    private let loads = SharedWork<LoadKey, SearchIndex>()
    private let compilations = SharedWork<CompilationKey, SearchRules>()
    /// Limits the processors that build indexes, so that other work outside event loops is not delayed.
    private let builds = AsyncSemaphore(max(1, ProcessInfo.processInfo.activeProcessorCount / 2))

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
    /// - Parameters:
    ///   - inflection: the forms of words in the store's language.
    ///   - willBuild: is called if this caller's request builds an index for a number of products.
    /// - Throws: `CancellationError`.
    /// - Complexity: O(*n*) for *n* bytes of texts, and O(*w* log *w*) for *w* distinct words, unless an earlier version of the table has the index.
    func index(
        of shelf: ShelfSnapshot,
        at key: ShelfCaches.TableKey,
        _ inflection: Inflection,
        willBuild: @escaping @Sendable (_ products: Int) -> Void = { _ in }
    ) async throws -> SearchIndex {
        if let known = known(shelf, at: key, inflection) { return known }
        let load = LoadKey(table: key, version: shelf.version, languages: inflection.languages)
        return try await loads.value(load) {
            await self.builds.run {
                await offLoop(if: true) { self.make(shelf, at: key, inflection, willBuild) }
            }
        }
    }

    private func make(
        _ shelf: ShelfSnapshot,
        at key: ShelfCaches.TableKey,
        _ inflection: Inflection,
        _ willBuild: (Int) -> Void
    ) -> SearchIndex {
        if let known = known(shelf, at: key, inflection) { return known }
        if let earlier = earlier(shelf, at: key, inflection) { return keep(earlier, of: shelf, at: key) }
        willBuild(shelf.table.count)
        return keep(SearchIndex(shelf.table, inflection: inflection), of: shelf, at: key)
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

    /// Keeps an index, and returns it. That of the version in memory stays. Numbers do not say which one is later: a union gets its number
    /// before another one may be kept, and a database that has lost commits has lower versions.
    private func keep(_ index: SearchIndex, of shelf: ShelfSnapshot, at key: ShelfCaches.TableKey) -> SearchIndex {
        let current = caches.version(of: key)
        guard current == shelf.version || caches.indexes.peek(key)?.version != current else { return index }
        let ownsTable = current != shelf.version
        caches.insert(KeptIndex(shelf.version, shelf.table, index, ownsTable: ownsTable), for: key)
        return index
    }

    // MARK: - Rules

    /// Returns the rules of a store if they are in memory; otherwise nil.
    func knownRules(of storeID: Int32, at state: RulesState) -> SearchRules? {
        guard let kept = caches.rules[.store(storeID)], kept.state == state else { return nil }
        if let rules = kept.rules { return rules }
        let shared = caches.rules[.shared(state.inflection.languages)]
        return shared?.state.revision == state.revision ? shared?.rules : nil
    }

    /// Returns the rules of a store: the forms of words in its language, and its synonyms.
    ///
    /// The rules are kept only if the synonyms are those of the state. They may be earlier or later ones, because another statement, and
    /// perhaps another server, has read the state.
    ///
    /// - Parameters:
    ///   - state: the state of the store.
    ///   - read: reads the synonyms in effect.
    func rules(
        of storeID: Int32,
        at state: RulesState,
        _ read: @escaping @Sendable () async throws -> EffectiveSynonyms
    ) async throws -> SearchRules {
        if let known = knownRules(of: storeID, at: state) { return known }
        return try await compilations.value(CompilationKey(storeID: storeID, state: state)) {
            let found = try await read()
            let isCurrent = found.storeVersion == state.storeVersion && found.revision == state.revision
            let key = found.ofStore == nil ? RulesKey.shared(state.inflection.languages) : .store(storeID)
            let rules = await self.compiled(found.all, key, state.inflection)
            guard isCurrent else { return rules }
            self.caches.insert(KeptRules(rules, at: state), for: key)
            if case .shared = key { self.caches.insert(KeptRules(nil, at: state), for: .store(storeID)) }
            return rules
        }
    }

    /// Returns the rules that are in memory if they have the same synonyms, otherwise new ones.
    private func compiled(_ synonyms: Synonyms, _ key: RulesKey, _ inflection: Inflection) async -> SearchRules {
        if let kept = caches.rules[key]?.rules, kept.inflection == inflection, kept.synonyms == synonyms { return kept }
        return await offLoop(if: synonyms != .none) { SearchRules(inflection: inflection, synonyms: synonyms) }
    }
}
