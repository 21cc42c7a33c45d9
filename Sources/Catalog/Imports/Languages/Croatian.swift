extension ImportLanguage {
    static let croatian = ImportLanguage(
        code: "hr",
        units: [
            .mg: "miligram, miligrama", .g: "gram, grama, gram", .dag: "dekagram, deka, dekagrama",
            .kg: "kilogram, kilograma, kilogrami", .ml: "mililitar, mililitara", .cl: "centilitar",
            .dl: "decilitar, dcl",
            .l: "litra, litara, litar, litre", .m: "metar, metra, metara",
            .piece:
                "kom, komad, komada, komadi, kd, tableta, tablete, kapsula, kapsule, maramica, maramice, listova, list",
            .pair: "par, para, pari", .dozen: "tucet",
            .dose: "pranje, pranja, doza, doze, porcija, porcije",
        ],
        connectors: "po, od, puta",
        bundles: "pakiranje, pakovanje, pak, pakiranja, paket, paketa, set, kutija, gajba, multipak, multipack, pakir",
        containers:
            "limenka, limenke, limenki, boca, boce, bočica, konzerva, konzerve, vrećica, vrećice, vreća, čaša, čaše, "
            + "staklenka, staklenke, tuba, tube, tetrapak, plata, čokoladica",
        items:
            "rola, role, roli, filter vrećica, filter vrećice, filter vrećicu, jaje, jaja, kriška, kriške, pelena, pelene, "
            + "pelena, uložak, uložaka, štapića",
        net: "neto, neto masa, neto količina, masa, sadržaj",
        drained:
            "ocijeđena masa, masa ocijeđena, ocijeđeno, ocijeđeni, ocijeđena, ocijeđena neto masa, neto ocijeđena masa",
        approximate: "oko, otprilike, približno, cirka",
        per: "za, po, cijena, cijena za, cijena po",
        ranges: "do, ili, od, između, najmanje, min, max",
        labels: "veličina, vel, br, broj, tip, klasa, razred",
        halves: "pola",
        traits: "slojni, sloja, slojeva, sl, mjeseci, mj, godina, god, posto, m.m",
        available:
            "da, dostupno, dostupan, dostupna, na zalihi, na zalihama, na skladištu, na stanju, ima, raspoloživo, "
            + "raspoloživ, raspoloživa, u prodaji",
        unavailable:
            "ne, nedostupno, nedostupan, nedostupna, nije dostupno, nije na zalihi, nije na skladištu, nema na zalihi, "
            + "nema na skladištu, nema na stanju, nema, rasprodano, rasprodan, rasprodana, neraspoloživo, neraspoloživ, "
            + "nije raspoloživo, nije u prodaji, trenutno nedostupno"
    )
}
