package import Catalog
internal import JSON

extension UserExport {
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("user", user.text)
            json.field("revision", revision)
            json.array("settings", settings) { $1.write(to: &$0) }
            json.array("order_changes", orderChanges) { json, change in
                json.object { json in
                    json.field("store", change.store.text)
                    json.field("shelf", change.shelf.text)
                    json.field("kind", change.kind)
                    json.field("changed_at", change.changedAt.rfc3339)
                }
            }
            json.array("purchases", purchases) { json, purchase in
                json.object { json in
                    json.field("store", purchase.store.text)
                    json.field("sku", purchase.sku.text)
                    json.field("day", Timestamp.date(ofDay: purchase.day))
                    json.field("quantity", json: purchase.quantity.description)
                }
            }
            json.array("lists", lists) { json, held in
                json.object { json in
                    json.key("list")
                    held.write(to: &json)
                    json.array("items", held.list.items.sorted { $0.key < $1.key }) {
                        $1.write(ListFacts(), withProduct: false, day: 0, to: &$0)
                    }
                }
            }
            json.array("audit", audit) { $1.write(to: &$0) }
        }
        return json.bytes
    }
}

extension GuestMerge {
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("merged", merged)
            json.field("kept", kept)
            json.field("revision", revision)
        }
        return json.bytes
    }
}

extension GuestMerge: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(body: json) }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let merged = try reader.integer("merged"), let kept = try reader.integer("kept"),
                let revision = try reader.integer("revision")
            else { return nil }
            return GuestMerge(merged: Int(merged), kept: Int(kept), revision: revision)
        }
    }
}
