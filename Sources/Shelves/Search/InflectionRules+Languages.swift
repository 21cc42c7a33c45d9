// The rules of inflection by language, as folded endings: without accents and case, `ß` as `ss`, and `ё` as `е`.
//
// A paradigm has as few endings as possible: words of different kinds with the same stem, such as сливы and сливки, are not forms of each other.

extension InflectionRules {
    /// Plurals of nouns.
    static let english = InflectionRules(
        [
            Paradigm("- s", notAfter: "s x z ch sh"),
            Paradigm("- es", after: "s x z ch sh o"),
            Paradigm("y ies", leastLetters: 2, notAfter: "a e i o u"),
            Paradigm("f ves", leastLetters: 2),
            Paradigm("fe ves", leastLetters: 2),
            Paradigm("man men", leastLetters: 2),
        ],
        irregular: """
            child children
            die dice
            foot feet
            gas gases
            goose geese
            lens lenses
            man men
            mars
            mouse mice
            news
            ox oxen
            person people persons
            tooth teeth
            """
    )

    /// Cases and plurals of nouns and adjectives. Folding drops umlauts, so `Äpfel` and `Apfel` are one word.
    static let german = InflectionRules(
        [
            Paradigm("- e en es"),
            Paradigm("- s", notAfter: "s x z"),
            Paradigm("- n", after: "e el er"),
            Paradigm("- er ern", after: germanPlurals),
            Paradigm("- e em en er es", leastLetters: 4, after: germanAdjectives),
            Paradigm("a as en", leastLetters: 3),
            Paradigm("- se sen ses", after: "nis"),
        ],
        irregular: """
            berliner berlinern berliners
            burger burgern burgers
            butter
            ei eier eiern
            eis
            fischer fischern fischers
            kuchen kuchens
            leiter leitern
            messer messern messers
            mull mulls
            muller mullern mullers
            mutter muttern
            reis
            wiener wienern wieners
            """
    )

    /// The ends of nouns with a plural in `-er`. Many other nouns have another word with this ending, such as `Roll` and `Roller`.
    private static let germanPlurals = """
        bad band bild blatt brett buch dach fass geld gelt glas glied gut haus holz horn huhn kalb kind korn kraut lamm licht lied loch
        mann maul nest rad rand rind schild schloss schwert tuch wald wort wurm
        """

    /// The ends of adjectives. Of other words, those in `-e`, `-en` and `-er` may differ, such as `Wecken` and `Wecker`.
    private static let germanAdjectives = """
        ackt arm backen bar bitter blau braun bunt echt edel fein fest fett feucht frei frisch gelb golden gross grun haft halb heiss herb hell iert ig isch ischt
        jung kalt klar klein kurz lang leicht lich los mager mahlen mild neu ocht pikant pur rein reich reif roh rosa rot rund salzen sam sanft saur
        scharf schnitten schwarz schlank schnell stark still suss trocken uchert voll warm weich weiss wild zart
        """

    /// Cases and plurals of nouns and adjectives, with palatalized stems (`jabuka`, `jabuci`) and fleeting vowels (`krastavac`, `krastavci`).
    static let croatian = InflectionRules(
        [
            // Feminine nouns.
            Paradigm("a e i u o om ama"),
            Paradigm("ka ke ki ci ku ko kom kama aka"),
            Paradigm("ga ge gi zi gu go gom gama"),
            Paradigm("ha he hi si hu ho hom hama"),
            Paradigm("- i ju ima"),
            // Masculine nouns.
            Paradigm("- a u e om em i ima ovi ova ove ovima evi eva eve evima", notAfter: "a e i o u"),
            Paradigm("k ka ku kom ke ci cima"),
            Paradigm("g ga gu gom ge zi zima"),
            Paradigm("h ha hu hom he si sima"),
            Paradigm("ak ka ku kom ke ci cima aka"),
            Paradigm("ac ca cu cem ce ci cima aca"),
            Paradigm("ar ra ru rom re ri rima rovi rova"),
            // Neuter nouns.
            Paradigm("o a u om ima"),
            Paradigm("e a u em ima"),
            Paradigm("e eta etu etom"),
            // Adjectives.
            Paradigm("- i a o e u og oga om ome omu eg ega em emu im ih ima oj", after: "c h k l n s t v z"),
            Paradigm("an na ni no ne nu nog noga nom nome nim nih nima noj"),
            Paradigm("o la li lo le lu log loga lom lim lih lima loj", after: "e"),
            Paradigm("ao la li lo le lu log loga lom lim lih lima loj"),
        ],
        irregular: """
            covjek ljudi ljude ljudima
            dijete djeca djece djeci djecu djecom
            ocat octa octu octom
            """
    )

    /// Cases and plurals of nouns and adjectives, with fleeting vowels (`огурец`, `огурцы`).
    static let russian = InflectionRules(
        [
            // Feminine nouns.
            Paradigm("- а ы и е у ой ою ей ам ами ах", notAfter: "а е и й о у ы ь э ю я"),
            Paradigm("я и е ю ей ею ь й ям ями ях"),
            Paradigm("ь и ью ей ям ями ях"),
            // Masculine nouns.
            Paradigm("- а у ом ем е ы и ов ев ей ам ами ах", notAfter: "а е и й о у ы ь э ю я"),
            Paradigm("ь я ю ем е и ей ям ями ях"),
            Paradigm("й я ю ем е и ев ям ями ях", leastLetters: 2),
            Paradigm("ок ек ка ки ку кой ком ке ков кам ками ках"),
            Paradigm("ец ца цу цом цем це цы цев цов цам цами цах"),
            // Neuter nouns.
            Paradigm("- о а у ом е ам ами ах", notAfter: "а е и й о у ы ь э ю я"),
            Paradigm("е я ю ем и й ям ями ях", after: "и ь"),
            Paradigm("ло ла лу лом ле ел лам лами лах"),
            Paradigm("ля ли лю лей ле ель лям лями лях"),
            Paradigm("ня ни ню ней не ен нь ням нями нях"),
            // Adjectives.
            Paradigm("ый ий ой ая яя ое ее ые ие ого его ому ему ым им ом ем ую юю ых их ыми ими ей"),
        ],
        irregular: """
            яйцо яйца яйцу яйцом яйце яиц яйцам яйцами яйцах
            ребенок дети детей детям детьми детях
            человек люди людей людям людьми людях
            """
    )
}
