"""The claims of a text, the words that negate a statement, and those by which an answer says that it has none.

Clauses are split only if both have a subject; pronouns are not resolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankproof.text.languages import DENIALS
from rankproof.text.sentences import HEADING, mark_enclosed, sentences
from rankproof.text.words import IRREGULAR, Span, fold, has_words, trim, words

SPACED = re.compile(r"[^\s.,;:!?()\[\]\"“”„«»।؟،]+")
CONTRACTED = re.compile(r"n['’]t$|^n['’](?=\w)", re.IGNORECASE)
UNSPACED = re.compile(
    r"[不没沒无無](?![仅僅但过過同断斷管论論少久])|未(?![来來])|非(?![常洲])|別(?=再|去)"
    r"|な(?:い|かった|く(?=[、て])|し(?![いたてよ]))|ません|ず(?=[、に。]|$)"
    r"|않|(?<=\s)안(?=\s)|없|못"
)
NO_DENIAL = re.compile(
    r"(?:not|nicht|non|pas|no|não)\s(?:only|just|nur|solo|sólo|seulement|soltanto|apenas)(?!\w)"
    r"|no\s(?:doubt|matter)(?!\w)|no\.?\s?(?=\d)|nothing\sbut|しかない|かもしれない|に違いない|なければならない",
    re.IGNORECASE,
)


def negations(text: str) -> list[Span]:
    """The negations of a text.

    >>> text = "It isn't cheap, not only here. 他不是医生。"
    >>> [cue.of(text) for cue in negations(text)]
    ["n't", '不']
    """
    cues = [*_spaced(text), *(() if text.isascii() else (Span(*cue.span()) for cue in UNSPACED.finditer(text)))]
    if not cues:
        return []
    harmless = [found.span() for found in NO_DENIAL.finditer(text)]
    return sorted(cue for cue in cues if not any(start <= cue.start < end for start, end in harmless))


def _spaced(text: str) -> Iterator[Span]:
    """Cues that are words, or the end or beginning of one."""
    for found in SPACED.finditer(text):
        word = found.group()
        if word.lower() in DENIALS:
            yield Span(*found.span())
        elif ("'" in word or "’" in word) and (part := CONTRACTED.search(word)):
            yield Span(found.start() + part.start(), found.start() + part.end())


LEAD = re.compile(
    r"\s*(?:>\s*)*(?:[-*+•◦▪‣·–—●○■]\s+|\(?(?:\d{1,3}|[A-Za-z])[.)]\s+|#{1,6}\s+|\|\s*)?(?:\[[ xX]\]\s+)?[*_]{0,2}"
)
"""The mark of a list item, a quotation or a heading."""
QUESTION = re.compile(r"[?？؟;][\"'”’»)\]」』）*_]*$")
GREEK_LETTER = re.compile("[\u0370-\u03ff]")
SUBJECT = {
    "en": r"he|she|it|they|we|i|you|this|that|these|those|there|the|an?|his|her|its|their|our|my|your|no"
    "|some|many|most|all"
    r"|each|every|both|several|one|another|[A-Z][\w’'-]+(?:\s[A-Z][\w’'-]+)*"
    r"(?=\s(?:is|are|was|were|has|had|have|does|did|will|would"
    r"|can|could|may|became|began|[a-z]+ed)\b)",
    "de": r"er|sie|es|wir|ich|ihr|man|dies(?:e[rs]?)?|der|die|das|ein|eine|sein|seine|ihre|viele|alle"
    "|einige|kein|keine|dort|hier",
    "fr": r"il|elle|ils|elles|on|nous|vous|je|ce|cela|c'est|le|la|les|un|une|son|sa|ses|leur",
    "es": r"él|ella|ellos|ellas|esto|este|esta|el|la|los|las|un|una|su|sus|hay|no|se",
    "hi": r"वह|वे|यह|ये|उसने|उन्होंने|उसका|उसकी|उसके|उनका|उनकी|इसका|इसकी|इसके|इसमें|उसमें|मैं|मैंने|हम"
    "|हमने|आप|तुम|वहाँ|यहाँ",
    "ru": r"он|она|оно|они|это|мы|я|его|её|их|там",
}
JOINING = {
    "en": r"(?:,\s*(?:and|but|while|whereas|although|though|yet|so)|\s(?:and|but|whereas))",
    "de": r"(?:,\s*(?:und|aber|doch|sondern|während|jedoch)|\s(?:und|aber))",
    "fr": r"(?:,\s*(?:et|mais|tandis que|alors que)|\s(?:et|mais))",
    "es": r"(?:,\s*(?:y|pero|mientras que|aunque)|\s(?:y|pero))",
    "hi": r"(?:,?\s*(?:और|लेकिन|परंतु|परन्तु|किंतु|मगर|जबकि|तथा|एवं))",
    "ru": r"(?:,\s*(?:а|но|и|однако))",
}
CONTRAST = r",\s*(?:whereas|wohingegen)\s+"
"""Joins clauses whatever the second begins with."""
SEMICOLON = r"\s*[;；؛]\s*"
CHINESE = (
    r"，(?:而且|并且|但是?|不过|然而|同时|所以|因此|而)(?=[^，。；]{3,})"
    r"|，(?=(?:他们?|她们?|它们?|我们?|这|那|其)[^，。；]{3,})"
)
HINDI = r",?\s+(?:लेकिन|परंतु|परन्तु|किंतु|मगर|जबकि)\s+"
JAPANESE = r"(?:(?<=だ|る|た|い|す)が|(?<=[るたいすだ])けれども?|(?<=[るたいすだ])し)、(?=[^、。]{3,})"
ARABIC = (
    r"\s*،?\s+و(?=(?:هو|هي|هم|هذا|هذه|كان|كانت|قد|لقد|أصبح|أصبحت|يقع|تقع|يبلغ|تبلغ|ولد|ولدت|توفي|توفيت|لم"
    r"|لا|لن|ليس|ليست)\s)"
    r"|\s*،?\s+(?:لكن|ولكن|بينما)\s+"
)
CLAUSE = re.compile(
    "|".join(
        [
            SEMICOLON,
            CONTRAST,
            CHINESE,
            HINDI,
            JAPANESE,
            ARABIC,
            *(rf"{JOINING[code]}\s+(?=(?:{SUBJECT[code]})(?!\w))" for code in SUBJECT),
        ]
    )
)
VERB = re.compile(
    r"\b(?:is|are|was|were|am|be|been|has|have|had|do|does|did|can|could|will|would|may|might|must|shall"
    r"|should|isn't|aren't|wasn't"
    r"|weren't|became|began|won|lost|made|took|gave|came|went|left|got|ran|wrote|said|grew|fell|rose|led"
    r"|met|held|kept|lives?|lies|costs?"
    r"|stands|works|runs|makes|takes|gives|goes|uses|has|needs|contains|includes|remains?|means|sells"
    r"|starts|ends|eats?|plays?|\w{2,}ed"
    r"|ist|sind|war|waren|wird|wurden?|hat|hatten?|haben|kann|können|konnten?|muss|liegt|lag|lebte?"
    r"|kostet|gibt|gab|kam|kommt|ging|geht"
    r"|erschien|entstand|stieg|fiel|nahm|sah|lief|zog|hielt|erhielt|ließ|verlor|trat|bleibt?|blieb|steht|stand|fand|heißt|hieß|starb|begann|gewann|schrieb|macht|\w{2,}(?:te|ten|iert)"
    r"|est|sont|était|étaient|a|ont|avait|fut|sera|peut|doit|fait|reste|\w{2,}(?:ait|aient|èrent)"
    r"|es|son|era|eran|fue|fueron|ha|han|tiene|tienen|está|están|puede|hay|\w{2,}(?:ó|aron|ieron|aba|ían?))\b"
    r"|\b(?:he|she|it|who)\s(?:\w+\s)?[a-z]{2,}s\b|\b(?:er|sie|es|wir)\s[a-zäöü]{2,}(?:t|e?n)\b|\b(?:they"
    r"|we|you|i)\s[a-z]{3,}\b",
    re.IGNORECASE,
)
"""A word that may be a verb; a clause of Latin letters without one is not split off."""
GREETINGS = (
    "yes no ok okay sure thanks thank hello hi hey sorry well please indeed exactly absolutely certainly"
    " correct right true"
    " ja nein danke hallo bitte oui non merci bonjour sí gracias hola да нет спасибо 谢谢 你好 再见 是"
    " 是的 好 好的 对"
    " 不 不是 はい いいえ"
    " نعم لا شكرا مرحبا हाँ हां नहीं धन्यवाद नमस्ते जी"
)
SAYS_NOTHING = frozenset(fold(word) for word in GREETINGS.split())
ENDS = " .!。！、।؟?،"
LATIN = re.compile("[A-Za-z]")
BOUND = re.compile(
    r"(?<!\w)(?:if|unless|whether|that|because|since|when|although|either|neither|wenn|weil|dass|ob|falls"
    r"|obwohl|si|que|quand"
    r"|parce|porque|cuando|aunque|यदि|अगर|जब|क्योंकि|कि|إذا|لأن|أن|عندما|если|что|когда)(?!\w)|^(?:在|当"
    r"|從|从|对|由于|因为|如果"
    r"|虽然|随着|为了|根据|即使|もし)",
    re.IGNORECASE,
)
"""Words that make a clause depend on them: such a sentence is not split."""


def claims(text: str) -> list[Span]:
    """The claims of a text, in order: no questions, no headings, no greetings.

    >>> text = "# Brasília\\nIt was founded in 1960, and it is the capital. Is it large? Yes. No tax is due; fees are."
    >>> [claim.of(text) for claim in claims(text)]
    ['It was founded in 1960', 'it is the capital.', 'No tax is due', 'fees are.']
    """
    return [claim for statement in statements(text) for claim in _clauses(text, statement) if _says(text, claim)]


def statements(text: str) -> list[Span]:
    """The sentences of a text that state something, without list markers: no headings and no questions.

    >>> text = "# Fees\\n- None are charged.\\n- Why?"
    >>> [statement.of(text) for statement in statements(text)]
    ['None are charged.']
    """
    return [span for sentence in sentences(text) for span in _stated(text, sentence)]


def _stated(text: str, sentence: Span) -> Iterator[Span]:
    whole = sentence.of(text)
    if HEADING.match(whole) or _asks(whole) or whole.endswith((":", "：")):
        return
    lead = LEAD.match(whole)
    span = trim(text, sentence.start + (lead.end() if lead else 0), sentence.end)
    if has_words(span.of(text)):
        yield span


def _asks(sentence: str) -> bool:
    found = QUESTION.search(sentence)
    return found is not None and (found.group()[0] != ";" or GREEK_LETTER.search(sentence) is not None)


def _says(text: str, claim: Span) -> bool:
    """Whether it is more than a greeting or a yes."""
    whole = claim.of(text)
    spoken, inside = words(whole), whole.strip(ENDS)
    alone = " " not in inside and fold(inside) in SAYS_NOTHING  # a greeting has no space in it
    return bool(spoken) and not alone and not all(word.form in SAYS_NOTHING for word in spoken)


def _clauses(text: str, statement: Span) -> Iterator[Span]:
    whole = statement.of(text)
    inside = mark_enclosed(whole)
    start = 0
    for joint in CLAUSE.finditer(whole):
        left, right = whole[start : joint.start()], whole[joint.end() :]
        if inside[joint.start()] or BOUND.search(left) or not (_clause(left) and _clause(right)):
            continue
        yield trim(text, statement.start + start, statement.start + joint.start())
        start = joint.end()
    yield trim(text, statement.start + start, statement.end)


def _clause(part: str) -> bool:
    """Whether a part of a sentence may be a sentence; in Latin letters it must have a verb."""
    if LATIN.search(part):
        return VERB.search(part) is not None or any(word.form in IRREGULAR for word in words(part))
    return len(part.strip()) > 2
