package import Catalog

extension DiffRequest {
    /// Returns the entity tag of the diff between two views of a shelf: it changes with everything that the response
    /// depends on.
    ///
    /// - Parameters:
    ///   - mediaType: the format of the response.
    ///   - day: the UTC day to which the popularity of products is scaled.
    /// - Returns: nil for a diff from a list.
    package func entityTag(_ basis: PageBasis, mediaType: String, day: Int = Timestamp.now().day) -> String? {
        guard case .view(let from) = from else { return nil }
        return entityTag(
            basis.head,
            from: basis.head.resolve(from, remembering: basis.views),
            to: basis.head.resolve(to, remembering: basis.views),
            mediaType: mediaType,
            day: day
        )
    }

    /// Returns the entity tag of a computed diff.
    package func entityTag(_ diff: OrderDiff, mediaType: String, day: Int = Timestamp.now().day) -> String? {
        guard let from = diff.fromView, let reached = diff.targetOrder else { return nil }
        return entityTag(reached.head, from: from, to: reached.view, mediaType: mediaType, day: day)
    }

    private func entityTag(
        _ head: ShelfHead,
        from: ResolvedView,
        to: ResolvedView,
        mediaType: String,
        day: Int
    ) -> String {
        var hash = FNV64()
        for part in [from.text, to.text, limit.map { "\($0) \(day)" } ?? "", mode.rawValue, mediaType] {
            hash.combine(part)
        }
        return "\"diff-\(head.storeVersion)-\(head.state.version)-\(String(hash.value, radix: 36))\""
    }
}
