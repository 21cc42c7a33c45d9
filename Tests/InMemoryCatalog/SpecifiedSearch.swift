internal import Catalog
internal import Shelves

/// The specification of searches for the catalog in memory: it reads every word of every product. It shares folding and the forms of words with
/// the index, and nothing else.
struct SpecifiedSearch {
    /// The products that are found, with their relevance.
    let relevances: [SKU: SearchRelevance]
    let searchClass: SearchClass
    /// The words that no product has in the classes in use.
    private let missing: [Int]

    private let text: SearchText
    private let words: [Word]
    private let products: [Product]
    private let inflection: Inflection
    private let attributes: [ResolvedAttribute]
    private let alternatives: [Alternative]
    private let limit: SearchClass?

    private struct Word {
        let bytes: [UInt8]
        let scalars: [UInt32]
        let isNumber: Bool
        let source: Range<Int>
        /// The range in the text of each scalar.
        let letters: [Range<Int>]

        static func words(_ text: String) -> [Word] {
            let folded = FoldedText(text)
            return folded.words.map { word in
                let bytes = Array(folded[word])
                var (letters, start) = ([Range<Int>](), word.bytes.lowerBound)
                for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
                    let end = start + UTF8.width(scalar)
                    letters.append(folded.source(of: start..<end))
                    start = end
                }
                return Word(
                    bytes: bytes,
                    scalars: String(decoding: bytes, as: UTF8.self).unicodeScalars.map(\.value),
                    isNumber: word.isNumber,
                    source: word.source,
                    letters: letters
                )
            }
        }
    }

    /// A text that adjacent words find.
    private struct Alternative {
        let span: Range<Int>
        let words: [Word]
    }

    private typealias Field = (rank: Int, field: ProductMatch.Field, words: [Word])

    /// The best match of each word in a product.
    private struct Ranks {
        var words: [(searchClass: SearchClass, field: Int)?]
        var beginsName = false
        /// The classes of words of the name by their place.
        var places: [Int: SearchClass] = [:]

        mutating func add(_ place: Int, in searchClass: SearchClass) {
            places[place] = min(places[place] ?? searchClass, searchClass)
        }

        mutating func add(_ word: Int, _ searchClass: SearchClass, _ field: Int) {
            guard let old = words[word] else { return words[word] = (searchClass, field) }
            if (Int(searchClass.rawValue), field) < (Int(old.searchClass.rawValue), old.field) {
                words[word] = (searchClass, field)
            }
        }

        /// The worst class and the best field; nil if a word does not match.
        var worst: (searchClass: SearchClass, field: Int)? {
            let known = words.compactMap { $0 }
            guard known.count == words.count else { return nil }
            return (known.map(\.searchClass).max()!, known.map(\.field).min()!)
        }
    }

    /// - Parameters:
    ///   - products: in the order of their names.
    ///   - limit: the worst class in use; nil for the best ones that find 5 products.
    init(
        _ text: SearchText,
        _ products: [Product],
        _ inflection: Inflection,
        _ synonyms: Synonyms,
        _ attributes: [ResolvedAttribute],
        limit: SearchClass?
    ) {
        let words = Word.words(text.text)
        let alternatives = Self.alternatives(words, inflection, synonyms)
        (self.text, self.words, self.products, self.inflection) = (text, words, products, inflection)
        (self.attributes, self.alternatives, self.limit) = (attributes, alternatives, limit)
        let ranks = products.map { Self.ranks(text, words, alternatives, $0, attributes, inflection) }
        let classes = ranks.compactMap { $0.worst?.searchClass }
        let enough = SearchClass.allCases.first { limit in classes.count { $0 <= limit } >= 5 }
        let inUse = limit ?? enough ?? .typo
        var found: [SKU: SearchRelevance] = [:]
        for (product, ranks) in zip(products, ranks) {
            guard let (worst, field) = ranks.worst, worst <= inUse else { continue }
            found[product.sku] = SearchRelevance(
                rank: worst.rawValue * 8 + UInt8(field) * 2 + (ranks.beginsName ? 0 : 1),
                place: ranks.places.filter { $0.value <= max(.prefix, inUse) }.keys.min() ?? .max,
                nameWords: Word.words(product.name).count { !$0.isNumber }
            )
        }
        (relevances, searchClass) = (found, inUse)
        missing = words.indices.filter { word in
            !ranks.contains { ranks in ranks.words[word].map { $0.searchClass <= inUse } ?? false }
        }
    }

    // MARK: - Matching

    /// Returns the class of a word of a product, without synonyms, and the part that matches.
    private static func match(_ wanted: Word, _ word: Word, _ inflection: Inflection) -> (SearchClass, Range<Int>)? {
        if wanted.scalars == word.scalars { return (.exact, word.source) }
        if inflection.areForms(wanted.bytes[...], word.bytes[...]) { return (.related, word.source) }
        let (count, total) = (wanted.scalars.count, word.scalars.count)
        if count < total {
            let offsets = (0...(total - count)).filter { Array(word.scalars[$0..<($0 + count)]) == wanted.scalars }
            if let offset = offsets.first, offset == 0 || count >= 4 && !wanted.isNumber {
                let range = word.letters[offset].lowerBound..<word.letters[offset + count - 1].upperBound
                return (offset == 0 ? .prefix : .compound, range)
            }
        }
        let canHaveTypo = count >= 5 && !wanted.isNumber && wanted.scalars[0] == word.scalars.first
        return canHaveTypo && edits(wanted.scalars, word.scalars) == 1 ? (.typo, word.source) : nil
    }

    /// The Damerau–Levenshtein distance, with adjacent letters swapped once.
    private static func edits(_ a: [UInt32], _ b: [UInt32]) -> Int {
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var edits = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { edits = min(edits, rows[i - 1][j - 1] + 1) }
                row.append(edits)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }

    private static func isWordOrForm(_ a: Word, _ b: Word, _ inflection: Inflection) -> Bool {
        a.bytes == b.bytes || inflection.areForms(a.bytes[...], b.bytes[...])
    }

    private static func alternatives(_ words: [Word], _ inflection: Inflection, _ synonyms: Synonyms) -> [Alternative] {
        let rules =
            synonyms.groups.flatMap { group in group.map { (from: $0, to: group) } }
            + synonyms.oneWay.map { (from: $0.from, to: $0.to) }
        var found: [Alternative] = []
        for rule in rules {
            let from = Word.words(rule.from)
            for start in words.indices where start + from.count <= words.count {
                let span = start..<(start + from.count)
                guard zip(words[span], from).allSatisfy({ isWordOrForm($0, $1, inflection) }) else { continue }
                let others = rule.to.map(Word.words).filter { $0.map(\.bytes) != from.map(\.bytes) }
                found += others.map { Alternative(span: span, words: $0) }
            }
        }
        return found
    }

    private static func fields(_ product: Product, _ attributes: [ResolvedAttribute]) -> [Field] {
        var fields: [Field] = [(0, .name, Word.words(product.name))]
        if let brand = product.brand { fields.append((1, .brand, Word.words(brand))) }
        fields += product.tags.enumerated().map { (2, .tag($0), Word.words($1)) }
        fields += attributes.searchedTexts(of: product).map { attribute, index, text in
            (3, .attribute(attribute.name, index), Word.words(text))
        }
        return fields
    }

    private static func ranks(
        _ text: SearchText,
        _ words: [Word],
        _ alternatives: [Alternative],
        _ product: Product,
        _ attributes: [ResolvedAttribute],
        _ inflection: Inflection
    ) -> Ranks {
        let fields = fields(product, attributes)
        var ranks = Ranks(words: words.map { _ in nil })
        for (number, wanted) in words.enumerated() {
            for field in fields {
                for (index, word) in field.words.enumerated() {
                    guard let (found, _) = match(wanted, word, inflection) else { continue }
                    ranks.add(number, found, field.rank)
                    if field.rank == 0 { ranks.add(index, in: found) }
                    if number == 0, index == 0, field.rank == 0, found <= .prefix { ranks.beginsName = true }
                }
            }
        }
        for (number, wanted) in words.enumerated() {
            for (a, b) in splits(wanted) {
                func has(_ part: [UInt32], _ field: Field) -> Bool { field.words.contains { $0.scalars == part } }
                let (first, second) = (fields.filter { has(a, $0) }, fields.filter { has(b, $0) })
                guard !first.isEmpty, !second.isEmpty else { continue }
                ranks.add(number, .compound, (first + second).map(\.rank).min()!)
                for (index, word) in fields[0].words.enumerated() where [a, b].contains(word.scalars) {
                    ranks.add(index, in: .compound)
                }
            }
        }
        for (number, pair) in pairs(words) {
            for field in fields {
                for (index, word) in field.words.enumerated() {
                    guard let found = matchPair(pair, word, inflection) else { continue }
                    ranks.add(number, found, field.rank)
                    ranks.add(number + 1, found, field.rank)
                    guard field.rank == 0 else { continue }
                    ranks.add(index, in: found)
                    if number == 0, index == 0 { ranks.beginsName = true }
                }
            }
        }
        for alternative in alternatives {
            let best = alternative.words.map { wanted in
                fields.filter { $0.words.contains { isWordOrForm(wanted, $0, inflection) } }.map(\.rank).min()
            }
            guard let field = best.compactMap({ $0 }).min(), !best.contains(nil) else { continue }
            for number in alternative.span { ranks.add(number, .related, field) }
            for (index, word) in fields[0].words.enumerated() {
                let isFound = alternative.words.contains { isWordOrForm($0, word, inflection) }
                if isFound { ranks.add(index, in: .related) }
            }
            if alternative.span.lowerBound == 0, let first = fields[0].words.first,
                isWordOrForm(alternative.words[0], first, inflection)
            {
                ranks.beginsName = true
            }
        }
        let (sku, barcode) = (code(product.sku.text), product.barcode.map { Barcode.padded(Array(code($0).utf8)) })
        for (code, span) in codes(text) {
            for number in span {
                if code == sku || barcode == Barcode.padded(Array(code.utf8)) { ranks.add(number, .exact, 3) }
                if sku.hasPrefix(code) { ranks.add(number, .prefix, 3) }
            }
        }
        for number in sizes(words, product).joined() { ranks.add(number, .exact, 3) }
        return ranks
    }

    /// Returns a word as two words of at least three letters.
    private static func splits(_ word: Word) -> [([UInt32], [UInt32])] {
        let letters = word.scalars
        guard !word.isNumber, letters.count >= 6 else { return [] }
        return (3...(letters.count - 3)).map { (Array(letters[..<$0]), Array(letters[$0...])) }.filter { $0 != $1 }
    }

    /// Returns adjacent words as one word of at least four letters, with the number of the first one.
    private static func pairs(_ words: [Word]) -> [(number: Int, letters: [UInt32])] {
        words.indices.dropLast().compactMap { number in
            let pair = [words[number], words[number + 1]]
            let letters = pair.flatMap(\.scalars)
            // Both may come from one character.
            let isPair = pair.allSatisfy { word in
                !word.isNumber && words.count { $0.source.overlaps(word.source) } == 1
            }
            return isPair && letters.count >= 4 ? (number, letters) : nil
        }
    }

    /// Returns the class in which a word of a product matches adjacent words.
    private static func matchPair(_ pair: [UInt32], _ word: Word, _ inflection: Inflection) -> SearchClass? {
        if word.scalars == pair { return .exact }
        let bytes = pair.flatMap { UTF8.encode(Unicode.Scalar($0)!)! }
        if inflection.areForms(bytes[...], word.bytes[...]) { return .related }
        return word.scalars.starts(with: pair) ? .prefix : nil
    }

    // MARK: - Codes

    /// Returns a code without case, accents and white space.
    private static func code(_ text: String) -> String {
        text.filter { !$0.isWhitespace }.map { character in
            let words = FoldedText.words(String(character))
            return words.isEmpty ? String(character) : String(decoding: words.joined(), as: UTF8.self)
        }.joined()
    }

    /// The codes of adjacent parts of the text, each with the numbers of its words.
    private static func codes(_ text: SearchText) -> [(code: String, words: Range<Int>)] {
        var (parts, next) = ([(text: String, words: Range<Int>)](), 0)
        for part in text.text.split(separator: " ") {
            let count = FoldedText.words(String(part)).count
            parts.append((String(part), next..<(next + count)))
            next += count
        }
        return parts.indices.flatMap { first in
            (first..<parts.count).compactMap { last in
                guard !parts[first].words.isEmpty, !parts[last].words.isEmpty else { return nil }
                let words = parts[first].words.lowerBound..<parts[last].words.upperBound
                return (parts[first...last].map { code($0.text) }.joined(), words)
            }
        }
    }

    /// Returns the numbers of adjacent words that are the size of a product.
    private static func sizes(_ words: [Word], _ product: Product) -> [Range<Int>] {
        guard let size = product.size else { return [] }
        func text(_ number: Int) -> String { String(decoding: words[number].bytes, as: UTF8.self) }
        func isSize(_ number: Int) -> Bool {
            guard number + 1 < words.count, words[number].isNumber, let amount = ExactDecimal(text(number)),
                let unit = MeasureUnit(spelling: text(number + 1))
            else { return false }
            return unit.dimension == size.unit.dimension
                && amount.multiplied(by: unit.factor) == size.amount.multiplied(by: size.unit.factor)
        }
        return words.indices.flatMap { start -> [Range<Int>] in
            var found: [Range<Int>] = isSize(start) ? [start..<(start + 2)] : []
            guard text(start) == "\(size.packs)" else { return found }
            if isSize(start + 1) { found.append(start..<(start + 3)) }
            if start + 1 < words.count, text(start + 1) == "x", isSize(start + 2) { found.append(start..<(start + 4)) }
            return found
        }
    }

    // MARK: - Results

    /// Returns the parts of a product that match any word.
    func matches(in product: Product) -> [ProductMatch] {
        let fields = Self.fields(product, attributes)
        let own = alternatives.filter { alternative in
            alternative.words.allSatisfy { wanted in
                fields.contains { $0.words.contains { Self.isWordOrForm(wanted, $0, inflection) } }
            }
        }
        let all = fields.flatMap(\.words).map(\.scalars)
        let parts = words.flatMap(Self.splits).filter { all.contains($0) && all.contains($1) }.flatMap { [$0, $1] }
        var found: [ProductMatch] = []
        for field in fields {
            var marked: Set<Int> = []
            for word in field.words {
                for wanted in words {
                    guard let (found, range) = Self.match(wanted, word, inflection), found <= searchClass else {
                        continue
                    }
                    marked.formUnion(range)
                }
                for pair in Self.pairs(words).map(\.letters) {
                    guard let found = Self.matchPair(pair, word, inflection), found <= searchClass else { continue }
                    let end = found == .prefix ? word.letters[pair.count - 1].upperBound : word.source.upperBound
                    marked.formUnion(word.source.lowerBound..<end)
                }
                if searchClass >= .compound, parts.contains(word.scalars) { marked.formUnion(word.source) }
                let isRelated = own.contains { $0.words.contains { Self.isWordOrForm($0, word, inflection) } }
                if isRelated, searchClass >= .related { marked.formUnion(word.source) }
            }
            for start in marked.sorted() where !marked.contains(start - 1) {
                var end = start
                while marked.contains(end) { end += 1 }
                found.append(ProductMatch(field.field, start..<end))
            }
        }
        let (sku, codes) = (product.sku.text, Self.codes(text).map(\.code))
        let lengths = codes.filter { $0 == Self.code(sku) || searchClass >= .prefix && Self.code(sku).hasPrefix($0) }
        if let length = lengths.map(\.utf8.count).max() {
            let isWhole = length == Self.code(sku).utf8.count
            let end =
                isWhole ? sku.count : (0...sku.count).first { Self.code(String(sku.prefix($0))).utf8.count >= length }!
            found.append(ProductMatch(.sku, 0..<String(sku.prefix(end)).utf16.count))
        }
        if let barcode = product.barcode {
            let padded = Barcode.padded(Array(Self.code(barcode).utf8))
            if codes.contains(where: { Barcode.padded(Array($0.utf8)) == padded }) {
                found.append(ProductMatch(.barcode, 0..<barcode.utf16.count))
            }
        }
        return found
    }

    var summary: SearchSummary {
        guard relevances.isEmpty, limit == nil else { return SearchSummary(text, searchClass) }
        let written = text.text.utf16
        let texts = missing.map { word in
            String(
                decoding: written.dropFirst(words[word].source.lowerBound).prefix(words[word].source.count),
                as: UTF16.self
            )
        }
        return SearchSummary(text, searchClass, failure: .init(missing: texts, correction: correction))
    }

    // MARK: - Corrections

    private typealias Replacement = (edits: Int, purchases: Double, products: Set<SKU>, bytes: [UInt8])

    private static func isBetter(_ a: Replacement, _ b: Replacement) -> Bool {
        if a.edits != b.edits { return a.edits < b.edits }
        if a.purchases != b.purchases { return a.purchases > b.purchases }
        if a.products.count != b.products.count { return a.products.count > b.products.count }
        return a.bytes.lexicographicallyPrecedes(b.bytes)
    }

    /// Returns the best word of some products in place of another word. It is none of the known words.
    private func replacement(_ word: Int, in context: Set<SKU>, except known: Set<[UInt8]>) -> Replacement? {
        let wanted = words[word]
        var found: [[UInt8]: Replacement] = [:]
        // A product that nobody has bought has no weight, even if it is the most popular one.
        let highest = max(products.map(\.popularity.log2).max() ?? 0, -1e9)
        let count = PopularityCount(metric: .decay, halfLifeDays: 1, newcomerBoost: 0)
        for product in products where context.contains(product.sku) {
            let weight = Popularity(log2: product.popularity.log2 - highest).score(
                day: Popularity.epochDay,
                count: count
            )
            let own = Self.fields(product, attributes).flatMap(\.words).filter { !$0.isNumber }
            for other in Dictionary(own.map { ($0.bytes, $0) }, uniquingKeysWith: { first, _ in first }).values {
                let edits = Self.edits(wanted.scalars, other.scalars)
                guard edits > 0, edits <= (wanted.scalars.count < 5 ? 1 : 2) else { continue }
                if known.contains(other.bytes) { continue }
                var new = found[other.bytes] ?? (edits, 0, [], other.bytes)
                new.purchases += weight
                new.products.insert(product.sku)
                found[other.bytes] = new
            }
        }
        return found.values.min(by: Self.isBetter)
    }

    private var correction: String? {
        let ranks = products.map {
            ($0.sku, Self.ranks(text, words, alternatives, $0, attributes, inflection).words.map { $0 != nil })
        }
        func context(without excluded: Set<Int>) -> Set<SKU> {
            Set(
                ranks.filter { _, isFound in words.indices.allSatisfy { excluded.contains($0) || isFound[$0] } }
                    .map { $0.0 }
            )
        }
        func isCorrectable(_ word: Int) -> Bool {
            !words[word].isNumber && words[word].scalars.count >= 3
                && words.count { $0.source.overlaps(words[word].source) } == 1
        }
        let counts = words.indices.map { word in ranks.count { $0.1[word] } }
        let missing = words.indices.filter { counts[$0] == 0 }
        var known = Set(words.map(\.bytes))
        if missing.isEmpty {
            let rarest = words.indices.filter(isCorrectable).sorted { (counts[$0], $0) < (counts[$1], $1) }.prefix(4)
            let found = rarest.sorted().compactMap { word in
                replacement(word, in: context(without: [word]), except: known).map { (word: word, found: $0) }
            }
            return found.min { Self.isBetter($0.found, $1.found) }.map { corrected([$0.word: $0.found.bytes]) }
        }
        guard missing.count <= 4, missing.allSatisfy(isCorrectable) else { return nil }
        var (replaced, left) = ([Int: [UInt8]](), context(without: Set(missing)))
        for word in missing {
            guard let found = replacement(word, in: left, except: known) else { return nil }
            replaced[word] = found.bytes
            known.insert(found.bytes)
            left.formIntersection(found.products)
        }
        return corrected(replaced)
    }

    /// Returns the text with other words, as the most popular product with the word in its name writes it.
    private func corrected(_ replaced: [Int: [UInt8]]) -> String {
        var (units, end) = ([UTF16.CodeUnit](), 0)
        let written = Array(text.text.utf16)
        for (word, bytes) in replaced.sorted(by: { $0.key < $1.key }) {
            units += written[end..<words[word].source.lowerBound] + Array(spelling(bytes).utf16)
            end = words[word].source.upperBound
        }
        return String(decoding: units + written[end...], as: UTF16.self)
    }

    private func spelling(_ bytes: [UInt8]) -> String {
        let folded = String(decoding: bytes, as: UTF8.self)
        var best: Product?
        for product in products where Word.words(product.name).contains(where: { $0.bytes == bytes }) {
            if best.map({ product.popularity > $0.popularity }) ?? true { best = product }
        }
        guard let name = best?.name, let word = Word.words(name).first(where: { $0.bytes == bytes }) else {
            return folded
        }
        let units = Array(name.utf16)[word.source]
        let spelling = String(decoding: units, as: UTF16.self).lowercased()
        return FoldedText.words(spelling) == [bytes] ? spelling : folded
    }
}
