internal import LibPQ

/// Checks of the shelves that servers keep in memory, and of the changes that they follow.
struct DoctorShelves: Sendable {
    /// The shelves that servers used in the last day.
    var shelves = 0
    /// The products on these shelves.
    var products = 0
    /// The age of the oldest recorded change of a shelf, in hours.
    var oldestChange = 0

    /// The part of AISLE_SHELF_MEMORY for a product on a shelf, in bytes: 240 for the shelf, and the rest for views, facets and
    /// rendered products.
    private static let productSize = 400
    /// The age of changes from which servers would have deleted them, in hours.
    private static let oldChanges = 3

    static func read(_ connection: isolated PostgresConnection) throws -> DoctorShelves {
        var state = DoctorShelves()
        (state.shelves, state.products) = try connection.query(DoctorStatements.shelvesInUse) {
            try $0.first { (try $0.int(0), try $0.int(1)) } ?? (0, 0)
        }
        state.oldestChange = try connection.query(DoctorStatements.oldestChange) { try $0.first { try $0.int(0) } ?? 0 }
        return state
    }

    /// - Parameter limit: the memory that a server uses for shelves, in bytes.
    func findings(limit: Int) -> [Doctor.Finding] {
        var findings: [Doctor.Finding] = []
        let (needed, megabyte) = (products * Self.productSize, 1 << 20)
        let text =
            "shelves used in the last day: \(shelves), with \(products) products, which need about \(needed / megabyte) MB of AISLE_SHELF_MEMORY"
        if needed > limit {
            findings.append(
                Doctor.Finding(
                    advice:
                        "\(text); this machine's limit is \(limit / megabyte) MB, so that some are read again and again",
                    "set AISLE_SHELF_MEMORY to \(needed / megabyte + 1) where there is memory; see docs/operations/capacity.md"
                )
            )
        } else {
            findings.append(Doctor.Finding(true, text))
        }
        if oldestChange >= Self.oldChanges {
            findings.append(
                Doctor.Finding(
                    advice:
                        "changes of shelves are kept for \(oldestChange) hours: no server deletes those of more than an hour",
                    "start a server (aisle serve), or look for errors of its housekeeping in its log"
                )
            )
        }
        return findings
    }
}
