"""The language of a text, and the stop words of each language."""

from __future__ import annotations

import re
from functools import cache

from rankproof.text.claims import WORDS as DENIALS
from rankproof.text.words import ARABIC, DEVANAGARI, GREEK, HAN, HANGUL, KANA, THAI, fold

BY_LANGUAGE: dict[str, str] = {
    "en": (
        "a about above after again against all also although am among an and another any are aren't as at be "
        "became because been before being below between both but by can can't cannot could couldn't did "
        "didn't do does doesn't doing don't down during each either else etc ever every few for from further "
        "had hadn't has hasn't have haven't having he her here hers herself him himself his how however i if "
        "in into is isn't it its itself just let may me might mine more most much must my myself nor no not "
        "of off often on once one ones only onto or other others our ours out over own per quite rather same "
        "shall she should shouldn't since so some such than that that's the their theirs them themselves then "
        "there therefore these they this those though through thus to too under until up upon us very via was "
        "wasn't we well were weren't what when where whereas whether which while who whom whose why will with "
        "within without won't would wouldn't yes yet you your yours ok okay know"
    ),
    "de": (
        "aber alle als also am an auch auf aus bei beim bin bis bist da dabei dadurch daher damit dann das "
        "dass dein deine dem den denn der deren des dessen die dies diese diesem diesen dieser dieses doch "
        "dort du durch ein eine einem einen einer eines er es etwa euch für gegen hat hatte hatten hier ihm "
        "ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt kann kein "
        "keine können konnte man mehr mein mich mir mit muss nach nicht noch nun nur ob oder ohne sehr sein "
        "seine seinem seinen seiner seit sich sie sind so sowie über um und uns unter vom von vor war waren "
        "was weil welche welcher wenn wer werden wie wieder wir wird wo wurde wurden zu zum zur zwar zwischen"
    ),
    "fr": (
        "au aux avec avait avoir c'est ce ces cet cette comme d dans de des du elle elles en est et été être "
        "eux il ils j' je la le les leur leurs lui ma mais me même mes moi mon ne nos notre nous on ont ou où "
        "par pas plus pour qu que qui sa sans se ses son sont sous sur ta te tes toi ton tu un une vos votre "
        "vous y était étaient cela ça fait très aussi donc"
    ),
    "es": (
        "al algo ante como con cual cuando de del desde donde durante e el ella ellas ellos en entre era eran "
        "es esa ese eso esta este esto están está fue fueron ha han hasta hay la las le les lo los más me mi "
        "mis muy nada ni no nos o os otra otro para pero por porque que quien se según ser si sido sin sobre "
        "son soy su sus también te tiene tu un una uno unos y ya yo"
    ),
    "it": (
        "agli ai alla alle allo anche che chi ci coi col come cui da dagli dai dal dalla degli dei del della "
        "delle dello di dove ed era erano fra furono gli ha hanno il io la lo loro lui ma mi nei nel nella "
        "nelle noi non per perché più quale quando quello questo se sei si sono stata stato su sua sue sugli "
        "sui sul sulla suo tra tu una uno voi è"
    ),
    "pt": (
        "ao aos as até com como da das dele dela depois do dos ele ela eles elas em era essa esse esta este eu foi "
        "foram isso já lhe mais mas mesmo meu minha muito na nas não nem no nos num numa o os ou para pela pelas pelo "
        "pelos por qual quando quem são se sem seu seus sua suas também te tem um uma você às à é"
    ),
    "nl": (
        "aan als bij dan dat de deze die dit door een en er had heb hebben heeft het hij hoe hun ik in is je "
        "kan maar me meer met mijn na naar niet nog nu of om ook op over te tot uit van veel voor waren was "
        "wat we wel werd wie wij worden wordt ze zich zij zijn zo zou"
    ),
    "ru": (
        "а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если "
        "есть еще же за здесь и из или им их к как когда кто ли между меня мне может мы на над надо наш не него нет ни "
        "них но ну о об он она они оно от очень по под при про с себя со так также такой там то того тоже только том "
        "ты у уже хотя чего чем что чтобы эта эти это этого этой этом этот я который которая которые которых которого"
    ),
    "ar": (
        "في من على إلى الى عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم هما كان كانت كانوا يكون تكون قد لقد "
        "و أو او ثم أن ان إن لا لم لن ليس ما كل بعض بين عند بعد قبل حتى كما لكن إذا اذا منذ خلال غير أي اي به "
        "بها له لها فيه فيها عليه عليها منه منها أنه أنها وهو وهي وقد أيضا ايضا تم كيف متى أين هل ماذا لماذا"
    ),
    "hi": (
        "है हैं था थे थी हो होता होती होते हुआ हुई हुए का के की को से में पर और या कि यह ये वह वे इस उस इन उन "
        "इसके उसके इसकी उसकी इसका उसका ने भी ही तो न नहीं जो जिस एक कर करता करते करती किया करना गया गई गए रहा "
        "रही रहे जा लिए साथ तक बाद अपने अपनी अपना क्या कौन कब कहाँ कहां क्यों कैसे मैं हम तुम आप मेरा मेरी "
        "हमारे सकता सकते सकती द्वारा"
    ),
}
SINGLE_SIGNS = "不没沒未他她它我你您们有也都就而被把"
STOP_WORDS = frozenset(
    fold(word) for words in (*BY_LANGUAGE.values(), DENIALS, " ".join(SINGLE_SIGNS)) for word in words.split()
) - {"usa"}

COMMON_WORDS = """
able act add age ago allow along already always appear area around ask away back become begin believe
best better big bring build call case cause certain change clear close come common complete consider
contain continue course create current day develop different early effect end enough even event example
exist fact feel few find first five follow form four full general get give go good great group grow
happen hard help high hold home hour idea important include increase issue keep kind lack large last late
later lead least leave less level life like likely line list little live local long look lose lot low
main make many mean member month move name near need never new next none number offer old open order part
particular pay people person place plan play point possible present problem process produce provide
public put question reach real reason receive recent refer release remain report require result right run
say second see seem serve set several show side similar simple single small sort specific stand start
state still stop system take talk tell term thing think three time today together top total toward true
try turn two type understand use usual various view want way week whole word work world year think love
really sure guess favorite actually maybe probably pretty heard thats im ive lol
"""
COMMON = frozenset(COMMON_WORDS.split())
"""English words met so often that finding one says little; stems of them are looked up too."""

SMALL_HIRAGANA = """
です ます した して する され れる れた いる いた ある あっ って から まで より など こと もの ため よう という とい
いう なる なっ では には とは での への でも にも のは のが のを また この その あの どの それ これ そし てい でい
てき まし せん でし しま しょ った うと とし たと てい しい たの るの は が を に で と も の へ や か な だ た
て い う し れ る り さ せ ら
"""
HIRAGANA = frozenset(SMALL_HIRAGANA.split())
"""Pairs of hiragana that endings and small words are made of."""


WRITINGS = {
    "ja": f"[{KANA}]",
    "zh": f"[{HAN}]",
    "ko": f"[{HANGUL}]",
    "ar": f"[{ARABIC}]",
    "hi": f"[{DEVANAGARI}]",
    "th": f"[{THAI}]",
    "el": f"[{GREEK}]",
    "ru": "[\u0400-\u04ff]",
    "he": "[\u05d0-\u05ea]",
    "latin": "[A-Za-z\u00c0-\u024f]",
}
WEIGHTS = {"zh": 3, "ja": 6, "ko": 3}
"""The number of letters of other scripts that one character counts as; kana in a text of Han show Japanese."""
LOOKED_AT = 600
LATIN = ("en", "de", "fr", "es", "it", "pt", "nl")
LEAST = 2
WORD = re.compile(r"[^\W\d_]+")


def language(text: str) -> str:
    """The code of the language that a text seems to be in; "latin" where its letters are all that can be told.

    >>> [language(t) for t in ("Where is the house?", "Wo ist das Haus?", "家はどこですか", "Brasília")]
    ['en', 'de', 'ja', 'latin']
    """
    sample = text[:LOOKED_AT]
    if sample.isascii():
        return _by_small_words(sample) if any(c.isalpha() for c in sample) else ""
    counts = {code: len(_letters(code).findall(sample)) * WEIGHTS.get(code, 1) for code in WRITINGS}
    writing = max(counts, key=lambda code: counts[code])
    if not counts[writing]:
        return ""
    return _by_small_words(sample) if writing == "latin" else writing


def are_alike(one: str, other: str) -> bool:
    """Whether two texts may be in one language.

    >>> are_alike("en", "latin"), are_alike("en", "de"), are_alike("", "ja")
    (True, False, True)
    """
    if one == other or not one or not other:
        return True
    return "latin" in (one, other) and {one, other} <= {"latin", *LATIN}


@cache
def _letters(code: str) -> re.Pattern[str]:
    return re.compile(WRITINGS[code])


@cache
def _small_words() -> dict[str, frozenset[str]]:
    return {code: frozenset(BY_LANGUAGE[code].split()) for code in LATIN}


def _by_small_words(sample: str) -> str:
    words = WORD.findall(sample.lower())
    counts = [(sum(map(known.__contains__, words)), code) for code, known in _small_words().items()]
    (second, _), (most, code) = sorted(counts)[-2:]
    return code if most >= LEAST and most >= 1.5 * second else "latin"


NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "ja": "Japanese",
    "zh": "Chinese",
    "ko": "Korean",
    "ar": "Arabic",
    "hi": "Hindi",
    "th": "Thai",
    "el": "Greek",
    "ru": "Russian",
    "he": "Hebrew",
    "latin": "Latin letters",
}
"""The names of languages by their codes; a script that several share has the name of the best known one."""
