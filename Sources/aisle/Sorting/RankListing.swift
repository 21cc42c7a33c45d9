internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres
internal import JSON

/// The rank of a product in the output of commands.
enum RankListing {
    /// Prints the rank of a product with the values that are compared, or why it has none.
    static func print(
        _ sku: String,
        _ request: PageRequest,
        _ format: OutputFormat,
        _ catalog: PostgresCatalog
    ) async throws {
        let found = try await catalog.pages.ranks(RankRequest(page: request, skus: [sku.composed]))
        if format == .json || format == .ndjson { return Console.line(String(decoding: found.json, as: UTF8.self)) }
        let collapses = found.plan.collapsesGroups
        var table = Table(
            columns: [
                .init(title: "sku"), .init(title: "reason"), .init(title: "rank", isNumber: true),
                .init(title: "of", isNumber: true),
            ] + (collapses ? [.init(title: "id"), .init(title: "representative")] : []) + [
                .init(title: "before"), .init(title: "after"), .init(title: "filters"), .init(title: "tuple"),
            ]
        )
        let presentation = ProductPresentation(store: found.basis.head.store)
        for rank in found.ranks {
            let tuple = found.tuple(of: rank, presentation).map { "\($0.key)=\($0.value.text)" }
            // The tuple is that of the representative.
            let card = collapses ? [rank.representative?.cardID, rank.representative?.sku.text] : []
            table.rows.append(
                [rank.sku, rank.reason.rawValue, rank.rank.map { "\($0)" }, "\(found.count)"] + card + [
                    rank.before, rank.after, rank.filters.map(\.name).joined(separator: " "),
                    tuple.joined(separator: " "),
                ]
            )
        }
        table.print(format)
    }
}
