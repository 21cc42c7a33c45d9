internal import JSON
package import Catalog

extension PurchaseOutcome {
    package var json: [UInt8] {
        var json = JSONWriter()
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

extension PurchaseOutcome: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(body: json) }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let accepted = try reader.integer("accepted"), let repeated = try reader.integer("repeated"),
                let tooOld = try reader.integer("too_old"), let unknown = try reader.integer("unknown"),
                let skus = try reader.strings("unknown_skus")
            else { return nil }
            var outcome = PurchaseOutcome()
            (outcome.accepted, outcome.repeated) = (Int(accepted), Int(repeated))
            (outcome.tooOld, outcome.unknown) = (Int(tooOld), Int(unknown))
            outcome.unknownSKUs = Set(skus)
            return outcome
        }
    }
}
