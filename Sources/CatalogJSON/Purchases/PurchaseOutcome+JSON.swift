package import Catalog

extension PurchaseOutcome {
    package var json: [UInt8] {
        var json = JSONText()
        json.object { json in
            json.field("accepted", accepted)
            json.field("repeated", repeated)
            json.field("too_old", tooOld)
            json.field("unknown", unknown)
            json.array("unknown_skus", unknownSKUs.sorted()) { $0.string($1) }
        }
        return json.bytes
    }
}
