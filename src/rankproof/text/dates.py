"""Abbreviations and dates: points that do not end a sentence, and days in many languages and orders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero gennaio janeiro januari января जनवरी يناير",
            "february feb februar février fevrier febrero febbraio fevereiro februari февраля फरवरी फ़रवरी فبراير",
            "march mar märz mars marzo março maart марта मार्च مارس",
            "april apr avril abril aprile апреля अप्रैल أبريل إبريل",
            "may mai mayo maggio maio mei мая मई مايو",
            "june jun juni juin junio giugno junho июня जून يونيو",
            "july jul juli juillet julio luglio julho июля जुलाई يوليو",
            "august aug août aout agosto augustus августа अगस्त أغسطس",
            "september sep sept septembre septiembre settembre setembro сентября सितंबर सितम्बर سبتمبر",
            "october oct oktober okt octobre octubre ottobre outubro октября अक्टूबर अक्तूबर أكتوبر",
            "november nov novembre noviembre novembro ноября नवंबर नवम्बर نوفمبر",
            "december dec dezember dez décembre diciembre dicembre dezembro декабря दिसंबर दिसम्बर ديسمبر",
        ),
        start=1,
    )
    for name in names.split()
}
NAME = "|".join(sorted(MONTHS, key=len, reverse=True))
FORMS = (
    r"(?<!\d)(?P<a_year>[12]\d{3})-(?P<a_month>\d{2})-(?P<a_day>\d{2})(?!\d)",
    rf"(?<!\w)(?P<b_day>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s(?:of\s|de\s)?(?P<b_name>{NAME})(?!\w)(?:\.(?=,?\s[12]\d{{3}}))?"
    r"(?:,?\s(?:de\s|del\s)?(?P<b_year>[12]\d{3})(?!\d))?",
    rf"(?<!\w)(?P<c_name>{NAME})\.?\s(?P<c_day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d.,]\d)(?!\w)(?:\s?,?\s(?P<c_year>[12]\d{{3}})(?!\d))?",
    rf"(?<!\w)(?P<d_name>{NAME})\.?,?\s(?:of\s|de\s|del\s)?(?P<d_year>[12]\d{{3}})(?!\d)",
    r"(?P<e_year>[12]\d{3})\s?[年년]\s?(?P<e_month>\d{1,2})\s?[月월](?:\s?(?P<e_day>\d{1,2})\s?[日号號일])?",
    r"(?<!\d)(?P<f_month>\d{1,2})\s?[月월]\s?(?P<f_day>\d{1,2})\s?[日号號일]",
    r"(?<![\d.])(?P<g_day>\d{1,2})\.\s?(?P<g_month>\d{1,2})\.\s?(?P<g_year>[12]\d{3})(?!\d)",
    r"(?<![\d/])(?P<h_one>\d{1,2})/(?P<h_two>\d{1,2})/(?P<h_year>[12]\d{3})(?!\d)",
)
DATE = re.compile("|".join(FORMS))
NAMES = re.compile(r"[^\s\d.,;:()\[\]'\"-]+")
TIED = re.compile(r"\d\s?[年月년월]|\d[/-]\d|\d\.\s?\d{1,2}\.")
DIGITS = re.compile(r"\d+")
AROUND = 24
"""The largest distance of a month's name from the digits of its date."""


class Date(NamedTuple):
    """A date with its place; 0 for a part that is not given."""

    start: int
    end: int
    year: int
    month: int
    day: int

    @property
    def iso(self) -> str:
        """The date as ISO 8601 writes it, with its known parts.

        >>> Date(0, 0, 1960, 4, 21).iso, Date(0, 0, 1960, 4, 0).iso, Date(0, 0, 0, 4, 21).iso
        ('1960-04-21', '1960-04', '--04-21')
        """
        head = f"{self.year:04d}" if self.year else "-"
        return f"{head}-{self.month:02d}" + (f"-{self.day:02d}" if self.day else "")

    @property
    def parts(self) -> list[str]:
        """The date and each less exact date that it falls on.

        >>> Date(0, 0, 1960, 4, 21).parts
        ['1960-04-21', '1960-04', '--04-21', '1960']
        """
        whole = [self.iso]
        if self.year and self.day:
            whole += [f"{self.year:04d}-{self.month:02d}", f"--{self.month:02d}-{self.day:02d}"]
        return [*whole, str(self.year)] if self.year else whole


def dates(text: str) -> list[Date]:
    """The dates of a text; days and months in an ambiguous order are left out.

    >>> [date.iso for date in dates("April 21, 1960; 21. April 1960; 1960年4月21日; 21/04/1960; 3/4/1960")]
    ['1960-04-21', '1960-04-21', '1960-04-21', '1960-04-21']
    """
    return list(_dates(text))


def _dates(text: str) -> Iterator[Date]:
    lowered = text.lower()
    small = lowered if len(lowered) == len(text) else text
    for start, end in _stretches(small):
        if not _may_hold(small[start:end]):
            continue
        for found in DATE.finditer(small, start, end):
            given = {name[2:]: part for name, part in found.groupdict().items() if part}
            year, month, day = (
                int(given.get("year", 0)),
                _month(given),
                _ordered(given)[1] if "one" in given else int(given.get("day", 0)),
            )
            if 1 <= month <= 12 and 0 <= day <= 31:
                yield Date(found.start(), found.end(), year, month, day)


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """Where dates may be: around digits, those near each other together."""
    start, end = 0, -1
    for digits in DIGITS.finditer(text):
        if end < 0 or digits.start() - AROUND > end:
            if end >= 0:
                yield start, end
            start = max(0, digits.start() - AROUND)
        end = digits.end() + AROUND
    if end >= 0:
        yield start, end


def _may_hold(stretch: str) -> bool:
    """Whether there is a month's name, or numbers joined as in dates."""
    return not MONTHS.keys().isdisjoint(NAMES.findall(stretch)) or TIED.search(stretch) is not None


def _month(given: dict[str, str]) -> int:
    if "name" in given:
        return MONTHS[given["name"].casefold()]
    return _ordered(given)[0] if "one" in given else int(given["month"])


def _ordered(given: dict[str, str]) -> tuple[int, int]:
    """Month and day of two numbers between slashes; 0 if their order is ambiguous."""
    one, two = int(given["one"]), int(given["two"])
    if one > 12 or one == two:
        return two, one
    return (one, two) if two > 12 else (0, 0)


# Abbreviations whose point does not end a sentence, by what follows them.
#
# Words are case folded and without their last point.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BEFORE_MORE = _words(
    # English
    "mr mrs ms mx dr prof rev fr hon st messrs mme mlle gen col maj capt cpt cmdr lt sgt cpl pvt adm"
    " brig gov sen rep pres supt det insp amb treas sec e.g i.e eg ie cf viz vs v ca approx dept assn"
    " bros mt ft esp resp incl excl al ed eds trans repr rt"
    # German
    " bzw vgl usf evtl ggf inkl exkl sog z.b d.h u.a.m i.d.r u.u z.t o.g s.o s.u m.e i.a i.s.d v.a z.zt"
    " bspw hrsg hr fr dipl ing mag jun sen frl geb gest verh led ehem zzgl abzgl lfd max min mind stellv"
    " bes insb allg wiss nördl südl östl westl jh chr u.ä stk tsd tel zb dh"
    # French, Spanish, Portuguese, Italian, Dutch
    " mm mgr ste sr sra srta dra d.ª dña ud uds vd vds p.ej ej av exc ee dott dott.ssa sig sigg sig.ra"
    " avv geom on dhr mevr fa bijv d.w.z o.a m.b.t t.a.v i.v.m drs"
    # Slavic, Nordic, Turkish, Greek, Russian
    " tzv tj např mgr inż np tzn ul tzw bl.a f.eks t.ex dvs s.k örn doç π.χ κ т.е т.д т.п г-н г-жа им проф акад ул"
    # Hindi and Marathi
    " डॉ श्री श्रीमती प्रो पं कु मो लि सं इं कं स्व ई.पू वि.सं"
    # Arabic
    " د أ م ص ج ط أ.د م.م ق.م هـ مج ت"
)
"""Something belonging to them comes next: a title's name, an example's words."""

BEFORE_NUMBER = _words(
    "no nos nr nos núm num nº n° fig figs abb tab p pp pg s f ff vol vols ch chap art arts abs sec secs"
    " eq eqs ex bd kap lib op cap ziff rn rz anm ver rev ed pt pts para paras app line ll col cols c ca"
    " circa jan feb mar apr jun jul aug sep sept oct okt nov dec dez mär janv févr avr juil déc ene abr"
    " ago dic tel ext stat bl str hs par § стр рис г с lt n क्र सं पृ"
)
"""They stand before a number."""

MAY_END = _words(
    "etc inc ltd co corp llc plc bros jr sr esq ph.d phd m.d md b.a m.a b.sc m.sc ba ma ave blvd rd hwy"
    " apt dist a.m p.m u.s u.k u.n e.u u.s.a u.s.s.r d.c b.c a.d b.c.e c.e r.i.p usw u.a u.v.m etc.pp jh"
    " n.chr v.chr n.c o.o d.o.o z.hd ss.aa ee.uu s.a s.l s.r.l s.p.a c.v n.v b.v ecc enz itd itp m.in"
    " атд тыс млн млрд руб др пр гг вв tue tues thu thur thurs jan feb apr aug sept oct okt nov dec dez"
    " dept univ est tbsp tsp oz lb lbs ft yd gal hr hrs min mins sq cu st blvd sq ct pkwy ста"
)
"""They may stand at the end of a sentence too: then what follows begins like one."""

SINGLE = _words("i क है था थे थी हो हूँ की दी ली दो गई गए गया गयी रहा रही ना जा आ ही भी सका")
"""Short words that are no initials."""

UNITS = _words("م هـ ه")
"""Short words that are no initials after a number: years of an era."""

STARTERS = _words(
    "a after all also although an and another any are as at because before both but by can could did do does during "
    "each either even every few finally first following for from given had has have he her here hers his how however i "
    "if in indeed instead is it its just last later many maybe meanwhile more moreover most much my neither never "
    "nevertheless next no nobody none nor not nothing now of on once one only or other others our over perhaps please "
    "several she should similarly since so some soon still such that the their then there therefore these they this "
    "those though through thus to today together tomorrow two under unfortunately unless until up was we well were "
    "what when where whereas whether which while who whose why will with without would yes yesterday yet you your "
    "let's it's he's she's that's there's i'm i've don't"
    # German
    " aber allerdings alle als also am an auch auf aus außerdem bei bis da dabei daher damit danach dann"
    " darauf das dass davon dazu dem den der des deshalb die dies diese dieser dieses doch dort durch"
    " ein eine einem einen einer eines er es für gegen heute hier ich ihr ihre im in ist jede jeder"
    " jetzt kein keine können laut man mein mit nach nachdem nicht noch nun nur ob oder ohne schon sein"
    " seine seit seitdem sie sind so sogar soll später trotzdem über um und unser unter viele vom von"
    " vor wann war waren warum was weil weiter wenn wer werden wie wir wird wo zu zudem zum zunächst zur"
    # French, Spanish, Italian, Portuguese, Dutch
    " après au aussi avec ce ces cet cette comme dans de depuis des du elle elles en est et il ils je la le les leur "
    "lors mais nous on ou où par pour puis quand que qui sa sans si son sur un une vous además ahora al antes aunque "
    "como con cuando del después el ella ellas ellos en entonces era es esta este esto fue ha hay la las lo los más "
    "mientras no nos nosotros para pero por porque se según si sin sobre su sus también tras un una y ya yo anche che "
    "ci come con così da dal della dopo dove e è gli i il io la le lo ma nel nella non per perché poi quando quella "
    "questo se si sono sua suo tra tutti un una ao apesar as até com da depois do ela ele em essa esse esta este eu "
    "foi isso mas na não nas no nos o os para pela pelo por quando se sem sua também um uma dat de deze die dit een er "
    "het hij ik in is maar met na naar niet nu om ook op over te toen van voor wat we wij ze zij"
    # Russian
    " а без был была было были в во все где да для до его ее если есть за и из или их как когда кто мы на не но о об "
    "он она они оно от по после потом при с сейчас так там то тогда ты у что это этот эта я"
)
"""Words that sentences begin with, and names hardly do."""

ORDINAL_NOUNS = _words(
    "januar februar märz april mai juni juli august september oktober november dezember jänner feber"
    " jan feb mär apr jun jul aug sep sept okt nov dez tammikuuta helmikuuta maaliskuuta huhtikuuta"
    " toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta jahrhundert jahrhunderts jahrhunderte"
    " jahrtausend jh weltkrieg weltkriegs etage stock klasse platz auflage kapitel jahrestag geburtstag"
    " lebensjahr bundestag semester spieltag runde liga mal januars"
)
"""Months and other words that follow an ordinal's point, in languages that write them large."""

LABELS = _words("chapter section part article appendix step kapitel abschnitt teil artikel chapitre capítulo parte")
"""Words that with a number and a point make the head of a part."""

GERMAN = _words("der das und ist ein eine wurde im vom den dem des mit nicht auf für von wird zum zur")
"""Words that show that a text is German."""

SAID = _words(
    "said says asked asks cried shouted exclaimed yelled replied answered whispered screamed wondered inquired added "
    "thought muttered demanded began called laughed sagte sagt fragte fragt rief ruft antwortete schrie flüsterte "
    "meinte erklärte dit demanda cria répondit dijo preguntó gritó respondió disse chiese gridò कहा पूछा बोला बोली "
    "चिल्लाया चिल्लाई قال قالت سأل سألت صاح صرخ أجاب أجابت"
)
"""Verbs that follow a quotation and introduce its speaker."""
