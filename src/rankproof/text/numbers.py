"""Numbers in a text with their units, in one normal form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from rankproof.text.dates import GERMAN, Date, dates
from rankproof.text.words import CJK

SPELLINGS = """
m 1 m meter meters metre metres mètre mètres metro metros metri м метр метров метра 米 メートル मीटर متر
m 1000 km kilometer kilometers kilometre kilometres kilomètre kilomètres kilómetros chilometri км
    километров 公里 千米 キロメートル キロ किलोमीटर किमी كيلومتر كم
m 0.01 cm centimeter centimeters centimetre centimetres zentimeter centimètres centímetros см 厘米 センチ
    सेमी سم
m 0.001 mm millimeter millimeters millimetre millimetres 毫米 ミリ मिमी مم
m 1609.344 mi mile miles meile meilen milles millas miglia 英里 マイル मील ميل
m 0.3048 ft foot feet fuß 英尺 フィート फुट قدم
m 0.0254 inch inches zoll 英寸 インチ
m 0.9144 yd yard yards
g 1 g gram grams gramm gramme grammes gramos grammi г 克 グラム ग्राम غرام
g 1000 kg kilogram kilograms kilogramm kilo kilos kilogrammes kilogramos кг 公斤 千克 キログラム किलोग्राम
    किलो كيلوغرام كغ
g 0.001 mg milligram milligrams milligramm 毫克 ミリグラム
g 1000000 tonne tonnes tonnen tons ton 吨 トン टन طن
g 453.59237 lb lbs
g 28.349523125 oz ounce ounces
s 1 s sec second seconds sekunde sekunden seconde secondes segundos secondi 秒 秒钟 सेकंड ثانية ثوان
s 60 min mins minute minutes minuten minutos minuti 分钟 分間 मिनट دقيقة دقائق
s 3600 h hr hrs hour hours stunde stunden heure heures horas ore 小时 時間 घंटे घंटा ساعة ساعات
s 86400 day days tag tage tagen jour jours día días giorno giorni день дней дня 天 日間 दिन يوم أيام
    يوما
s 604800 week weeks woche wochen semaine semaines semana semanas settimane 周 星期 週間 सप्ताह हफ्ते
    أسبوع أسابيع
month 1 month months monat monate monaten mois mes meses mesi месяцев 个月 ヶ月 か月 महीने महीनों شهر أشهر
month 12 year years yr yrs jahr jahre jahren ans années año años anno anni лет года 年間 साल वर्ष سنة
    سنوات عاما
% 1 % percent prozent pourcent procent ％ प्रतिशत ٪ パーセント
USD 1 $ usd dollar dollars us-dollar 美元 ドル डॉलर دولار
EUR 1 € eur euro euros 欧元 ユーロ यूरो يورو
GBP 1 £ gbp pound pounds pfund 英镑 ポンド
JPY 1 ¥ jpy yen 円 日元
CNY 1 cny rmb yuan 元 人民币
INR 1 ₹ inr rupee rupees रुपये रुपए
C 1 °c ℃ celsius
F 1 °f ℉ fahrenheit
m2 1 m² m2 平方米 平方メートル
m2 1000000 km² km2 平方公里 平方キロメートル
m2 10000 ha hectare hectares hektar 公顷 ヘクタール हेक्टेयर
l 1 l liter liters litre litres litros litri 升 リットル लीटर لتر
l 0.001 ml milliliter milliliters millilitre millilitres 毫升
m/s 0.277777777777778 km/h kmh kph
m/s 0.44704 mph
W 1 w watt watts
W 1000 kw kilowatt kilowatts
W 1000000 mw megawatt megawatts
W 1000000000 gw gigawatt gigawatts
B 1000 kb kilobyte kilobytes
B 1000000 mb megabyte megabytes
B 1000000000 gb gigabyte gigabytes
B 1000000000000 tb terabyte terabytes
Hz 1 hz hertz
Hz 1000000 mhz megahertz
Hz 1000000000 ghz gigahertz
"""
"""For each unit its kind, its size in the kind's first unit, and how it is written."""

LINES = [line.split() for line in re.split(r"\n(?! )", SPELLINGS.strip())]
UNITS: dict[str, tuple[str, float]] = {
    spelling: (kind, float(size)) for kind, size, *spellings in LINES for spelling in spellings
}
"""Kind and size by spelling, case folded."""

SCALES: dict[str, float] = {
    spelling: factor
    for factor, line in (
        (1e2, "hundred hundert"),
        (1e3, "thousand thousands tausend mille mil mila тысяч тыс 千 हज़ार हजार ألف آلاف k"),
        (1e4, "万 萬 만"),
        (1e5, "lakh lakhs लाख"),
        (
            1e6,
            "million millions mio millionen millón millones milioni milhões млн миллионов मिलियन مليون ملايين m",
        ),
        (1e7, "crore crores करोड़ करोड़"),
        (1e8, "亿 億 억"),
        (
            1e9,
            "billion billions bn milliarde milliarden mrd milliards milliard miliardi млрд миллиардов مليار अरब",
        ),
        (1e12, "trillion trillions billionen 兆"),
    )
    for spelling in line.split()
}
"""Words that multiply the number before them."""

COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen",
    "null eins zwei drei vier fünf sechs sieben acht neun zehn - zwölf",
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze",
    "cero uno dos tres cuatro cinco seis siete ocho nueve diez - doce",
)
"""Numbers in words, each in its place; elf and once mean something else in English."""
SMALL = {word: value for line in COUNTED for value, word in enumerate(line.split()) if value != 1 and word != "-"}
BY_TEN = "twenty thirty forty fifty sixty seventy eighty ninety"
TENS = {word: 10 * place for place, word in enumerate(BY_TEN.split(), start=2)}
IN_ORDER = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINALS = {word: place for place, word in enumerate(IN_ORDER.split(), start=1)}


def unit_pattern() -> str:
    """An alternation of all spellings, longest first; letters end at the end of a word."""
    known = sorted(UNITS, key=len, reverse=True)
    lettered = [re.escape(s) for s in known if s[-1].isalpha() and ord(s[0]) < 0x3000]
    others = [re.escape(s) for s in known if re.escape(s) not in lettered]
    return rf"(?:(?:{'|'.join(lettered)})(?![^\W_])|{'|'.join(others)})"


CURRENCY = re.compile(r"[$€£¥₹]\s?$")
MINUS = re.compile(r"(?<![\w.,])[-−]$")
GROUPED = r"\d(?<![A-Za-z\d]\d)\d{0,2}(?:[\u00a0\u202f’'٬ ]\d{3})+(?!\d)(?:[.,٫]\d+)?"
DIGITS = rf"{GROUPED}|\d(?<![A-Za-z\d]\d)\d*(?:[.,٫٬]\d+)*"
HAN_NUMBER = "[一二两兩三四五六七八九十百千万億亿零〇]"
HAN_VALUES = {c: v for v, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
HAN_TENS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "億": 10**8, "亿": 10**8}
SPELT_WORDS = frozenset({*SMALL, *TENS, *ORDINALS, "hundred", "one"})
SPELT = "|".join(sorted(SPELT_WORDS, key=len, reverse=True))
DIGIT = re.compile(r"\d")
COMMA = re.compile(r"(?<![\d.,])\d+,\d{1,2}(?![\d.,]\d|\d)")
LETTERS = re.compile(r"[^\W\d_]+")
HALF = r"(?P<half>[\s-]and[\s-](?:a|one)[\s-]half(?!\w)|\s?½)?"


class Quantity(NamedTuple):
    """A number with its place, in the base unit of its kind; unit "" where it has none, "th" for ordinals."""

    start: int
    end: int
    value: float
    unit: str
    bare: float
    """The number as it is written, without its unit."""

    @property
    def form(self) -> str:
        """Number and unit in one form.

        >>> quantities("3 km")[0].form, quantities("3,000 metres")[0].form
        ('3000 m', '3000 m')
        """
        return f"{_shown(self.value)} {self.unit}".strip()

    @property
    def plain(self) -> str:
        """The number alone, as it is written."""
        return _shown(self.bare)


def quantities(text: str, known: Sequence[Date] | None = None) -> list[Quantity]:
    """The numbers of a text that are not part of a date; `known` are its dates, if they were found before.

    >>> [each.form for each in quantities("1,000 = 1000; 3,5 % of $2 million in the 21st of twenty-one cases")]
    ['1000', '1000', '3.5 %', '2000000 USD', '21 th', '21']
    """
    taken = [(date.start, date.end) for date in (dates(text) if known is None else known)]
    return sorted(each for each in _quantities(text) if not any(a <= each.start < b for a, b in taken))


@cache
def _scales() -> str:
    return "|".join(sorted((re.escape(s) for s in SCALES if s not in "km"), key=len, reverse=True))


@cache
def _in_digits(flags: int) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<digits>{DIGITS}){HALF}(?:(?P<ordinal>st|nd|rd|th)(?!\w)"
        rf"|\s?(?P<scale>(?:{_scales()})(?:(?!\w)|(?=[{CJK}]))|[km](?!\w)(?<=\d.))\.?)?"
        rf"(?:[\s-]?(?P<unit>{unit_pattern()}))?",
        flags,
    )


@cache
def _in_words(flags: int) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![^\W\d_])(?P<spelt>(?:{SPELT})(?:[\s-](?:{SPELT}))*)(?!\w){HALF}"
        rf"(?:\s(?P<scale>(?:{_scales()})(?!\w)))?(?:[\s-](?P<unit>{unit_pattern()}))?",
        flags,
    )


@cache
def _in_han() -> re.Pattern[str]:
    return re.compile(rf"(?P<han>{HAN_NUMBER}{{2,}})(?P<unit>{unit_pattern()})?")


def _quantities(text: str) -> Iterator[Quantity]:
    small = text.lower()  # much faster to search than letters of any case
    text, flags = (small, 0) if len(small) == len(text) else (text, int(re.IGNORECASE))
    if DIGIT.search(text):
        # Decimals are written with a comma if one shows it, or in a text that seems to be German.
        comma = COMMA.search(text) is not None or not GERMAN.isdisjoint(text.lower().split())
        for found in _in_digits(flags).finditer(text):
            yield _written(found, parse_number(found["digits"], comma))
    for found in _spelt_out(text, SPELT_WORDS.intersection(LETTERS.findall(small)), flags):
        yield from _spelt(found)
    if not text.isascii():
        for found in _in_han().finditer(text):
            yield from _han(found)


def _spelt_out(text: str, there: Iterable[str], flags: int) -> Iterator[re.Match[str]]:
    """The numbers in words of a text that has some; places where one may begin are searched first, as that is fast."""
    past = 0
    for start in sorted(found.start() for word in there for found in _one_word(word, flags).finditer(text)):
        if start >= past and (number := _in_words(flags).match(text, start)):
            past = number.end()
            yield number


@cache
def _one_word(word: str, flags: int) -> re.Pattern[str]:
    return re.compile(rf"{word}(?![^\W\d_])", flags)


def _written(found: re.Match[str], value: float) -> Quantity:
    before, value = found.string[max(0, found.start() - 2) : found.start()], value + _half(found)
    bare = (-value if MINUS.search(before) else value) * SCALES.get((found["scale"] or "").casefold(), 1.0)
    if found["ordinal"]:
        return Quantity(found.start(), found.end(), bare, "th", bare)
    currency = CURRENCY.search(before)
    return _with_unit(found, bare, (currency.group().strip() if currency else found["unit"] or "").casefold())


def _with_unit(found: re.Match[str], bare: float, spelling: str) -> Quantity:
    kind, factor = UNITS.get(spelling, ("", 1.0))
    end = found.start() + len(found[0].rstrip())
    return Quantity(found.start(), end, bare * factor, kind, bare)


def _spelt(found: re.Match[str]) -> Iterator[Quantity]:
    """A number in words; one, alone, is a pronoun as often, and first and second are not counted."""
    parts = re.split(r"[\s-]", found["spelt"].casefold())
    ordinal = parts[-1] in ORDINALS
    scale = SCALES.get((found["scale"] or "").casefold(), 1.0)
    if parts == ["one"] and scale == 1 and not found["unit"] and not found["half"]:
        return
    value = (_worth(parts) + _half(found)) * scale
    if ordinal:
        yield Quantity(found.start(), found.end(), value, "th", value)
    else:
        yield _with_unit(found, value, (found["unit"] or "").casefold())


def _half(found: re.Match[str]) -> float:
    return 0.5 if found["half"] else 0.0


def _worth(parts: list[str]) -> float:
    value = 0
    for part in parts:
        if part == "hundred":
            value = max(value, 1) * 100
        else:
            value += 1 if part == "one" else SMALL.get(part) or TENS.get(part) or ORDINALS.get(part) or 0
    return float(value)


def _han(found: re.Match[str]) -> Iterator[Quantity]:
    """A number in Chinese characters that has a multiplier and a digit, or a unit."""
    signs = found["han"]
    if not any(c in HAN_TENS for c in signs) or not any(c in HAN_VALUES for c in signs):
        return
    total = section = digit = 0
    for sign in signs:
        if sign in HAN_VALUES:
            digit = HAN_VALUES[sign]
        elif HAN_TENS[sign] < 10_000:
            section, digit = section + max(digit, 1) * HAN_TENS[sign], 0
        else:
            total, section, digit = (total + max(section + digit, 1)) * HAN_TENS[sign], 0, 0
    yield _with_unit(found, float(total + section + digit), found["unit"] or "")


def parse_number(digits: str, comma: bool = False) -> float:
    """The value of a written number; `comma`: the text writes decimals with a comma.

    >>> [parse_number(each) for each in ("1,000", "1.234,5", "3,5", "1.234")], parse_number("1.234", comma=True)
    ([1000.0, 1234.5, 3.5, 1.234], 1234.0)
    """
    if digits.isascii() and digits.isdigit():
        return float(digits)
    plain = re.sub(r"[\u00a0\u202f’' ٬]", "", digits).replace("٫", ".")
    last = max(plain.rfind("."), plain.rfind(","))
    if last < 0:
        return float(plain)
    if _groups(plain, comma):
        return float(re.sub("[.,]", "", plain))
    return float(re.sub("[.,]", "", plain[:last]) + "." + plain[last + 1 :])


def _groups(plain: str, comma: bool) -> bool:
    """Whether all signs between digits separate thousands."""
    signs = re.sub(r"\d", "", plain)
    if len(set(signs)) > 1:
        return False
    if not re.fullmatch(r"\d{1,3}(?:[.,]\d{2,3})*[.,]\d{3}", plain) or plain.startswith("0"):
        return len(signs) > 1
    return len(signs) > 1 or signs == "," or comma or plain.endswith("000")


def _shown(value: float) -> str:
    return f"{value:.12g}" if abs(value) < 1e12 else f"{value:.6e}"
