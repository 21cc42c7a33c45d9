package import Catalog

/// The products that match a query.
package struct SearchMatches: Sendable, Equatable {
    /// The worst class in use.
    package let classInUse: SearchClass
    /// The matching rows, ascending.
    package let rows: [UInt32]
    /// The relevance of each of the rows.
    package let relevances: [SearchRelevance]
    /// The words of the query, by their index, that no product has in the classes in use.
    package let missingWords: [Int]
    /// Whether forms of the last word match. Those of an unfinished word do not if a product completes it.
    package let lastWordHasForms: Bool

    /// The size of the arrays in memory, in bytes.
    package var sizeOfArrays: Int {
        4 * rows.capacity + 2 * relevances.capacity + 8 * missingWords.capacity + 3 * ShelfTable.arrayOverhead
    }

    /// Returns the relevance of a row; nil if it does not match.
    ///
    /// - Complexity: O(log *n*).
    package func relevance(of row: Int) -> SearchRelevance? {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle] < row { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && rows[low] == row ? relevances[low] : nil
    }
}

extension SearchIndex {
    /// Finds the products that have all words of a query, in any of their fields.
    ///
    /// - Parameter limit: the worst class in use, such as that of a cursor; nil for the best classes that together find 5 products, or all.
    /// - Precondition: the search has the index's rules for forms of words.
    /// - Complexity: O(*w* (*n* + *b*) + *m*) for *w* words, *n* rows, *b* bytes of distinct words, and *m* postings of words that match. Each
    ///   synonym, and each word that is two words, adds its rarest word's postings, and finds each of them in the others in O(log *n*).
    package func matches(_ search: Search, within limit: SearchClass? = nil) -> SearchMatches {
        var found = RowSearch(self, search)
        found.addWords()
        var counts = found.counts()
        func isEnough(_ searchClass: SearchClass) -> Bool {
            if let limit { return limit <= searchClass }
            return counts[...Int(searchClass.rawValue)].reduce(0, +) >= SearchClass.wantedProducts
        }
        // Finding the other classes takes longer, and most queries do not need them.
        if !isEnough(.prefix) {
            found.addCompounds()
            counts = found.counts()
            if !isEnough(.compound) {
                found.addTypos()
                counts = found.counts()
            }
        }
        let classInUse = limit ?? SearchClass.allCases.first(where: isEnough) ?? .typo
        return found.matches(within: classInUse)
    }
}

/// A search for the rows of a query: for each word the best match in each row.
struct RowSearch {
    private let index: SearchIndex
    private let search: Search
    /// For each word the rank of its match in each row: the class, two bits for the field, and 0; `none` without a match.
    private var ranks: [[UInt8]]
    /// For each word the rows with a match.
    private(set) var rows: [[UInt32]]
    /// Whether the name of each row begins with the first word.
    private var beginsName: [Bool]
    /// The place of the first word of each row's name that is found.
    private var places: [UInt8]
    /// Whether forms of the last word match.
    private var lastWordHasForms: Bool

    private static let none = UInt8.max

    init(_ index: SearchIndex, _ search: Search) {
        precondition(search.inflection == index.inflection, "a search has the index's rules for forms of words")
        self.index = index
        self.search = search
        ranks = search.query.words.map { _ in [UInt8](repeating: Self.none, count: index.rowCount) }
        rows = search.query.words.map { _ in [] }
        beginsName = [Bool](repeating: false, count: index.rowCount)
        places = [UInt8](repeating: UInt8(SearchRelevance.lastPlace), count: index.rowCount)
        lastWordHasForms = !search.isTyped
    }

    // MARK: - Classes

    /// Adds the matches of all classes.
    mutating func addAll() {
        addWords()
        addCompounds()
        addTypos()
    }

    /// Adds the matches of the classes from the best one to beginnings of words.
    mutating func addWords() {
        addCodes()
        addAlternatives()
        let terms = search.query.terms
        for term in terms { addWords(term) }
        // The forms of the last word depend on the matches of the other words.
        let (typed, finished) = (terms.filter { isTyped($0) }, terms.filter { !isTyped($0) })
        for term in finished { addForms(term) }
        guard !typed.isEmpty else { return }
        lastWordHasForms = !typed.contains { hasCompletion($0) }
        if lastWordHasForms { for term in typed { addForms(term) } }
    }

    /// Whether a term ends with a word that is still being typed.
    private func isTyped(_ term: SearchQuery.Term) -> Bool {
        search.isTyped && term.words.upperBound == search.query.words.count
    }

    /// Adds the rows whose skus, barcodes or sizes are in the query, and those whose skus begin with a code of the query.
    private mutating func addCodes() {
        let (index, query) = (index, search.query)
        for code in query.codes {
            index.skus.forEachRow(beginningWith: code.code) { row, isEqual in
                mark(code.words, Posting(row, .other), isEqual ? .exact : .prefix)
            }
            index.barcodes.forEachRow(of: code.barcode) { mark(code.words, Posting($0, .other), .exact) }
        }
        for size in query.sizes {
            index.sizes.forEachRow(beginningWith: size.code) { row, _ in mark(size.words, Posting(row, .other), .exact)
            }
        }
    }

    /// Adds the rows with synonyms.
    private mutating func addAlternatives() {
        let index = index
        /// The postings of each word, because many alternatives may have it.
        var postings: [[UInt8]: [UInt32]] = [:]
        for alternative in search.alternatives {
            let lists = alternative.words.map { word in
                if let known = postings[word] { return known }
                let found = index.postings(ofWordOrForm: word)
                postings[word] = found
                return found
            }
            addRows(withAll: lists, alternative.span, .related)
        }
    }

    /// Adds the rows that are in all lists of postings.
    private mutating func addRows(withAll lists: [[UInt32]], _ numbers: Range<Int>, _ searchClass: SearchClass) {
        let rarest = lists.indices.min { lists[$0].count < lists[$1].count }!
        rows: for bits in lists[rarest] {
            // The best field and the first place; a name begins with the words if it begins with the first of them.
            var (best, beginsName) = (UInt32.max, false)
            for (number, list) in lists.enumerated() {
                guard let found = number == rarest ? bits : list.posting(ofRow: bits >> 5) else { continue rows }
                best = min(best, found)
                if number == 0 { beginsName = Posting(bits: found).beginsName }
            }
            mark(numbers, Posting(bits: best), searchClass, beginsName: beginsName)
        }
    }

    /// Adds the rows that have a word, or words that begin with it.
    private mutating func addWords(_ term: SearchQuery.Term) {
        for word in index.words.words(beginningWith: term.bytes) {
            mark(term.words, word, index.words[word].count == term.bytes.count ? .exact : .prefix)
        }
    }

    /// Adds the rows that have forms of a word.
    private mutating func addForms(_ term: SearchQuery.Term) {
        index.forEachForm(of: term.bytes) { mark(term.words, $0, .related) }
    }

    /// Whether a row has a word that begins with the last one, and matches the other words in the classes that were added.
    ///
    /// - Complexity: O(*w* *m*) for *w* words, and *m* postings of words that begin with the last one, up to the first such row.
    private func hasCompletion(_ term: SearchQuery.Term) -> Bool {
        let beginning = index.words.words(beginningWith: term.bytes)
        // Each word of the index has a row.
        let others = ranks[..<term.words.lowerBound]
        if others.isEmpty { return !beginning.isEmpty }
        return beginning.contains { word in
            index.withPostings(of: word) { postings in
                postings.contains { bits in others.allSatisfy { $0[Int(bits >> 5)] != Self.none } }
            }
        }
    }

    /// Adds the rows of words that have a word of the query as a part, and the rows that have it as two words.
    mutating func addCompounds() {
        for (number, word) in search.query.words.enumerated() where word.hasCompounds {
            index.words.forEachWord(containing: word.bytes) { mark(number..<(number + 1), $0, .compound) }
        }
        for split in search.query.splits {
            let numbers = split.parts.compactMap { index.words.number(of: $0) }
            guard numbers.count == split.parts.count else { continue }
            addRows(
                withAll: numbers.map { index.withPostings(of: $0, Array.init) },
                split.word..<(split.word + 1),
                .compound
            )
        }
    }

    /// Adds the rows that have words with one typo.
    mutating func addTypos() {
        for (number, word) in search.query.words.enumerated() where word.hasTypos {
            index.words.forEachWord(withOneEditOf: word.bytes) { mark(number..<(number + 1), $0, .typo) }
        }
    }

    // MARK: - Marking

    private typealias Posting = SearchIndex.Posting

    /// Marks the rows of a word of the index as matches of adjacent words of the query.
    private mutating func mark(_ numbers: Range<Int>, _ word: Int, _ searchClass: SearchClass) {
        let isFirst = numbers.lowerBound == 0 && searchClass <= .prefix
        let classBits = searchClass.rawValue << 3
        index.withPostings(of: word) { postings in
            for number in numbers {
                ranks[number].withUnsafeMutableBufferPointer { ranks in
                    for bits in postings {
                        let row = Int(bits >> 5)
                        let rank = classBits | UInt8(truncatingIfNeeded: bits >> 2) & 0b110
                        if ranks[row] == Self.none { rows[number].append(bits >> 5) }
                        if ranks[row] > rank { ranks[row] = rank }
                    }
                }
            }
            for bits in postings {
                // In other fields, the place is the last one.
                let posting = Posting(bits: bits)
                if posting.place < places[posting.row] { places[posting.row] = posting.place }
                if isFirst, posting.beginsName { beginsName[posting.row] = true }
            }
        }
    }

    /// Marks a row as a match of adjacent words of the query.
    private mutating func mark(
        _ numbers: Range<Int>,
        _ posting: Posting,
        _ searchClass: SearchClass,
        beginsName: Bool = false
    ) {
        let rank = searchClass.rawValue << 3 | posting.field << 1
        let row = posting.row
        for number in numbers {
            if ranks[number][row] == Self.none { rows[number].append(UInt32(row)) }
            ranks[number][row] = min(ranks[number][row], rank)
        }
        places[row] = min(places[row], posting.place)
        if numbers.lowerBound == 0, searchClass <= .prefix, beginsName { self.beginsName[row] = true }
    }

    // MARK: - Results

    /// Calls a body with each row that matches all words, with its worst class and, in three bits, its best field.
    private func forEachMatch(_ body: (UInt32, UInt8) -> Void) {
        guard let rarest = rows.min(by: { $0.count < $1.count }) else { return }
        if ranks.count == 1 {
            for row in rarest { body(row, ranks[0][Int(row)]) }
            return
        }
        for row in rarest {
            var (worst, field) = (UInt8(0), UInt8.max)
            for ranks in ranks {
                let rank = ranks[Int(row)]
                worst = max(worst, rank)
                field = min(field, rank & 0b110)
            }
            if worst != Self.none { body(row, worst & ~0b111 | field) }
        }
    }

    /// The number of matching rows by their worst class.
    func counts() -> [Int] {
        var counts = SearchClass.allCases.map { _ in 0 }
        forEachMatch { counts[Int($1 >> 3)] += 1 }
        return counts
    }

    /// Returns the rows that match in a class or a better one.
    func matches(within limit: SearchClass) -> SearchMatches {
        // Bits of rows, and their relevances, are in the order of rows without a sort.
        var bits = [UInt64](repeating: 0, count: index.rowCount / 64 + 1)
        var values = [UInt8](repeating: 0, count: index.rowCount)
        var count = 0
        forEachMatch { row, rank in
            guard rank >> 3 <= limit.rawValue else { return }
            bits[Int(row / 64)] |= 1 << UInt64(row % 64)
            values[Int(row)] = rank | (beginsName[Int(row)] ? 0 : 1)
            count += 1
        }
        var (found, relevances) = ([UInt32](), [SearchRelevance]())
        found.reserveCapacity(count)
        relevances.reserveCapacity(count)
        for (number, var word) in bits.enumerated() {
            while word != 0 {
                let row = 64 * number + word.trailingZeroBitCount
                found.append(UInt32(row))
                relevances.append(
                    SearchRelevance(rank: values[row], place: Int(places[row]), nameWords: Int(index.nameWords[row]))
                )
                word &= word - 1
            }
        }
        let missing = ranks.indices.filter { number in
            !rows[number].contains { ranks[number][Int($0)] >> 3 <= limit.rawValue }
        }
        return SearchMatches(
            classInUse: limit,
            rows: found,
            relevances: relevances,
            missingWords: missing,
            lastWordHasForms: lastWordHasForms
        )
    }

    /// Returns whether each row matches all words but some, whether or not it matches those.
    func matches(without excluded: Set<Int>) -> [Bool] {
        var isMatch = [Bool](repeating: true, count: index.rowCount)
        for (number, ranks) in ranks.enumerated() where !excluded.contains(number) {
            for row in isMatch.indices where ranks[row] == Self.none { isMatch[row] = false }
        }
        return isMatch
    }
}

extension [UInt32] {
    /// Returns the bits of the posting of a row; nil without one.
    ///
    /// - Precondition: the elements are bits of postings by ascending rows, one for each row.
    /// - Complexity: O(log *n*).
    fileprivate func posting(ofRow row: UInt32) -> UInt32? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] >> 5 < row { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low] >> 5 == row ? self[low] : nil
    }
}
