internal import Catalog

/// The words of a profile, in the form in which texts of rows are compared with them.
struct FileWords: Sendable {
    private var availability: [String: Bool] = [:]
    let units: [String: MeasureUnit]

    init(_ profile: ImportProfile) {
        for word in profile.words.available { availability[Availability.key(word)] = true }
        for word in profile.words.unavailable { availability[Availability.key(word)] = false }
        units = Dictionary(
            profile.words.units.map { (SizeTerm.phrase($0.key), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Whether a text says that customers can buy a product now; nil for an unknown one.
    func isAvailable(_ text: String) -> Bool? {
        if !availability.isEmpty, text.utf8.count <= 200, let known = availability[Availability.key(text)] {
            return known
        }
        return Availability.parse(text)
    }
}
