package import Catalog

/// The words of a shelf's products, with the products that have them.
///
/// An index belongs to the rows of one table. It has neither popularity nor prices, so most changes of products leave it as it is.
package struct SearchIndex: Sendable {
    /// A row that has a word, with the best of the fields that have it and the first place in the name, in one number.
    struct Posting: Sendable {
        let bits: UInt32

        /// - Parameter place: the number of words before the word, if the field is the name.
        init(_ row: UInt32, _ field: SearchRelevance.Field, place: Int = SearchRelevance.lastPlace) {
            bits = row << 5 | UInt32(field.rawValue) << 3 | UInt32(min(place, SearchRelevance.lastPlace))
        }

        init(bits: UInt32) { self.bits = bits }

        var row: Int { Int(bits >> 5) }
        /// The number of the field.
        var field: UInt8 { UInt8(truncatingIfNeeded: bits >> 3 & 0b11) }
        /// The number of words before the word in the name; the last place in other fields.
        var place: UInt8 { UInt8(truncatingIfNeeded: bits & 0b111) }
        var isName: Bool { field == SearchRelevance.Field.name.rawValue }
        /// Whether the word is the first one of the name.
        var beginsName: Bool { isName && place == 0 }
    }

    /// A text of a row that is searched as well, such as that of an attribute.
    package struct Text: Sendable, Equatable {
        package var row: UInt32
        package var text: String

        package init(row: UInt32, text: String) {
            self.row = row
            self.text = text
        }
    }

    package let inflection: Inflection
    let rowCount: Int
    let words: SearchWords
    /// The bits of the postings of all words, one word after another, by ascending rows.
    private let postings: [UInt32]
    private let postingEnds: [UInt32]
    /// The number of words of each row's name, apart from numbers.
    let nameWords: [UInt8]
    /// The hashes of stems in ascending order, with the words that have them.
    private let stemHashes: [UInt32]
    private let stemWords: [UInt32]
    let skus: SearchCodes
    let barcodes: SearchCodes
    let sizes: SearchCodes

    /// The maximum number of rows.
    package static let rowLimit = 1 << 27
    /// The maximum number of pairs of a row and a distinct word in it.
    package static let postingLimit = Int(UInt32.max)

    /// Creates the index of a table.
    ///
    /// - Parameters:
    ///   - texts: further texts of rows, by ascending rows.
    ///   - inflection: the rules for forms of words.
    /// - Precondition: the table has at most `rowLimit` rows and `postingLimit` postings. Its distinct words, its skus and its barcodes have less
    ///   than 4 GiB each.
    /// - Complexity: O(*n*) for *n* bytes of texts, and O(*w* log *w*) for *w* distinct words.
    package init(_ table: ShelfTable, texts: [Text] = [], inflection: Inflection = Inflection()) {
        precondition(table.count <= Self.rowLimit, "an index has at most \(Self.rowLimit) rows")
        var collected = CollectedWords(rows: table.count)
        collected.addTexts(of: table, texts)
        self.inflection = inflection
        rowCount = table.count
        (words, postings, postingEnds) = collected.sorted()
        nameWords = collected.nameWords
        (stemHashes, stemWords) = Self.stems(of: words, inflection)
        var (skuCodes, barcodeCodes, sizeCodes) = (TextColumn(), TextColumn(), TextColumn())
        for row in 0..<table.count {
            table.skus.withBytes(row) { skuCodes.append(SearchCode.folded($0)) }
            let details = table.searchedDetails(row)
            barcodeCodes.append(details.barcode ?? [])
            sizeCodes.append(details.size ?? [])
        }
        (skus, barcodes, sizes) = (SearchCodes(skuCodes), SearchCodes(barcodeCodes), SearchCodes(sizeCodes))
    }

    /// The size in memory, in bytes.
    package var size: Int {
        words.size + 4 * (postings.capacity + postingEnds.capacity + stemHashes.capacity + stemWords.capacity)
            + nameWords.capacity
            + skus.size + barcodes.size + sizes.size + MemoryLayout<SearchIndex>.size
            + Self.arrayCount * ShelfTable.arrayOverhead
    }

    private static let arrayCount = 19

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

    /// Calls a body with a word, if any row has it, and with each other word that is a form of it.
    func forEachWordOrForm(_ word: [UInt8], _ body: (Int) -> Void) {
        if let number = words.number(of: word) { body(number) }
        forEachForm(of: word, body)
    }

    /// Returns the rows that have a word or a form of it, ascending, each as the bits of its best posting.
    func postings(ofWordOrForm word: [UInt8]) -> [UInt32] {
        var (found, wordCount) = ([UInt32](), 0)
        forEachWordOrForm(word) { number in
            found += postings[postingEnds.part(number)]
            wordCount += 1
        }
        guard wordCount > 1 else { return found }
        found.sort()
        // The best posting of a row is the first one.
        var rows: [UInt32] = []
        for bits in found where rows.last.map({ $0 >> 5 != bits >> 5 }) ?? true { rows.append(bits) }
        return rows
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
    /// Whether two tables have the same index: the same rows with the same searched values.
    ///
    /// Scores and prices change far more often than texts. Building an index takes about 2 µs for a product, and this comparison about a
    /// hundredth of that. The tables may be unions.
    ///
    /// - Parameter attributes: the attributes whose texts are in the index.
    /// - Complexity: O(*n*) for *n* bytes of searched values. Columns that both tables share take no time.
    package static func isShared(
        by a: ShelfTable,
        and b: ShelfTable,
        _ attributes: [ResolvedAttribute] = []
    ) -> Bool {
        guard a.skus == b.skus, a.names == b.names, haveSameBrandsAndTags(a, b) else { return false }
        let changed = a.details.rowsWithOtherBytes(than: b.details)
        return changed.allSatisfy { a.searchedDetails($0) == b.searchedDetails($0) }
            && a.hasSameValues(of: attributes, as: b, in: changed)
    }

    private static func haveSameBrandsAndTags(_ a: ShelfTable, _ b: ShelfTable) -> Bool {
        // The numbers of equal texts differ between tables, so they get common ones.
        var numbers = ByteNumbers()
        func common(_ texts: TextColumn) -> [UInt32] {
            (0..<texts.count).map { row in texts.withBytes(row) { numbers.number(of: $0).number } }
        }
        func haveSame(_ a: [UInt32], _ aNumbers: [UInt32], _ b: [UInt32], _ bNumbers: [UInt32]) -> Bool {
            zip(a, b).allSatisfy { x, y in
                x == ShelfTable.none || y == ShelfTable.none ? x == y : aNumbers[Int(x)] == bNumbers[Int(y)]
            }
        }
        let brands = (a: common(a.brandTexts.texts), b: common(b.brandTexts.texts))
        guard haveSame(a.brands, brands.a, b.brands, brands.b) else { return false }
        let tags = (a: common(a.tagTexts.texts), b: common(b.tagTexts.texts))
        var setNumbers = ByteNumbers()
        func commonSets(_ sets: NumberLists, _ tags: [UInt32]) -> [UInt32] {
            sets.map { set in set.map { tags[Int($0)] }.withUnsafeBytes { setNumbers.number(of: $0).number } }
        }
        return haveSame(a.tagSets, commonSets(a.tagSetValues, tags.a), b.tagSets, commonSets(b.tagSetValues, tags.b))
    }
}

extension ShelfTable {
    /// Returns the codes of a row's barcode and size; nil for a missing one.
    fileprivate func searchedDetails(_ row: Int) -> (barcode: [UInt8]?, size: [UInt8]?) {
        details.withBytes(row) { bytes in
            let barcode = ProductDetails.text(.barcode, in: bytes)
            let packs = ProductDetails.packs(in: bytes)
            return (
                barcode.map { Barcode.padded(SearchCode.folded($0)) },
                packs.flatMap { SearchCode.size($0.amount, $0.unit, packs: $0.count) }
            )
        }
    }
}

/// The words of products in the order in which they come.
private struct CollectedWords {
    private var words = TextColumn()
    private var numbers = ByteNumbers()
    private var postings: [UInt32] = []
    /// The number of the word of each posting.
    private var postingWords: [UInt32] = []
    private(set) var nameWords: [UInt8] = []
    private var folded = FoldedText()

    init(rows: Int) {
        nameWords.reserveCapacity(rows)
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
            nameWords.append(UInt8(min(folded.words.count { !$0.isNumber }, SearchRelevance.nameWordLimit)))
            for (place, word) in name.enumerated() { add(word, row, .name, place: place) }
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

    private mutating func add(
        _ word: UInt32,
        _ row: UInt32,
        _ field: SearchRelevance.Field,
        place: Int = SearchRelevance.lastPlace
    ) {
        postings.append(SearchIndex.Posting(row, field, place: place).bits)
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

    /// Returns the words in ascending order, and their postings with the ends of each word's. A row has one posting of a word: in the best field, and there at the first place.
    func sorted() -> (SearchWords, postings: [UInt32], ends: [UInt32]) {
        var order = (0..<UInt32(words.count)).map { $0 }
        RowOrder.sort(&order, by: words)
        var ranks = [UInt32](repeating: 0, count: words.count)
        for (rank, word) in order.enumerated() { ranks[Int(word)] = UInt32(rank) }
        // A counting sort by words keeps the order of rows.
        var starts = [Int](repeating: 0, count: words.count + 1)
        for word in postingWords { starts[Int(ranks[Int(word)]) + 1] += 1 }
        for word in starts.indices.dropFirst() { starts[word] += starts[word - 1] }
        var next = starts
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
            for posting in sorted[starts[word]..<starts[word + 1]] {
                if merged.count > start, let last = merged.last, last >> 5 == posting >> 5 {
                    merged[merged.count - 1] = min(last, posting)
                } else {
                    merged.append(posting)
                }
            }
            precondition(merged.count <= SearchIndex.postingLimit, "an index has at most 2³² − 1 postings")
            ends.append(UInt32(merged.count))
        }
        return (SearchWords(order.lazy.map { words[Int($0)] }), merged, ends)
    }
}
