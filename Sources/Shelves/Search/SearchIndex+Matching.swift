/// The products that match a query.
package struct SearchMatches: Sendable {
    /// The worst class in use.
    package let classInUse: SearchClass
    /// The matching rows, ascending.
    package let rows: [UInt32]
    /// The relevance of each of the rows.
    package let relevances: [SearchRelevance]
    /// The words of the query, by their numbers, that no product has in the classes in use. Each product lacks one of them.
    package let missingWords: [Int]

    /// The size in memory, in bytes.
    package var size: Int {
        MemoryLayout<SearchMatches>.size + 4 * rows.capacity + relevances.capacity + 8 * missingWords.capacity
            + 3 * ShelfTable.arrayOverhead
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
    /// - Parameters:
    ///   - rules: synonyms, and the index's rules for forms of words.
    ///   - limit: the worst class in use, such as that of a cursor; nil for the best classes that together find 5 products, or all.
    /// - Complexity: O(*n* / 64 + *b* + *m*) for each word, with *n* rows, *b* bytes of distinct words and *m* postings of the matching words.
    package func matches(_ query: SearchQuery, _ rules: SearchRules, within limit: SearchClass? = nil) -> SearchMatches
    {
        var search = RowSearch(self, query)
        search.addWords(rules)
        var counts = search.counts()
        func isEnough(_ searchClass: SearchClass) -> Bool {
            if let limit { return limit <= searchClass }
            return counts[...Int(searchClass.rawValue)].reduce(0, +) >= SearchClass.wantedProducts
        }
        // Finding the other classes takes longer, and most queries do not need them.
        if !isEnough(.prefix) {
            search.addCompounds()
            counts = search.counts()
            if !isEnough(.compound) {
                search.addTypos()
                counts = search.counts()
            }
        }
        let classInUse = limit ?? SearchClass.allCases.first(where: isEnough) ?? .typo
        return search.matches(within: classInUse)
    }
}

/// A search for the rows of a query: for each word the best match in each row.
struct RowSearch {
    private let index: SearchIndex
    private let query: SearchQuery
    /// For each word the rank of its match in each row: the class and, in three bits, the field; `none` without a match.
    private var ranks: [[UInt8]]
    /// For each word the rows with a match.
    private(set) var rows: [[UInt32]]
    /// Whether the name of each row begins with the first word.
    private var beginsName: [Bool]

    private static let none = UInt8.max

    init(_ index: SearchIndex, _ query: SearchQuery) {
        self.index = index
        self.query = query
        ranks = query.words.map { _ in [UInt8](repeating: Self.none, count: index.rowCount) }
        rows = query.words.map { _ in [] }
        beginsName = [Bool](repeating: false, count: index.rowCount)
    }

    // MARK: - Classes

    /// Adds the matches of all classes.
    mutating func addAll(_ rules: SearchRules) {
        addWords(rules)
        addCompounds()
        addTypos()
    }

    /// Adds the matches of the classes from the best one to beginnings of words.
    mutating func addWords(_ rules: SearchRules) {
        addCodes()
        addAlternatives(rules)
        for (number, word) in query.words.enumerated() { addWords(number, word.bytes) }
    }

    /// Adds the rows whose skus or barcodes are terms of the query, and those whose skus begin with one.
    private mutating func addCodes() {
        for term in query.terms {
            index.skus.forEachRow(beginningWith: term.code) { row, isEqual in
                mark(term.words, row, isEqual ? .exact : .prefix, SearchIndex.FieldPlace.other.rawValue)
            }
            index.barcodes.forEachRow(of: term.barcode) { row in
                mark(term.words, row, .exact, SearchIndex.FieldPlace.other.rawValue)
            }
        }
    }

    /// Adds the rows with synonyms.
    private mutating func addAlternatives(_ rules: SearchRules) {
        for alternative in rules.alternatives(query) {
            if alternative.words.count == 1 {
                forEachWordOrForm(alternative.words[0]) { word in
                    index.forEachPosting(of: word) { posting in
                        mark(alternative.span, UInt32(posting.row), .related, posting.place)
                    }
                }
                continue
            }
            // The rows that have all words so far, with the best field, and whether their names begin with the first word.
            var found: [Int: UInt8] = [:]
            for (number, text) in alternative.words.enumerated() {
                var places: [Int: UInt8] = [:]
                forEachWordOrForm(text) { word in
                    index.forEachPosting(of: word) { posting in
                        guard number == 0 || found[posting.row] != nil else { return }
                        let place = number == 0 ? posting.place : max(posting.place, 1)
                        places[posting.row] = min(places[posting.row] ?? place, place, found[posting.row] ?? place)
                    }
                }
                found = places
            }
            for (row, place) in found { mark(alternative.span, UInt32(row), .related, place) }
        }
    }

    private func forEachWordOrForm(_ word: [UInt8], _ body: (Int) -> Void) {
        if let number = index.words.number(of: word) { body(number) }
        index.forEachForm(of: word, body)
    }

    /// Adds the rows that have a word, its forms, or words that begin with it.
    private mutating func addWords(_ number: Int, _ bytes: [UInt8]) {
        for word in index.words.words(beginningWith: bytes) {
            mark(number, word, index.words[word].count == bytes.count ? .exact : .prefix)
        }
        index.forEachForm(of: bytes) { mark(number, $0, .related) }
    }

    /// Adds the rows that have words with the words of the query as a part.
    mutating func addCompounds() {
        for (number, word) in query.words.enumerated() where word.hasCompounds {
            index.words.forEachWord(containing: word.bytes) { mark(number, $0, .compound) }
        }
    }

    /// Adds the rows that have words with one typo.
    mutating func addTypos() {
        for (number, word) in query.words.enumerated() where word.hasTypos {
            index.words.forEachWord(withOneEditOf: word.bytes) { mark(number, $0, .typo) }
        }
    }

    // MARK: - Marking

    /// Marks the rows of a word of the index as matches of a word of the query.
    private mutating func mark(_ number: Int, _ word: Int, _ searchClass: SearchClass) {
        let isFirst = number == 0 && searchClass <= .prefix
        let classBits = searchClass.rawValue << 3
        index.withPostings(of: word) { postings in
            ranks[number].withUnsafeMutableBufferPointer { ranks in
                for bits in postings {
                    let row = Int(bits >> 3)
                    let rank = classBits | UInt8(truncatingIfNeeded: bits) & 0b110
                    if ranks[row] == Self.none { rows[number].append(bits >> 3) }
                    if ranks[row] > rank { ranks[row] = rank }
                }
            }
            if isFirst { for bits in postings where bits & 7 == 0 { beginsName[Int(bits >> 3)] = true } }
        }
    }

    /// Marks a row as a match of adjacent words of the query.
    private mutating func mark(_ numbers: Range<Int>, _ row: UInt32, _ searchClass: SearchClass, _ place: UInt8) {
        let rank = searchClass.rawValue << 3 | place & 0b110
        for number in numbers {
            if ranks[number][Int(row)] == Self.none { rows[number].append(row) }
            ranks[number][Int(row)] = min(ranks[number][Int(row)], rank)
        }
        if numbers.lowerBound == 0, place == 0 { beginsName[Int(row)] = true }
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
                relevances.append(SearchRelevance(rawValue: values[row]))
                word &= word - 1
            }
        }
        let missing = ranks.indices.filter { number in
            !rows[number].contains { ranks[number][Int($0)] >> 3 <= limit.rawValue }
        }
        return SearchMatches(classInUse: limit, rows: found, relevances: relevances, missingWords: missing)
    }

    /// Returns whether each row matches all words but some.
    func matches(without excluded: Set<Int>) -> [Bool] {
        var isMatch = [Bool](repeating: true, count: index.rowCount)
        for number in ranks.indices where !excluded.contains(number) {
            for row in isMatch.indices where ranks[number][row] == Self.none { isMatch[row] = false }
        }
        return isMatch
    }
}
