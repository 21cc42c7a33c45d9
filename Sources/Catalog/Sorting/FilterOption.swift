package import JSON

/// A filter that a picker offers.
package struct FilterOption: Sendable, Hashable {
    package let key: FilterKey
    package let title: String
    /// The key's values in the caller's remembered filter; null if it has none.
    package let selected: JSONValue

    package static func options(selected filter: Filter, language: Language) -> [FilterOption] {
        let json = filter.json
        return FilterKey.allCases.map { key in
            FilterOption(key: key, title: key.title(language), selected: json[key.name] ?? .null)
        }
    }
}
