internal import JSON
package import Catalog

internal import AisleDiff

extension OrderDiff {
    /// Returns the diff in the API's format.
    ///
    /// - Parameter cursors: the codec of the cursor with which pages continue after a window; nil to leave it out.
    package func json(day: Int = Timestamp.now().day, cursors: CursorCodec? = nil) -> [UInt8] {
        var json = JSONWriter(reserving: 128 + 48 * (diff.moves.count + diff.deletes.count) + 64 * diff.inserts.count)
        json.object { json in
            json.field("from_version", fromVersion)
            json.field("to_version", toVersion)
            if let targetOrder {
                if let fromSort { json.field("from_sort", fromSort.description) }
                json.field("to_sort", targetOrder.sort.description)
                targetOrder.search?.write(to: &json)
                targetOrder.resolvedSort.writeCollapse(to: &json)
                if !targetOrder.resolvedSort.filter.isEmpty {
                    json.field("filter", json: targetOrder.resolvedSort.filterJSON.text)
                }
            }
            json.field("old_count", diff.oldCount)
            json.field("new_count", diff.newCount)
            json.field("mode", isWholeOrder ? DiffMode.order.rawValue : DiffMode.moves.rawValue)
            if isWindow, let cursors { json.field("next_cursor", next.map { cursors.encode($0) }) }
            if isWholeOrder {
                json.array("ids", new) { $0.string($1) }
                writeProducts(to: &json, day)
            } else {
                writeMoves(to: &json, day)
            }
        }
        return json.bytes
    }

    /// Writes the products of a whole order, if it has any.
    private func writeProducts(to json: inout JSONWriter, _ day: Int) {
        guard !products.isEmpty, let targetOrder else { return }
        let presentation = ProductPresentation(store: targetOrder.head.store, day: day)
        json.array("products", new.compactMap { products[$0] }) {
            presentation.write($1.product, card: $1.card, to: &$0)
        }
    }

    private func writeMoves(to json: inout JSONWriter, _ day: Int) {
        json.array("deletes", diff.deletes) { json, index in
            json.object { json in
                json.field("id", old[Int(index)])
                json.field("from", index)
            }
        }
        let presentation = targetOrder.map { ProductPresentation(store: $0.head.store, day: day) }
        json.array("inserts", diff.inserts) { json, index in
            json.object { json in
                json.field("id", new[Int(index)])
                json.field("to", index)
                json.field("after", neighbour(index))
                if let presentation { writeProduct(new[Int(index)], presentation, to: &json) }
            }
        }
        json.array("moves", diff.moves) { json, move in
            json.object { json in
                json.field("id", new[Int(move.to)])
                json.field("from", move.from)
                json.field("to", move.to)
                json.field("after", neighbour(move.to))
            }
        }
        json.array("changed", diff.changed) { json, index in
            json.object { json in
                json.field("id", new[Int(index)])
                json.field("at", index)
                if let presentation { writeProduct(new[Int(index)], presentation, to: &json) }
            }
        }
    }

    /// Writes the product with an id, if the diff has it.
    private func writeProduct(_ id: String, _ presentation: ProductPresentation, to json: inout JSONWriter) {
        guard let shown = products[id] else { return }
        json.key("product")
        presentation.write(shown.product, card: shown.card, to: &json)
    }

    private func neighbour(_ index: Int32) -> String? { index > 0 ? new[Int(index) - 1] : nil }

    /// Returns the diff as a JSON Patch of the id array. Source: RFC 6902.
    package func jsonPatch() -> [UInt8] {
        var json = JSONWriter(reserving: 64 * (diff.moves.count + diff.deletes.count + diff.inserts.count) + 16)
        if isWholeOrder {
            json.array(CollectionOfOne(())) { json, _ in
                json.object { json in
                    json.field("op", "replace")
                    json.field("path", "")
                    json.array("value", new) { $0.string($1) }
                }
            }
            return json.bytes
        }
        json.array(diff.steps()) { json, step in
            json.object { json in
                switch step {
                case .delete(let index):
                    json.field("op", "remove")
                    json.field("path", "/\(index)")
                case .insert(let index, let element):
                    json.field("op", "add")
                    json.field("path", "/\(index)")
                    json.field("value", new[element])
                case .move(let from, let to):
                    json.field("op", "move")
                    json.field("from", "/\(from)")
                    json.field("path", "/\(to)")
                }
            }
        }
        return json.bytes
    }

    /// Returns the diff in the wire format of `AisleDiff`.
    package func wireForm() -> [UInt8] {
        let message = ShelfDiff<NoProduct>(
            fromVersion: fromVersion,
            toVersion: toVersion,
            content: .moves(diff, inserts: insertedIDs.map { .init(id: $0) })
        )
        return message.wireForm(asOrder: isWholeOrder)!
    }
}
