extension ImportLanguage {
    static let french = ImportLanguage(
        code: "fr",
        units: [
            .mg: "milligrammes", .g: "gramme, grammes", .kg: "kilos, kilogramme, kilogrammes",
            .ml: "millilitre, millilitres", .cl: "centilitre, centilitres", .l: "litre, litres", .m: "mètre, mètres",
            .piece:
                "pièce, pièces, pce, pces, unité, unités, comprimé, comprimés, gélule, gélules, lingettes, mouchoirs, "
                + "feuilles, capsules",
            .pair: "paire, paires", .dozen: "douzaine, douzaines",
            .dose: "lavage, lavages, doses, portion, portions",
        ],
        connectors: "de, à, d'",
        bundles:
            "lot, lots, pack, packs, paquet, paquets, multipack, set, coffret",
        containers:
            "boîte, boîtes, carton, cartons, bouteille, bouteilles, canette, canettes, pot, pots, brique, briques, sachet, sachets, bocal, "
            + "bocaux, barquette, barquettes, tube, flacon, dosettes, gourde, "
            + "gourdes, bidon, bte",
        items: "rouleau, rouleaux, oeuf, oeufs, tranche, tranches, couches, serviettes, tampons, sachets de thé",
        net: "poids net, net, contenu, poids, poids net total, contenance",
        drained: "égoutté, net égoutté, poids net égoutté, poids égoutté, égouttés, p.n.e",
        approximate: "environ, env, approximativement, à peu près",
        per: "le, la, au, par, prix au, prix, prix par",
        ranges: "ou, entre, à partir de, jusqu'à, minimum, maximum",
        labels: "taille, n, nº, numéro, type, calibre",
        halves: "demi, demie",
        traits: "plis, épaisseurs, mois, ans, degrés, personnes",
        available: "oui, disponible, disponibles, en stock, en rayon, stock limité, disponibilité immédiate",
        unavailable:
            "non, indisponible, indisponibles, non disponible, épuisé, épuisée, en rupture, rupture, rupture de stock, "
            + "en rupture de stock, hors stock, pas en stock, temporairement indisponible, momentanément indisponible, "
            + "pas disponible"
    )
}
