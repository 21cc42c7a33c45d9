package import Catalog

/// Generates shelf keys from titles: ASCII, unique per store.
package struct ShelfKeyGenerator {
    /// A shelf that a file names and the store lacks.
    package struct NewShelf: Sendable {
        package let key: CatalogKey
        package let title: String
        package let parent: CatalogKey?
    }

    private struct Child: Hashable {
        let parent: CatalogKey
        let title: String
    }

    private var keysByTitle: [String: CatalogKey]
    private var children: [Child: CatalogKey]
    private var roots: [String: CatalogKey]
    private var usedKeys: Set<String>
    /// The keys of the store's shelves when the generator was made.
    package let existingKeys: Set<String>
    private var lastNumbers: [String: Int] = [:]
    /// Whether files name shelves by paths, so that a single title is one at the top.
    private let usesPaths: Bool
    /// The new shelves, in order; each comes after its parent.
    package private(set) var created: [NewShelf] = []

    /// - Parameters:
    ///   - existing: the store's shelves.
    ///   - usesPaths: whether files name shelves by paths.
    package init(existing: [(key: CatalogKey, title: String, parent: CatalogKey?)], usesPaths: Bool = false) {
        self.usesPaths = usesPaths
        let isRoot = existing.filter { $0.parent == nil } + existing.filter { $0.parent != nil }
        keysByTitle = Dictionary(isRoot.map { ($0.title, $0.key) }, uniquingKeysWith: { a, _ in a })
        roots = Dictionary(
            existing.filter { $0.parent == nil }.flatMap { [($0.key.text, $0.key), ($0.title, $0.key)] },
            uniquingKeysWith: { a, _ in a }
        )
        children = Dictionary(
            existing.compactMap { shelf in shelf.parent.map { (Child(parent: $0, title: shelf.title), shelf.key) } },
            uniquingKeysWith: { a, _ in a }
        )
        existingKeys = Set(existing.map(\.key.text))
        usedKeys = existingKeys
    }

    /// Returns the key of the shelf with a name in a file: an existing key or title, or a new shelf.
    ///
    /// - Complexity: O(length), amortized.
    package mutating func key(for name: String) -> CatalogKey {
        if let key = CatalogKey(name), usedKeys.contains(name) { return key }
        if let key = keysByTitle[name] { return key }
        return create(name, parent: nil)
    }

    /// Returns the key of the shelf at the end of a path of titles. The shelves above it are found or created, too.
    ///
    /// - Precondition: the path is not empty.
    /// - Complexity: O(length), amortized.
    package mutating func key(for path: [String]) -> CatalogKey {
        guard usesPaths else { return key(for: path[0]) }
        var key = roots[path[0]] ?? create(path[0], parent: nil)
        for title in path.dropFirst() {
            key = children[Child(parent: key, title: title)] ?? create(title, parent: key)
        }
        return key
    }

    private mutating func create(_ name: String, parent: CatalogKey?) -> CatalogKey {
        let base = CatalogKey(name)?.text ?? Self.slug(name)
        var candidate = base
        // Continue from the last number, because many titles may have the same slug.
        var number = lastNumbers[base] ?? 1
        while usedKeys.contains(candidate) {
            number += 1
            let suffix = "-\(number)"
            candidate = base.prefix(64 - suffix.utf8.count) + suffix
        }
        lastNumbers[base] = number
        let key = CatalogKey(candidate)!
        usedKeys.insert(candidate)
        if keysByTitle[name] == nil { keysByTitle[name] = key }
        if let parent { children[Child(parent: parent, title: name)] = key } else { roots[name] = key }
        created.append(NewShelf(key: key, title: name, parent: parent))
        return key
    }

    /// Returns whether an import derives this key from a title, in a store without shelves.
    package static func derives(_ key: String, from title: String) -> Bool {
        title.isPrintable && title.first?.isWhitespace == false && title.last?.isWhitespace == false
            && (CatalogKey(title)?.text ?? slug(title)) == key
    }

    /// Returns the title in lower-case ASCII letters, digits and hyphens; `shelf` if nothing is left.
    static func slug(_ title: String) -> String {
        var slug = ""
        for scalar in title.decomposed.lowercased().unicodeScalars {
            if ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) {
                slug.unicodeScalars.append(scalar)
            } else if let spelled = spellings[scalar] {
                slug += spelled
            } else if scalar.properties.generalCategory != .nonspacingMark, !slug.isEmpty, !slug.hasSuffix("-") {
                slug += "-"
            }
        }
        let cut = slug.prefix(60)
        let trimmed = cut.hasSuffix("-") ? cut.dropLast() : cut
        return trimmed.isEmpty ? "shelf" : String(trimmed)
    }

    /// Letters that do not decompose to ASCII.
    private static let spellings: [UnicodeScalar: String] = {
        var table: [UnicodeScalar: String] = [
            "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i",
        ]
        let cyrillic: [(String, String)] = [
            ("а", "a"), ("б", "b"), ("в", "v"), ("г", "g"), ("д", "d"), ("е", "e"), ("ж", "zh"), ("з", "z"), ("и", "i"),
            ("к", "k"),
            ("л", "l"), ("м", "m"), ("н", "n"), ("о", "o"), ("п", "p"), ("р", "r"), ("с", "s"), ("т", "t"), ("у", "u"),
            ("ф", "f"),
            ("х", "kh"), ("ц", "ts"), ("ч", "ch"), ("ш", "sh"), ("щ", "shch"), ("ъ", ""), ("ы", "y"), ("ь", ""),
            ("э", "e"), ("ю", "yu"),
            ("я", "ya"), ("і", "i"), ("є", "ye"), ("ґ", "g"), ("ј", "j"), ("љ", "lj"), ("њ", "nj"), ("ћ", "c"),
            ("ђ", "d"), ("џ", "dz"),
        ]
        for (letter, spelled) in cyrillic { table[letter.unicodeScalars.first!] = spelled }
        return table
    }()
}
