extension ImportLanguage {
    static let italian = ImportLanguage(
        code: "it",
        units: [
            .mg: "milligrammi", .g: "grammo, grammi", .hg: "etto, etti", .kg: "chilo, chilogrammo, chilogrammi",
            .ml: "millilitri", .cl: "centilitri", .l: "litro, litri", .m: "metro, metri", .mm: "millimetri",
            .piece:
                "pz, pezzo, pezzi, compressa, compresse, capsula, capsule, salvietta, salviette, fazzoletti, fogli, "
                + "unità, cpr, cps",
            .pair: "paio, paia", .dozen: "dozzina, dozzine", .dose: "lavaggio, lavaggi, dosi, misurini, porzioni",
        ],
        connectors: "da, di, per",
        bundles: "conf, confezione, confezioni, pacco, pacchi, multipack, cassa, cartone, set, cf",
        containers:
            "lattina, lattine, bottiglia, bottiglie, vasetto, vasetti, barattolo, barattoli, brik, busta, buste, bustina, "
            + "bustine, scatola, scatole, scatoletta, scatolette, vaschetta, vaschette, tubo, tubetto, flacone, flaconi",
        items:
            "rotolo, rotoli, maxi rotoli, uovo, uova, filtro, filtri, fetta, fette, pannolini, assorbenti, capsule caffè",
        net: "peso netto, netto, contenuto, contenuto netto, peso",
        drained: "peso sgocciolato, sgocciolato, sgocc, peso netto sgocciolato, peso sgocc",
        approximate: "circa, ca, approssimativamente",
        per: "al, all, all', alla, il, la, lo, prezzo al, prezzo, ogni",
        ranges: "o, oppure, tra, fra, minimo, massimo, min, max",
        labels: "n, nr, numero, misura, tipo, taglia, calibro",
        halves: "mezzo, mezza",
        traits: "veli, mesi, anni, persone, gradi",
        available: "si, sì, disponibile, disponibili, in magazzino, in assortimento, in stock, disponibilità immediata",
        unavailable:
            "no, non disponibile, non disponibili, esaurito, esaurita, esauriti, terminato, non in magazzino, "
            + "temporaneamente non disponibile, momentaneamente non disponibile, fuori produzione, indisponibile"
    )
}
