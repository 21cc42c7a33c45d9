/// A sort that a picker offers.
package struct SortOption: Sendable, Hashable {
    package let sort: Sort
    package let title: String
    package let isSelected: Bool
}

extension SortOption {
    /// Returns the picker's options: every key in its natural direction, price and name in both, and the selected sort
    /// if it is none of these. Exactly one is selected.
    package static func options(selected: Sort, language: Language) -> [SortOption] {
        let singleKeySorts: [Sort] = SortKey.allCases.flatMap { key -> [Sort] in
            let natural = Sort(key, key.naturalDirection)!
            let reversed = [.price, .unitPrice, .name].contains(key) ? Sort(key, key.naturalDirection.opposite) : nil
            return [natural] + (reversed.map { [$0] } ?? [])
        }
        let all = singleKeySorts.contains(selected) ? singleKeySorts : singleKeySorts + [selected]
        return all.map { SortOption(sort: $0, title: title(of: $0, language), isSelected: $0 == selected) }
    }

    private static func title(of sort: Sort, _ language: Language) -> String {
        sort.terms.map { $0.key.title($0.direction, language) }.joined(separator: ", ")
    }
}
