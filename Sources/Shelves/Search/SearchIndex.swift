internal import Catalog

/// The words of a shelf's products, with the products that have them.
///
/// An index belongs to the rows of one table. It has neither popularity nor prices, so most changes of products leave it as it is.
package struct SearchIndex: Sendable {
    /// A row that has a word, with the best of the fields that have it, in one number.
    struct Posting: Sendable {
        let bits: UInt32

        /// - Parameter place: see `FieldPlace`.
        init(_ row: UInt32, _ place: FieldPlace) { bits = row << 3 | UInt32(place.rawValue) }

        fileprivate init(bits: UInt32) { self.bits = bits }

        var row: Int { Int(bits >> 3) }
        /// The rank of the field in two bits, and 0 for the first word of a name, otherwise 1.
        var place: UInt8 { UInt8(truncatingIfNeeded: bits & 7) }
    }

    /// The fields of words by their rank for relevance, and the first word of a name.
    enum FieldPlace: UInt8 {
        case nameStart = 0
        case name = 1
        case brand = 3
        case tag = 5
        case other = 7
    }

    /// A text of a row that is searched as well, such as that of an attribute.
    package struct Text: Sendable {
        package var row: UInt32
        package var text: String

        package init(row: UInt32, text: String) {
            self.row = row
            self.text = text
        }
    }

    let inflection: Inflection
    let rowCount: Int
    let words: SearchWords
    /// The bits of the postings of all words, one word after another, by ascending rows.
    private let postings: [UInt32]
    private let postingEnds: [UInt32]
    /// The hashes of stems in ascending order, with the words that have them.
    private let stemHashes: [UInt32]
    private let stemWords: [UInt32]
    let skus: SearchCodes
    let barcodes: SearchCodes

    /// The maximum number of rows.
    package static let rowLimit = 1 << 29

    /// Creates the index of a table.
    ///
    /// - Parameters:
    ///   - texts: further texts of rows, by ascending rows.
    ///   - inflection: the rules for forms of words.
    /// - Precondition: the table has at most `rowLimit` rows.
    /// - Complexity: O(*n*) for *n* bytes of texts, and O(*w* log *w*) for *w* distinct words.
    package init(_ table: ShelfTable, texts: [Text] = [], inflection: Inflection = Inflection()) {
        precondition(table.count <= Self.rowLimit, "an index has at most \(Self.rowLimit) rows")
        var collected = CollectedWords(rows: table.count)
        collected.addTexts(of: table, texts)
        self.inflection = inflection
        rowCount = table.count
        (words, postings, postingEnds) = collected.sorted()
        (stemHashes, stemWords) = Self.stems(of: words, inflection)
        var (skuCodes, barcodeCodes) = (TextColumn(), TextColumn())
        for row in 0..<table.count {
            table.skus.withBytes(row) { skuCodes.append(SearchCode.folded($0)) }
            let barcode: [UInt8] = table.details.withBytes(row) { bytes in
                ProductDetails.text(.barcode, in: bytes).map { SearchCode.barcode(SearchCode.folded($0)) } ?? []
            }
            barcodeCodes.append(barcode)
        }
        (skus, barcodes) = (SearchCodes(skuCodes), SearchCodes(barcodeCodes))
    }

    /// The size in memory, in bytes.
    package var size: Int {
        words.size + 4 * (postings.capacity + postingEnds.capacity + stemHashes.capacity + stemWords.capacity)
            + skus.size + barcodes.size + MemoryLayout<SearchIndex>.size + Self.arrayCount * ShelfTable.arrayOverhead
    }

    private static let arrayCount = 12

    /// The number of distinct words.
    package var wordCount: Int { words.count }

    /// Calls a body with each posting of a word, by ascending rows.
    func forEachPosting(of word: Int, _ body: (Posting) -> Void) {
        for bits in postings[postingEnds.part(word)] { body(Posting(bits: bits)) }
    }

    /// Runs a body with the bits of the postings of a word.
    func withPostings<Result>(of word: Int, _ body: (UnsafeBufferPointer<UInt32>) -> Result) -> Result {
        postings.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[postingEnds.part(word)])) }
    }

    /// Calls a body with each other word that is a form of a word.
    func forEachForm(of word: [UInt8], _ body: (Int) -> Void) {
        var found: [Int] = []
        inflection.forEachStem(of: word[...]) { stem in
            let hash = Self.hash(stem)
            var (low, high) = (0, stemHashes.count)
            while low < high {
                let middle = (low + high) / 2
                if stemHashes[middle] < hash { low = middle + 1 } else { high = middle }
            }
            while low < stemHashes.count, stemHashes[low] == hash {
                found.append(Int(stemWords[low]))
                low += 1
            }
        }
        for candidate in Set(found) where inflection.areForms(word[...], words[candidate]) { body(candidate) }
    }

    private static func stems(of words: SearchWords, _ inflection: Inflection) -> (hashes: [UInt32], words: [UInt32]) {
        var pairs: [UInt64] = []
        for word in 0..<words.count {
            inflection.forEachStem(of: words[word]) { pairs.append(UInt64(hash($0)) << 32 | UInt64(word)) }
        }
        pairs.sort()
        return (pairs.map { UInt32($0 >> 32) }, pairs.map { UInt32(truncatingIfNeeded: $0) })
    }

    private static func hash(_ stem: Inflection.Stem) -> UInt32 {
        let hash = stem.bytes.withUnsafeBytes(ByteNumbers.hash) ^ UInt64(stem.rule)
        return UInt32(truncatingIfNeeded: hash &* 0x9E37_79B9_7F4A_7C15 >> 32)
    }
}

extension SearchIndex {
    /// Whether the index of a table is that of the table after a change, too: the same rows, and no other brand, tag or barcode in any of them.
    ///
    /// Scores and prices change far more often than texts. After another change, the index is built again, which takes about 2 µs for a product.
    ///
    /// - Parameter table: the table before the change.
    /// - Complexity: O(*m*) for *m* changed rows.
    package func isCurrent(after changed: ShelfTable.Changed, of table: ShelfTable) -> Bool {
        // Rows that stay have the same skus and names. Numbers of brands and tags are equal, because the lists of them are.
        guard let rows = changed.rows else { return false }
        return rows.lazy.map { Int($0) }.allSatisfy { row in
            table.brands[row] == changed.table.brands[row] && table.tagSets[row] == changed.table.tagSets[row]
                && Self.haveSameBarcode(table, changed.table, row)
        }
    }

    private static func haveSameBarcode(_ a: ShelfTable, _ b: ShelfTable, _ row: Int) -> Bool {
        func barcode(_ table: ShelfTable) -> [UInt8]? {
            table.details.withBytes(row) { ProductDetails.text(.barcode, in: $0).map { Array($0) } }
        }
        return barcode(a) == barcode(b)
    }
}

/// The words of products in the order in which they come.
private struct CollectedWords {
    private var words = TextColumn()
    private var numbers = ByteNumbers()
    private var postings: [UInt32] = []
    /// The number of the word of each posting.
    private var postingWords: [UInt32] = []
    private var folded = FoldedText()

    init(rows: Int) {
        postings.reserveCapacity(8 * rows)
        postingWords.reserveCapacity(8 * rows)
    }

    /// Adds the words of all rows, by ascending rows.
    mutating func addTexts(of table: ShelfTable, _ texts: [SearchIndex.Text]) {
        let brands = (0..<table.brandTexts.count).map { brand in
            table.brandTexts.texts.withBytes(brand) { wordNumbers($0) }
        }
        let tags = (0..<table.tagTexts.count).map { tag in table.tagTexts.texts.withBytes(tag) { wordNumbers($0) } }
        let tagSets = table.tagSetValues.map { set in set.flatMap { tags[Int($0)] } }
        var next = 0
        for row in 0..<UInt32(table.count) {
            let name = table.names.withBytes(Int(row)) { wordNumbers($0) }
            for (place, word) in name.enumerated() { add(word, row, place == 0 ? .nameStart : .name) }
            let brand = table.brands[Int(row)]
            if brand != ShelfTable.none { for word in brands[Int(brand)] { add(word, row, .brand) } }
            for word in tagSets[Int(table.tagSets[Int(row)])] { add(word, row, .tag) }
            while next < texts.count, texts[next].row == row {
                var text = texts[next].text
                for word in text.withUTF8({ wordNumbers(UnsafeRawBufferPointer($0)) }) { add(word, row, .other) }
                next += 1
            }
        }
        precondition(next == texts.count, "texts are in the order of their rows")
    }

    private mutating func add(_ word: UInt32, _ row: UInt32, _ place: SearchIndex.FieldPlace) {
        postings.append(SearchIndex.Posting(row, place).bits)
        postingWords.append(word)
    }

    /// Returns the numbers of the words of a text, which get a number if they are new.
    private mutating func wordNumbers(_ text: UnsafeRawBufferPointer) -> [UInt32] {
        folded.fold(text)
        return folded.words.map { word in
            folded[word].withUnsafeBytes { bytes in
                let (number, isNew) = numbers.number(of: bytes)
                if isNew { words.append(bytes) }
                return number
            }
        }
    }

    /// Returns the words in ascending order, and their postings with the ends of each word's. A row has one posting of a word, with the best field.
    func sorted() -> (SearchWords, postings: [UInt32], ends: [UInt32]) {
        var order = (0..<UInt32(words.count)).map { $0 }
        RowOrder.sort(&order, by: words)
        var ranks = [UInt32](repeating: 0, count: words.count)
        for (rank, word) in order.enumerated() { ranks[Int(word)] = UInt32(rank) }
        // A counting sort by words keeps the order of rows.
        var places = [Int](repeating: 0, count: words.count + 1)
        for word in postingWords { places[Int(ranks[Int(word)]) + 1] += 1 }
        for word in places.indices.dropFirst() { places[word] += places[word - 1] }
        var next = places
        var sorted = [UInt32](repeating: 0, count: postings.count)
        for (posting, word) in zip(postings, postingWords) {
            let rank = Int(ranks[Int(word)])
            sorted[next[rank]] = posting
            next[rank] += 1
        }
        var (merged, ends) = ([UInt32](), [UInt32]())
        merged.reserveCapacity(sorted.count)
        ends.reserveCapacity(words.count)
        for word in 0..<words.count {
            let start = merged.count
            for posting in sorted[places[word]..<places[word + 1]] {
                if merged.count > start, let last = merged.last, last >> 3 == posting >> 3 {
                    merged[merged.count - 1] = min(last, posting)
                } else {
                    merged.append(posting)
                }
            }
            ends.append(UInt32(merged.count))
        }
        return (SearchWords(order.lazy.map { words[Int($0)] }), merged, ends)
    }
}
