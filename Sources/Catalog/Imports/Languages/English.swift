extension ImportLanguage {
    static let english = ImportLanguage(
        code: "en",
        units: [
            .mg: "milligram, milligrams", .g: "gram, grams, gramme, grammes", .kg: "kilogram, kilograms, kilos",
            .lb: "pound, pounds", .ml: "millilitre, millilitres, milliliter, milliliters",
            .cl: "centilitre, centilitres, centiliter", .dl: "decilitre, deciliter",
            .l: "liters, litre, litres", .m: "meters, metre, metres", .ft: "foot, feet", .yd: "yard, yards",
            .piece:
                "pieces, each, count, tablets, caplet, caplets, capsule, capsules, softgel, softgels, wipes, sheets, "
                + "s, 's, unit, units",
            .pair: "pairs", .dozen: "dozens",
            .dose: "doses, wash, washes, washloads, wash loads, loads, tabs, portion, portions, serving, servings",
        ],
        customaryUnits: [
            .ounce: "ounce, ounces", .fluidOunce: "fluid ounce, fluid ounces", .pint: "pt, pint, pints",
            .quart: "qt, quart, quarts", .gallon: "gal, gallon, gallons",
        ],
        connectors: "of, by",
        bundles: "pack, packs, pk, pks, pck, multipack, case, tray, set, box of, pack size, packet of",
        containers:
            "can, cans, tin, tins, bottle, bottles, btl, jar, jars, carton, cartons, pouch, pouches, tub, tubs, pot, pots, "
            + "cup, cups, bag, bags, sachet, sachets, box, boxes, packet, packets, tube, tubes, bar, bars",
        items:
            "roll, rolls, mega rolls, double rolls, tea bag, tea bags, teabag, teabags, egg, eggs, slice, slices, item, "
            + "items, pad, pads, nappies, diapers, pods, stick, sticks, serviettes, napkins, pellets",
        net: "net, net wt, net wt., net weight, net contents, contents, weight, typical weight",
        drained: "drained, drained weight, net drained weight, dr. wt",
        approximate: "approx, approximately, about, circa, typical, typical weight, typically",
        per: "per, price per, price",
        ranges: "to, or, from, between, up to, min, max, minimum, maximum, at least, over, under",
        labels: "size, no, number, type, nr, grade, stage, spf, age, level",
        halves: "half",
        traits:
            "ply, months, month, mo, yrs, years, year, hours, w, watt, v, kcal, persons, people, proof, in 1, in1, vol, abv",
        available:
            "true, t, yes, y, available, in stock, in store, in store only, online only, "
            + "limited availability, low stock, few left",
        unavailable:
            "false, f, no, n, unavailable, not available, not in stock, out of stock, oos, no stock, sold out, "
            + "discontinued, preorder, presale, backorder, backordered, on backorder, temporarily out of stock, "
            + "temporarily unavailable, currently unavailable, coming soon"
    )
}
