internal import Catalog
internal import FoundationEssentials
internal import Shelves
internal import Synchronization

/// The builder of the search indexes of tables in memory, and of the rules by which the words of stores match. `ShelfCaches` keeps both.
///
/// An index is built when a search needs it first. Later versions of its table share it while they have the same products with the same
/// searched values. If the words of the store get the forms of another language, rules and indexes are made again. After a change of synonyms,
/// only rules are made, and after one of searchable attributes, only indexes.
final class SearchIndexes: Sendable {
    /// An index with the table that has it.
    final class KeptIndex: Sendable {
        let version: Int64
        let table: ShelfTable
        let content: NumberedIndex
        /// Whether the table is in memory only for the index, because the caches have another version of it.
        let ownsTable: Bool

        init(_ version: Int64, _ table: ShelfTable, _ content: NumberedIndex, ownsTable: Bool = false) {
            (self.version, self.table, self.content, self.ownsTable) = (version, table, content, ownsTable)
        }

        var index: SearchIndex { content.index }

        func owningTable(_ ownsTable: Bool) -> KeptIndex { KeptIndex(version, table, content, ownsTable: ownsTable) }

        /// The size in memory, in bytes.
        var size: Int { content.size + 64 + (ownsTable ? table.size : 0) }
    }

    /// An index with what it was built from, apart from its table.
    final class NumberedIndex: Sendable {
        let index: SearchIndex
        /// A number of this server for the index. Versions of a table that share the index have the same matches.
        let number: Int
        let attributes: [ResolvedAttribute]

        fileprivate init(_ index: SearchIndex, number: Int, _ attributes: [ResolvedAttribute]) {
            (self.index, self.number, self.attributes) = (index, number, attributes)
        }

        /// The size in memory, in bytes.
        fileprivate var size: Int { index.size }

        fileprivate func isOf(_ inflection: Inflection, _ attributes: [ResolvedAttribute]) -> Bool {
            index.inflection == inflection && self.attributes == attributes
        }
    }

    /// Identifies what the rules of a store follow from.
    struct RulesState: Sendable, Hashable {
        /// The locale of the store, whose language decides the forms of words.
        let locale: String
        let storeVersion: Int64
        /// The revision of the deployment's synonyms.
        let revision: Int64

        fileprivate var inflection: Inflection {
            Inflection(InflectionLanguage(tag: locale).map { [$0] } ?? [])
        }

        init(locale: String, storeVersion: Int64, revision: Int64) {
            (self.locale, self.storeVersion, self.revision) = (locale, storeVersion, revision)
        }

        /// The state of the store of a shelf.
        init(_ head: ShelfHead) {
            self.init(locale: head.store.locale, storeVersion: head.storeVersion, revision: head.synonymRevision)
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
        var size: Int { (rules?.size ?? 0) + 2 * state.locale.utf8.count + 64 }
    }

    private struct LoadKey: Hashable {
        let table: ShelfCaches.TableKey
        let version: Int64
        let languages: [InflectionLanguage]
        let attributes: [ResolvedAttribute]
    }

    private struct CompilationKey: Hashable {
        let storeID: Int32
        let state: RulesState
        /// Where the synonyms are read. Servers may be at different states.
        let origin: ReadSource.Origin
    }

    private struct CompiledRules: Sendable {
        let rules: SearchRules
        /// Whether the synonyms are those of the wanted state.
        let isCurrent: Bool
    }

    private let caches: ShelfCaches
    private let loads = SharedWork<LoadKey, NumberedIndex>()
    private let compilations = SharedWork<CompilationKey, CompiledRules>()
    private let count = Atomic(0)
    /// Limits the processors that build indexes, so that other work outside event loops is not delayed.
    private let builds = AsyncSemaphore(max(1, ProcessInfo.processInfo.activeProcessorCount / 2))

    init(_ caches: ShelfCaches) { self.caches = caches }

    // MARK: - Indexes

    /// Returns the index of a shelf, or of a union, if it is in memory; otherwise nil.
    func known(
        _ shelf: ShelfSnapshot,
        at key: ShelfCaches.TableKey,
        _ inflection: Inflection,
        _ attributes: [ResolvedAttribute] = []
    ) -> NumberedIndex? {
        guard let kept = caches.indexes[key], kept.version == shelf.version, kept.content.isOf(inflection, attributes)
        else { return nil }
        return kept.content
    }

    /// Returns the index of a shelf, or of a union. It is built on another thread than an event loop's; concurrent callers share that work.
    ///
    /// - Parameters:
    ///   - inflection: the forms of words in the store's language.
    ///   - attributes: the searchable attributes of the store.
    ///   - willBuild: is called if this caller's request builds an index for a number of products.
    /// - Throws: `CancellationError`.
    /// - Complexity: O(*n*) for *n* bytes of texts, and O(*w* log *w*) for *w* distinct words, unless an earlier version of the table has the index.
    func index(
        of shelf: ShelfSnapshot,
        at key: ShelfCaches.TableKey,
        _ inflection: Inflection,
        _ attributes: [ResolvedAttribute] = [],
        willBuild: @escaping @Sendable (_ products: Int) -> Void = { _ in }
    ) async throws -> NumberedIndex {
        if let known = known(shelf, at: key, inflection, attributes) { return known }
        let load = LoadKey(
            table: key,
            version: shelf.version,
            languages: inflection.languages,
            attributes: attributes
        )
        return try await loads.value(load) {
            await self.builds.run {
                await offLoop(if: true) { self.make(shelf, at: key, inflection, attributes, willBuild) }
            }
        }
    }

    private func make(
        _ shelf: ShelfSnapshot,
        at key: ShelfCaches.TableKey,
        _ inflection: Inflection,
        _ attributes: [ResolvedAttribute],
        _ willBuild: (Int) -> Void
    ) -> NumberedIndex {
        if let known = known(shelf, at: key, inflection, attributes) { return known }
        let earlier = caches.indexes[key].flatMap { $0.content.isOf(inflection, attributes) ? $0 : nil }
        // Another version may have the same index.
        if let earlier, SearchIndex.isShared(by: earlier.table, and: shelf.table, attributes) {
            return keep(earlier.content, of: shelf, at: key)
        }
        willBuild(shelf.table.count)
        let texts = shelf.table.searchedTexts(of: attributes)
        let index = SearchIndex(shelf.table, texts: texts, inflection: inflection)
        let number = count.add(1, ordering: .relaxed).newValue
        return keep(NumberedIndex(index, number: number, attributes), of: shelf, at: key)
    }

    /// Keeps an index, and returns it. That of the version in memory stays. Numbers do not say which one is later: a union gets its number
    /// before another one may be kept, and a database that has lost commits has lower versions.
    private func keep(_ index: NumberedIndex, of shelf: ShelfSnapshot, at key: ShelfCaches.TableKey) -> NumberedIndex {
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
        _ read: @escaping @Sendable () async throws -> StoredSynonyms
    ) async throws -> SearchRules {
        if let known = knownRules(of: storeID, at: state) { return known }
        return try await compiled(storeID, state, .primary, read).rules
    }

    /// The same; nil if the synonyms are not those of the state.
    ///
    /// - Parameter origin: where they are read.
    func currentRules(
        of storeID: Int32,
        at state: RulesState,
        _ origin: ReadSource.Origin,
        _ read: @escaping @Sendable () async throws -> StoredSynonyms
    ) async throws -> SearchRules? {
        if let known = knownRules(of: storeID, at: state) { return known }
        let found = try await compiled(storeID, state, origin, read)
        return found.isCurrent ? found.rules : nil
    }

    /// The same in a transaction, outside of an event loop.
    func currentRules(of storeID: Int32, at state: RulesState, _ found: EffectiveSynonyms) -> SearchRules? {
        if let known = knownRules(of: storeID, at: state) { return known }
        return found.isOf(state) ? compiled(storeID, state, found) : nil
    }

    /// Returns the rules of synonyms, and keeps them if the synonyms are those of the state.
    private func compiled(_ storeID: Int32, _ state: RulesState, _ found: EffectiveSynonyms) -> SearchRules {
        let (key, synonyms) = (RulesKey(storeID, found, state), found.all)
        let rules = known(synonyms, key, state) ?? SearchRules(inflection: state.inflection, synonyms: synonyms)
        if found.isOf(state) { keep(rules, for: key, storeID, state) }
        return rules
    }

    private func compiled(
        _ storeID: Int32,
        _ state: RulesState,
        _ origin: ReadSource.Origin,
        _ read: @escaping @Sendable () async throws -> StoredSynonyms
    ) async throws -> CompiledRules {
        let key = CompilationKey(storeID: storeID, state: state, origin: origin)
        return try await compilations.value(key) {
            let stored = try await read()
            return await offLoop(if: !stored.isEmpty) {
                let found = stored.parsed
                let rules = self.compiled(storeID, state, found)
                return CompiledRules(rules: rules, isCurrent: found.isOf(state))
            }
        }
    }

    /// Returns the rules that are in memory if they have the same synonyms.
    private func known(_ synonyms: Synonyms, _ key: RulesKey, _ state: RulesState) -> SearchRules? {
        guard let kept = caches.rules[key]?.rules, kept.inflection == state.inflection, kept.synonyms == synonyms else {
            return nil
        }
        return kept
    }

    private func keep(_ rules: SearchRules, for key: RulesKey, _ storeID: Int32, _ state: RulesState) {
        caches.insert(KeptRules(rules, at: state), for: key)
        if case .shared = key { caches.insert(KeptRules(nil, at: state), for: .store(storeID)) }
    }
}

extension SearchIndexes.RulesKey {
    /// The key of the rules of a store with synonyms.
    fileprivate init(_ storeID: Int32, _ synonyms: EffectiveSynonyms, _ state: SearchIndexes.RulesState) {
        self = synonyms.ofStore == nil ? .shared(state.inflection.languages) : .store(storeID)
    }
}

extension EffectiveSynonyms {
    /// Whether they belong to a state.
    fileprivate func isOf(_ state: SearchIndexes.RulesState) -> Bool {
        storeVersion == state.storeVersion && revision == state.revision
    }
}
