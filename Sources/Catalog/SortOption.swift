/// A language that the server has texts in.
package enum Language: String, CaseIterable, Sendable {
    case en, ru

    /// The best of the languages that an `Accept-Language` header asks for; English where none is known.
    ///
    /// Source: RFC 9110, section 12.5.4; a range matches the language it begins with.
    package init(accepting header: String?) {
        var best: (language: Language, quality: Double)?
        for range in (header ?? "").split(separator: ",").prefix(32) {
            let parts = range.split(separator: ";").map { $0.drop { $0 == " " } }
            guard let tag = parts.first?.split(separator: "-").first?.lowercased(),
                let language = Language(rawValue: tag)
            else {
                continue
            }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            if quality > (best?.quality ?? 0) { best = (language, quality) }
        }
        self = best?.language ?? .en
    }
}

/// A sort that a picker offers.
package struct SortOption: Sendable, Hashable {
    package let sort: Sort
    package let title: String
    package let isSelected: Bool
}

extension SortOption {
    /// What a picker shows: every key in its natural direction, prices and names in the other too, and the selected sort
    /// where it is none of these. Exactly one is selected.
    package static func options(selected: Sort, language: Language) -> [SortOption] {
        let offered: [Sort] = SortKey.allCases.flatMap { key -> [Sort] in
            let natural = Sort(key, key.naturalDirection)!
            let turned = [.price, .unitPrice, .name].contains(key) ? Sort(key, key.naturalDirection.opposite) : nil
            return [natural] + (turned.map { [$0] } ?? [])
        }
        let all = offered.contains(selected) ? offered : offered + [selected]
        return all.map { SortOption(sort: $0, title: title(of: $0, language), isSelected: $0 == selected) }
    }

    private static func title(of sort: Sort, _ language: Language) -> String {
        sort.terms.map { title(of: $0, language) }.joined(separator: ", ")
    }

    private static func title(of term: Sort.Term, _ language: Language) -> String {
        let isNatural = term.direction == term.key.naturalDirection
        let (en, ru) =
            switch term.key {
            case .price:
                isNatural ? ("Price: low to high", "Сначала дешёвые") : ("Price: high to low", "Сначала дорогие")
            case .unitPrice:
                isNatural
                    ? ("Unit price: low to high", "Цена за единицу: по возрастанию")
                    : ("Unit price: high to low", "Цена за единицу: по убыванию")
            case .popularity: isNatural ? ("Popularity", "По популярности") : ("Least popular", "Сначала непопулярные")
            case .brand: isNatural ? ("Brand", "По бренду") : ("Brand: Z to A", "По бренду: Я–А")
            case .name: isNatural ? ("Name", "По названию") : ("Name: Z to A", "По названию: Я–А")
            case .created: isNatural ? ("Newest", "Сначала новые") : ("Oldest", "Сначала старые")
            case .modified:
                isNatural
                    ? ("Recently changed", "Недавно изменённые") : ("Least recently changed", "Давно не изменённые")
            case .tags: isNatural ? ("Most tags", "Больше меток") : ("Fewest tags", "Меньше меток")
            case .position: ("Our selection", "Наша подборка")
            }
        return language == .ru ? ru : en
    }
}
