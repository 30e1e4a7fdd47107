"""Answers that say that they have none, in several languages."""

from __future__ import annotations

import re

from rankproof.text.sentences import sentences

PHRASES = (
    # English
    r"(?:i|we) (?:do not|don't|dont|really don't|honestly don't) (?:know|have (?:\w+ ){0,3}(?:information"
    r"|data|answer|context|details))",
    r"(?:i'm|i am|we are|we're) (?:not sure|unsure|unable to|not able to|not aware)",
    r"(?:i|we) (?:cannot|can't|can not|could not|couldn't) (?:\w+ )?(?:answer|find|determine|say|tell"
    r"|provide|help|locate|confirm)",
    r"(?:no|not enough|insufficient|not sufficient) (?:\w+ )?(?:information|answer|context|data|evidence|details)"
    r"(?: \w+){0,4} (?:available|provided|found|given|to answer|to determine|about|on|in the|regarding)",
    r"(?:context|text|passages?|documents?|information|article|sources?)(?: \w+){0,4} (?:does not|do not"
    r"|doesn't|don't|did not) "
    r"(?:contain|mention|provide|say|specify|include|state|answer|give|cover|address|discuss|have)",
    r"(?:is|are|was|were) (?:not|n't) (?:mentioned|stated|specified|provided|given|discussed|answerable"
    r"|available|found)"
    r"(?: \w+){0,2} (?:in|by|from) (?:the|this|these|any)",
    r"(?:the |this |your )?(?:question|answer|it) (?:cannot|can't|can not|could not) be (?:answered"
    r"|determined|found|inferred)",
    r"(?:cannot|can't|can not) be (?:answered|determined|inferred) (?:from|based|with|by)",
    r"^(?:no answer|unanswerable|n/?a|unknown|no idea|not (?:available|found|specified|mentioned|stated"
    r"|sure)|none)\W*$",
    r"^sorry,? (?:but )?(?:i|we)\b",
    # German, French, Spanish, Italian, Portuguese, Dutch
    r"(?:das )?(?:weiß|weiss) ich (?:leider )?nicht|ich (?:weiß|weiss) (?:es |das )?(?:leider )?nicht",
    r"(?:kann|konnte|können) (?:\w+ ){0,4}nicht (?:\w+ )?(?:beantwort|beantwortet|beantworten|sagen|finden)",
    r"(?:keine|nicht genug|nicht genügend) (?:\w+ )?(?:informationen|angaben|antwort|daten)|geht aus"
    r" .{0,60} nicht hervor",
    r"je ne (?:sais|peux|trouve|dispose) pas|(?:pas|aucune) (?:d'|assez d')?information|ne (?:mentionne"
    r"|contient|précise)\w* pas",
    r"no (?:lo )?(?:sé|sabemos|puedo (?:responder|contestar))|no (?:hay|tengo|se encuentra|dispongo de)"
    r" (?:suficiente )?información"
    r"|no (?:se )?(?:menciona|especifica|contiene)",
    r"non (?:lo )?(?:so|posso rispondere)|non (?:ci sono|ho) (?:abbastanza )?informazioni|non (?:è|viene)"
    r" (?:menzionat|specificat)",
    r"(?:eu )?não (?:sei|posso responder|há informaç|tenho informaç|é mencionad)",
    r"(?:ik )?weet (?:ik )?(?:het )?niet|geen (?:informatie|antwoord)",
    # Russian, Arabic, Hindi
    r"(?:я )?не знаю|не могу (?:ответить|найти|сказать)|(?:нет|недостаточно) информации|не (?:упоминается|указано)",
    r"لا أعرف|لا اعرف|لا أعلم|لا أدري|لا (?:يمكنني|أستطيع) (?:الإجابة|الاجابة)|لا (?:توجد|تتوفر) معلومات"
    r"|لا يذكر|ليس لدي معلومات",
    r"(?:मुझे )?(?:नहीं पता|पता नहीं|नहीं मालूम|मालूम नहीं)|मैं नहीं जानता|जानकारी (?:नहीं|उपलब्ध नहीं)|उत्तर नहीं",
    # Chinese, Japanese, Korean
    r"我?不知道|不清楚|我?(?:无法|無法|不能)(?:回答|确定|確定|提供|找到)|没有(?:足够的?|相关的?"
    r"|提供)?(?:信息|资料|答案)|(?:文中|上下文|资料)(?:中)?(?:没有|未)",
    r"(?:わか|分か|判)り(?:ません|かね)|(?:わから|分から|判ら|知ら)(?:ない|ず)|知りません"
    r"|答えられ(?:ません|ない)|お答えでき"
    r"|(?:情報|記載|記述|言及)(?:が|は)(?:\w{0,6})?(?:ありません|ない|不足|見つかり)",
    r"모르겠|모릅니다|알 수 없|답(?:변)?할 수 없|정보가 (?:없|부족)",
)
PHRASE = re.compile("|".join(f"(?:{phrase})" for phrase in PHRASES), re.IGNORECASE)
LOOKED_AT = 2
"""An abstention stands in an answer's first sentences."""
LONGEST = 60
"""Words; a longer answer says something nevertheless."""


def abstains(answer: str) -> bool:
    """Whether an answer says that it has none.

    >>> [abstains(a) for a in ("I don't know.", "Das weiß ich leider nicht.", "他不是医生。")]
    [True, True, False]
    """
    plain = answer.replace("’", "'")
    if len(plain.split()) > LONGEST:
        return False
    return any(PHRASE.search(span.of(plain)) for span in sentences(plain)[:LOOKED_AT])
