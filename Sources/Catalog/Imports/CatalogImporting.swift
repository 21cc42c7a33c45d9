/// A service that imports files into a catalog.
package protocol CatalogImporting: Sendable {
    /// - Parameters:
    ///   - pieces: the file, in pieces of any size.
    ///   - onReject: called for every rejected row, in file order.
    func importFile<Pieces: AsyncSequence>(
        _ pieces: Pieces,
        _ options: ImportOptions,
        onReject: (ImportRejection) throws -> Void
    ) async throws(CatalogError) -> ImportSummary where Pieces.Element == [UInt8]
}
