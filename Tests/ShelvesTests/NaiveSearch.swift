import Catalog

@testable import Shelves

/// The specification of searches: it reads every word of every product, by definition, and shares only the forms of words with the index.
struct NaiveSearch {
    struct Letter {
        var text: String
        var source: Range<Int>
        /// Whether it is a superscript, which does not continue a number.
        var isStyled = false
    }

    struct Word {
        let letters: [Letter]
        let isNumber: Bool
        let source: Range<Int>
        let text: String
        let bytes: ArraySlice<UInt8>
        /// The letters as numbers, because canonically equivalent strings are equal.
        let scalars: [UInt32]

        init(letters: [Letter], isNumber: Bool, source: Range<Int>) {
            (self.letters, self.isNumber, self.source) = (letters, isNumber, source)
            text = letters.map(\.text).joined()
            bytes = Array(text.utf8)[...]
            scalars = text.unicodeScalars.map(\.value)
        }
    }

    struct Match: Equatable {
        var sku: String
        var relevance: SearchRelevance
    }

    /// How a product matches the words of a query.
    private struct Ranks {
        /// For each word its best class and field.
        var words: [(UInt8, UInt8)?]
        var beginsName = false
        /// The places of words of the name, each with the class in which it is found.
        var places: [(searchClass: SearchClass, place: Int)] = []
    }

    struct Outcome: Equatable {
        var searchClass: SearchClass
        var matches: [Match]
        var missing: [Int]
    }

    private let products: [Product]
    private let inflection: Inflection
    private let synonyms: Synonyms
    private let fields: [SKU: [Field]]

    /// A text of a product, with the rank of its field.
    typealias Field = (rank: UInt8, field: SearchField, words: [Word])

    /// - Parameter others: further texts of products.
    init(products: [Product], inflection: Inflection, synonyms: Synonyms, others: [SKU: [String]] = [:]) {
        (self.products, self.inflection, self.synonyms) = (products, inflection, synonyms)
        fields = Dictionary(
            uniqueKeysWithValues: products.map { ($0.sku, Self.fields($0, others[$0.sku, default: []])) }
        )
    }

    // MARK: - Folding

    /// Folded characters of the alphabet of `RandomCatalog`, apart from ASCII; `nil` for those that do not count.
    private static let folded: [Character: String?] = [
        "é": "e", "ä": "a", "Ä": "a", "č": "c", "Č": "c", "š": "s", "ß": "ss", "ẞ": "ss", "Ø": "o", "ø": "o", "đ": "d",
        "Đ": "d", "æ": "ae",
        "ﬁ": "fi", "Ё": "е", "ё": "е", "Ж": "ж", "ж": "ж", "й": "й", "Й": "й", "и": "и", "о": "о", "г": "г", "у": "у",
        "р": "р", "т": "т", "ы": "ы", "к": "к", "е": "е", "б": "б",
        "ς": "σ", "Σ": "σ", "σ": "σ", "ό": "ο", "ο": "ο", "Ｗ": "w", "ｗ": "w", "Ａ": "a", "ａ": "a", "ｉ": "i", "１": "1",
        "牛": "牛", "乳": "乳",
        "ž": "z", "Ž": "z", "x\u{30C}": "x", "X\u{30C}": "x", "ö": "o", "ü": "u", "\u{AD}": nil,
        // An apostrophe ends a number, but not a word.
        "½": "'1 2'", "℅": "'c o'", "℁": "'a s'", "²": "2", "³": "3",
    ]

    /// Characters that differ in codes from those in words.
    private static let codeFolded: [Character: String] = [
        "½": "1⁄2", "℅": "c/o", "℁": "a/s", "’": "'", "－": "-", "\u{AD}": "",
    ]

    /// Returns the words of a text.
    static func words(_ text: String) -> [Word] {
        // Each folded character with its range: letters and digits, marks of decimals, apostrophes, and spaces for all others.
        var letters: [Letter] = []
        var offset = 0
        for character in text {
            let source = offset..<(offset + String(character).utf16.count)
            offset = source.upperBound
            let folded: String?
            if let known = Self.folded[character] {
                folded = known
            } else if character.isASCII,
                character.isLetter || character.isNumber || character == "." || character == ","
            {
                folded = character.lowercased()
            } else {
                folded = character == "'" || character == "’" ? "'" : " "
            }
            guard let folded else { continue }
            let isStyled = "²³".contains(character)
            for letter in folded { letters.append(Letter(text: String(letter), source: source, isStyled: isStyled)) }
        }
        func kind(_ index: Int) -> Int {
            guard index < letters.count else { return 3 }
            let text = letters[index].text
            if text.allSatisfy({ "0123456789".contains($0) }) { return 1 }
            return text == "." || text == "," ? 2 : text == " " ? 3 : text == "'" ? 4 : 0
        }
        var words: [Word] = []
        var index = 0
        while index < letters.count {
            let start = index
            switch kind(index) {
            case 0:
                while kind(index) == 0 || kind(index) == 4 { index += 1 }
                let own = letters[start..<index].filter { $0.text != "'" }
                words.append(
                    Word(letters: own, isNumber: false, source: own[0].source.lowerBound..<own.last!.source.upperBound)
                )
            case 1:
                func isDigit(_ index: Int) -> Bool {
                    kind(index) == 1 && letters[index].isStyled == letters[start].isStyled
                }
                while isDigit(index) || kind(index) == 2 && isDigit(index + 1) { index += 1 }
                let parts = letters[start..<index].split { $0.text == "." || $0.text == "," }
                if parts.count == 2 {
                    words.append(number(parts[0], parts[1]))
                } else {
                    words += parts.map { number($0, []) }
                }
            default: index += 1
            }
        }
        return words
    }

    private static func number(_ whole: ArraySlice<Letter>, _ decimals: ArraySlice<Letter>) -> Word {
        let source = whole.first!.source.lowerBound..<(decimals.last ?? whole.last!).source.upperBound
        var digits = whole.map(\.text).joined()
        while digits.hasPrefix("0"), digits.count > 1 { digits.removeFirst() }
        var fraction = decimals.map(\.text).joined()
        while fraction.hasSuffix("0") { fraction.removeLast() }
        let text = digits + (fraction.isEmpty ? "" : "." + fraction)
        return Word(letters: text.map { Letter(text: String($0), source: source) }, isNumber: true, source: source)
    }

    // MARK: - Classes

    static func distance(_ a: [UInt32], _ b: [UInt32]) -> Int {
        // The exact distance does not matter above 2.
        if abs(a.count - b.count) > 2 { return 3 }
        var table = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
        for i in 0...a.count {
            for j in 0...b.count {
                if i == 0 || j == 0 {
                    table[i][j] = i + j
                    continue
                }
                var edits = min(table[i - 1][j] + 1, table[i][j - 1] + 1)
                edits = min(edits, table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    edits = min(edits, table[i - 2][j - 2] + 1)
                }
                table[i][j] = edits
            }
        }
        return table[a.count][b.count]
    }

    private static func offset(of part: [UInt32], in word: [UInt32]) -> Int? {
        guard part.count <= word.count else { return nil }
        return (0...(word.count - part.count)).first { Array(word[$0..<($0 + part.count)]) == part }
    }

    /// Returns the class of a word of a product, without synonyms, and the letters that match.
    func match(
        _ wanted: Word,
        _ word: Word,
        hasForms: Bool = true
    ) -> (searchClass: SearchClass, source: Range<Int>)? {
        let (a, b) = (wanted.scalars, word.scalars)
        if a == b { return (.exact, word.source) }
        if hasForms, inflection.areForms(wanted.bytes, word.bytes) { return (.related, word.source) }
        if let offset = Self.offset(of: a, in: b), offset == 0 || a.count >= 4 && !wanted.isNumber {
            let last = word.letters[offset + a.count - 1]
            return (offset == 0 ? .prefix : .compound, word.letters[offset].source.lowerBound..<last.source.upperBound)
        }
        if a.count >= 5, !wanted.isNumber, a.first == b.first, Self.distance(a, b) == 1 { return (.typo, word.source) }
        return nil
    }

    /// Returns adjacent words as one word of at least four letters, with the number of the first one.
    private static func pairs(_ words: [Word]) -> [(number: Int, letters: [UInt32])] {
        words.indices.dropLast().compactMap { number in
            let (a, b) = (words[number], words[number + 1])
            // Words of one character overlap, and those of its neighbours touch them.
            let isOne = [a, b].contains { word in words.count { $0.source.overlaps(word.source) } > 1 }
            guard !a.isNumber, !b.isNumber, !isOne, a.scalars.count + b.scalars.count >= 4 else { return nil }
            return (number, a.scalars + b.scalars)
        }
    }

    /// Returns the class in which a word of a product matches adjacent words of a query.
    private func matchPair(_ pair: [UInt32], _ word: Word, hasForms: Bool) -> SearchClass? {
        if word.scalars == pair { return .exact }
        var text = ""
        text.unicodeScalars.append(contentsOf: pair.map { Unicode.Scalar($0)! })
        if hasForms, inflection.areForms(Array(text.utf8)[...], word.bytes) { return .related }
        return word.scalars.starts(with: pair) ? .prefix : nil
    }

    /// Returns a word as two different words of at least three letters.
    private static func splits(_ word: Word) -> [[[UInt32]]] {
        guard !word.isNumber, word.scalars.count >= 6 else { return [] }
        return (3...(word.scalars.count - 3)).map { [Array(word.scalars[..<$0]), Array(word.scalars[$0...])] }
            .filter { $0[0] != $0[1] }
    }

    /// The texts that adjacent words of a query find, with the first of these words and their number.
    private func alternatives(_ words: [Word]) -> [(start: Int, count: Int, text: [Word])] {
        var rules = synonyms.oneWay.map { (from: $0.from, to: $0.to) }
        for group in synonyms.groups { for text in group { rules.append((text, group)) } }
        var found: [(start: Int, count: Int, text: [Word])] = []
        for rule in rules {
            let from = Self.words(rule.from)
            for start in words.indices where start + from.count <= words.count {
                let isSame = zip(from, words[start...]).allSatisfy { isWordOrForm($1, $0) }
                for text in rule.to where isSame && Self.words(text).map(\.text) != from.map(\.text) {
                    found.append((start, from.count, Self.words(text)))
                }
            }
        }
        return found
    }

    private func isWordOrForm(_ a: Word, _ b: Word) -> Bool {
        a.scalars == b.scalars || inflection.areForms(a.bytes, b.bytes)
    }

    // MARK: - Products

    private static func fields(_ product: Product, _ others: [String]) -> [Field] {
        [(0, .name, words(product.name))] + (product.brand.map { [(1, .brand, words($0))] } ?? [])
            + product.tags.enumerated().map { (2, .tag($0), words($1)) }
            + others.enumerated().map { (3, .other($0), words($1)) }
    }

    private static func code(_ text: String) -> String {
        text.filter { !$0.isWhitespace }.map { codeFolded[$0] ?? (folded[$0] ?? nil) ?? $0.lowercased() }.joined()
    }

    private static func barcode(_ text: String) -> String {
        let isNumber = text.allSatisfy { "0123456789".contains($0) } && (1...14).contains(text.count)
        return isNumber ? String(repeating: "0", count: 14 - text.count) + text : text
    }

    /// The adjacent parts of a query that may be a code, each with the numbers of its words.
    private static func codes(_ query: String) -> [(code: String, words: Range<Int>)] {
        var (parts, next) = ([(text: String, words: Range<Int>)](), 0)
        for part in query.split(separator: " ") {
            let count = words(String(part)).count
            parts.append((String(part), next..<(next + count)))
            next += count
        }
        return parts.indices.flatMap { start in
            (start..<parts.count).compactMap { end in
                if parts[start].words.isEmpty || parts[end].words.isEmpty { return nil }
                let words = parts[start].words.lowerBound..<parts[end].words.upperBound
                return (code(parts[start...end].map(\.text).joined()), words)
            }
        }
    }

    /// Returns the numbers of adjacent words that are the size of a product.
    private static func sizes(_ words: [Word], _ product: Product) -> [Range<Int>] {
        guard let size = product.size else { return [] }
        func isSize(_ number: Int, _ unit: Int) -> Bool {
            guard words[number].isNumber, let amount = ExactDecimal(words[number].text),
                let unit = MeasureUnit(spelling: words[unit].text)
            else { return false }
            let isEqual = amount.multiplied(by: unit.factor) == size.amount.multiplied(by: size.unit.factor)
            return isEqual && unit.dimension == size.unit.dimension
        }
        return words.indices.flatMap { start -> [Range<Int>] in
            var found: [Range<Int>] = []
            if start + 2 <= words.count, isSize(start, start + 1) { found.append(start..<(start + 2)) }
            guard words[start].text == "\(size.packs)" else { return found }
            if start + 3 <= words.count, isSize(start + 1, start + 2) { found.append(start..<(start + 3)) }
            if start + 4 <= words.count, words[start + 1].text == "x", isSize(start + 2, start + 3) {
                found.append(start..<(start + 4))
            }
            return found
        }
    }

    /// Returns whether forms of the last word match while a user is typing the text.
    ///
    /// They do not if the text ends with the last word, and a product has a longer word. That one begins with the last word, or with the last
    /// two words as one. The product must also have the other words, as beginnings or better.
    func lastWordHasForms(_ query: String) -> Bool {
        let words = Self.words(query)
        guard let last = words.last, last.source.upperBound == query.utf16.count else { return true }
        let alternatives = alternatives(words)
        let pair = Self.pairs(words).last { $0.number == words.count - 2 }
        return !products.contains { product in
            let ranks = ranks(query, product, alternatives, lastWordHasForms: false).words
            func completes(_ letters: [UInt32], after count: Int) -> Bool {
                fields[product.sku]!.contains { $0.words.contains { $0.scalars.starts(with: letters) } }
                    && ranks[..<count].allSatisfy { rank in rank.map { $0.0 <= SearchClass.prefix.rawValue } ?? false }
            }
            return completes(last.scalars, after: words.count - 1)
                || pair.map { completes($0.letters, after: $0.number) } ?? false
        }
    }

    /// Returns how a product matches the words of a query.
    private func ranks(
        _ query: String,
        _ product: Product,
        _ alternatives: [(start: Int, count: Int, text: [Word])],
        lastWordHasForms: Bool = true
    ) -> Ranks {
        let words = Self.words(query)
        func hasForms(_ number: Int) -> Bool { lastWordHasForms || number < words.count - 1 }
        let fields = fields[product.sku]!
        var best = [(UInt8, UInt8)?](repeating: nil, count: words.count)
        var beginsName = false
        var places: [(SearchClass, Int)] = []
        func add(_ word: Int, _ searchClass: SearchClass, _ field: UInt8) {
            let rank = (searchClass.rawValue, field)
            best[word] = best[word].map { min($0, rank) { $0 < $1 } } ?? rank
        }
        for (number, wanted) in words.enumerated() {
            for field in fields {
                for (index, word) in field.words.enumerated() {
                    guard let found = match(wanted, word, hasForms: hasForms(number))?.searchClass else { continue }
                    add(number, found, field.rank)
                    if field.rank == 0 { places.append((found, index)) }
                    if number == 0, index == 0, field.rank == 0, found <= .prefix { beginsName = true }
                }
            }
            for parts in Self.splits(wanted) {
                let found = parts.map { part in fields.filter { $0.words.contains { $0.scalars == part } }.map(\.rank) }
                guard let a = found[0].min(), let b = found[1].min() else { continue }
                add(number, .compound, min(a, b))
                for (index, word) in fields[0].words.enumerated() where parts.contains(word.scalars) {
                    places.append((.compound, index))
                }
            }
        }
        for (number, pair) in Self.pairs(words) {
            for field in fields {
                for (index, word) in field.words.enumerated() {
                    guard let found = matchPair(pair, word, hasForms: hasForms(number + 1)) else { continue }
                    for number in number...(number + 1) { add(number, found, field.rank) }
                    if field.rank == 0 { places.append((found, index)) }
                    if number == 0, index == 0, field.rank == 0 { beginsName = true }
                }
            }
        }
        for alternative in alternatives {
            var ranks: [UInt8] = []
            for wanted in alternative.text {
                let found = fields.filter { $0.words.contains { isWordOrForm(wanted, $0) } }.map(\.rank)
                if let rank = found.min() { ranks.append(rank) }
            }
            guard ranks.count == alternative.text.count, let field = ranks.min() else { continue }
            for word in alternative.start..<(alternative.start + alternative.count) { add(word, .related, field) }
            for (index, word) in fields[0].words.enumerated()
            where alternative.text.contains(where: { isWordOrForm($0, word) }) {
                places.append((.related, index))
            }
            if alternative.start == 0, let first = fields[0].words.first, isWordOrForm(alternative.text[0], first) {
                beginsName = true
            }
        }
        let sku = Array(Self.code(product.sku.text).utf8)
        for (text, words) in Self.codes(query) {
            let code = Array(text.utf8)
            let isBarcode = product.barcode.map { Self.barcode(Self.code($0)) == Self.barcode(text) } ?? false
            for word in words {
                if sku == code || isBarcode { add(word, .exact, 3) }
                if sku.starts(with: code) { add(word, .prefix, 3) }
            }
        }
        for word in Self.sizes(words, product).joined() { add(word, .exact, 3) }
        return Ranks(words: best, beginsName: beginsName, places: places)
    }

    /// Finds the products of a query, in the order of relevance, within each limit.
    ///
    /// - Parameter isTyped: whether a user is typing the query.
    func search(_ query: String, within limits: [SearchClass?], isTyped: Bool = false) -> [Outcome] {
        let alternatives = alternatives(Self.words(query))
        let lastWordHasForms = !isTyped || lastWordHasForms(query)
        let ranks = products.map { ($0, self.ranks(query, $0, alternatives, lastWordHasForms: lastWordHasForms)) }
        return limits.map { outcome(query, ranks, $0) }
    }

    private func outcome(
        _ query: String,
        _ ranks: [(Product, Ranks)],
        _ limit: SearchClass?
    ) -> Outcome {
        var found: [(product: Product, rank: UInt8, ranks: Ranks, searchClass: UInt8)] = []
        var best = [UInt8](repeating: .max, count: Self.words(query).count)
        for (product, ranks) in ranks {
            let words = ranks.words
            for (number, rank) in words.enumerated() { if let rank { best[number] = min(best[number], rank.0) } }
            let known = words.compactMap { $0 }
            guard known.count == words.count, let worst = known.map(\.0).max(), let field = known.map(\.1).min() else {
                continue
            }
            found.append((product, worst * 8 + field * 2 + (ranks.beginsName ? 0 : 1), ranks, worst))
        }
        let enough = SearchClass.allCases.first { limit in found.count { $0.searchClass <= limit.rawValue } >= 5 }
        let inUse = limit ?? enough ?? .typo
        found.removeAll { $0.searchClass > inUse.rawValue }
        /// Words that are found in classes up to `prefix`, or up to the class in use, have a place.
        func place(_ ranks: Ranks) -> Int {
            min(7, ranks.places.filter { $0.searchClass <= max(.prefix, inUse) }.map(\.place).min() ?? 7)
        }
        func nameWords(_ product: Product) -> Int { min(31, fields[product.sku]![0].words.count { !$0.isNumber }) }
        found.sort { a, b in
            if a.rank != b.rank { return a.rank < b.rank }
            if a.product.popularity != b.product.popularity { return a.product.popularity > b.product.popularity }
            if place(a.ranks) != place(b.ranks) { return place(a.ranks) < place(b.ranks) }
            if nameWords(a.product) != nameWords(b.product) { return nameWords(a.product) < nameWords(b.product) }
            if a.product.name.utf8.elementsEqual(b.product.name.utf8) {
                return a.product.sku.text.utf8.lexicographicallyPrecedes(b.product.sku.text.utf8)
            }
            return a.product.name.utf8.lexicographicallyPrecedes(b.product.name.utf8)
        }
        return Outcome(
            searchClass: inUse,
            matches: found.map { found in
                let relevance = SearchRelevance(
                    rank: found.rank,
                    place: place(found.ranks),
                    nameWords: nameWords(found.product)
                )
                return Match(sku: found.product.sku.text, relevance: relevance)
            },
            missing: best.indices.filter { best[$0] > inUse.rawValue }
        )
    }

    /// Returns the parts of a product that match.
    func highlights(
        _ query: String,
        within limit: SearchClass,
        _ product: Product,
        lastWordHasForms: Bool = true
    ) -> [SearchHighlight] {
        let words = Self.words(query)
        func hasForms(_ number: Int) -> Bool { lastWordHasForms || number < words.count - 1 }
        let fields = fields[product.sku]!
        let alternatives = alternatives(words).filter { alternative in
            alternative.text.allSatisfy { wanted in fields.contains { $0.words.contains { isWordOrForm(wanted, $0) } } }
        }
        let all = fields.flatMap(\.words).map(\.scalars)
        let parts = words.flatMap(Self.splits).filter { $0.allSatisfy(all.contains) }.joined()
        var found: [SearchHighlight] = []
        for field in fields {
            var marked: Set<Int> = []
            for word in field.words {
                for (number, wanted) in words.enumerated() {
                    guard let found = match(wanted, word, hasForms: hasForms(number)), found.searchClass <= limit else {
                        continue
                    }
                    marked.formUnion(found.source)
                }
                for (number, pair) in Self.pairs(words) {
                    let found = matchPair(pair, word, hasForms: hasForms(number + 1))
                    guard let found, found <= limit else { continue }
                    let end = found == .prefix ? word.letters[pair.count - 1].source.upperBound : word.source.upperBound
                    marked.formUnion(word.source.lowerBound..<end)
                }
                if limit >= .compound, parts.contains(word.scalars) { marked.formUnion(word.source) }
                for wanted in alternatives.flatMap(\.text) where limit >= .related && isWordOrForm(wanted, word) {
                    marked.formUnion(word.source)
                }
            }
            for start in marked.sorted() where !marked.contains(start - 1) {
                var end = start
                while marked.contains(end) { end += 1 }
                found.append(SearchHighlight(field: field.field, range: start..<end))
            }
        }
        let sku = product.sku.text
        let code = Array(Self.code(sku).utf8)
        let lengths = Self.codes(query).map { Array($0.code.utf8) }.filter {
            $0 == code || limit >= .prefix && code.starts(with: $0)
        }.map(\.count)
        if let length = lengths.max() {
            var part = sku[..<sku.startIndex]
            while length < code.count ? Self.code(String(part)).utf8.count < length : part.endIndex < sku.endIndex {
                part = sku[..<sku.index(after: part.endIndex)]
            }
            found.append(SearchHighlight(field: .sku, range: 0..<part.utf16.count))
        }
        if let barcode = product.barcode,
            Self.codes(query).contains(where: { Self.barcode($0.code) == Self.barcode(barcode) })
        {
            found.append(SearchHighlight(field: .barcode, range: 0..<barcode.count))
        }
        return found
    }

    /// Returns the parts of the name of the only product that match.
    func nameHighlights(_ query: String, within limit: SearchClass, lastWordHasForms: Bool) -> [Range<Int>] {
        highlights(query, within: limit, products[0], lastWordHasForms: lastWordHasForms)
            .filter { $0.field == .name }.map(\.range)
    }

    // MARK: - Corrections

    struct Correction: Equatable {
        /// The words of the corrected query.
        var words: [String]
        var products: Int
    }

    private typealias Replacement = (edits: Int, purchases: Double, products: [SKU], word: String)

    private static func isBetter(_ a: Replacement, _ b: Replacement) -> Bool {
        if (a.edits, b.purchases, b.products.count) != (b.edits, a.purchases, a.products.count) {
            return (a.edits, b.purchases, b.products.count) < (b.edits, a.purchases, a.products.count)
        }
        return a.word.utf8.lexicographicallyPrecedes(b.word.utf8)
    }

    /// Returns the best replacement of a word by one that some of the products have, and that is not one of the known words.
    private func replacement(_ wanted: Word, _ context: Set<SKU>, except known: [String]) -> Replacement? {
        var found: [String: Replacement] = [:]
        var distances: [String: Int] = [:]
        for product in products where context.contains(product.sku) {
            for word in Set(fields[product.sku]!.flatMap(\.words).filter { !$0.isNumber }.map(\.text)) {
                let edits = distances[word] ?? Self.distance(wanted.scalars, word.unicodeScalars.map(\.value))
                distances[word] = edits
                guard edits > 0, edits <= (wanted.scalars.count < 5 ? 1 : 2) else { continue }
                if known.contains(where: { $0.utf8.elementsEqual(word.utf8) }) { continue }
                let old = found[word] ?? (edits, 0, [], word)
                found[word] = (edits, old.purchases + product.popularity.purchases, old.products + [product.sku], word)
            }
        }
        return found.values.min(by: Self.isBetter)
    }

    /// Returns the best correction of a query that finds nothing.
    func correction(_ query: String) -> Correction? {
        let words = Self.words(query)
        let alternatives = alternatives(words)
        let ranks = products.map { (sku: $0.sku, words: self.ranks(query, $0, alternatives).words) }
        func isCorrectable(_ number: Int) -> Bool {
            let sharing = words.filter { $0.source.overlaps(words[number].source) }
            return !words[number].isNumber && words[number].scalars.count >= 3 && sharing.count == 1
        }
        func context(without excluded: [Int]) -> Set<SKU> {
            Set(
                ranks.filter { row in words.indices.allSatisfy { excluded.contains($0) || row.words[$0] != nil } }
                    .map(\.sku)
            )
        }
        func correction(_ replaced: [Int: Replacement], _ products: Int) -> Correction {
            Correction(words: words.indices.map { replaced[$0]?.word ?? words[$0].text }, products: products)
        }
        let counts = words.indices.map { number in ranks.count { $0.words[number] != nil } }
        let missing = words.indices.filter { counts[$0] == 0 }
        var known = words.map(\.text)
        if missing.isEmpty {
            let rarest = words.indices.filter(isCorrectable).sorted { (counts[$0], $0) < (counts[$1], $1) }.prefix(4)
            let found = rarest.sorted().compactMap { number in
                replacement(words[number], context(without: [number]), except: known)
                    .map { (number: number, found: $0) }
            }
            guard let best = found.min(by: { Self.isBetter($0.found, $1.found) }) else { return nil }
            return correction([best.number: best.found], best.found.products.count)
        }
        guard missing.count <= 4, missing.allSatisfy(isCorrectable) else { return nil }
        var (replaced, left) = ([Int: Replacement](), context(without: missing))
        for number in missing {
            guard let found = replacement(words[number], left, except: known) else { return nil }
            replaced[number] = found
            known.append(found.word)
            left.formIntersection(found.products)
        }
        return correction(replaced, left.count)
    }
}

extension Popularity {
    /// The number of purchases on the first day.
    var purchases: Double {
        score(
            day: Popularity.epochDay,
            count: PopularityCount(metric: .decay, halfLifeDays: 1, newcomerBoost: 0)
        )
    }
}

private func min(
    _ a: (UInt8, UInt8),
    _ b: (UInt8, UInt8),
    _ isLess: ((UInt8, UInt8), (UInt8, UInt8)) -> Bool
) -> (UInt8, UInt8) { isLess(b, a) ? b : a }
