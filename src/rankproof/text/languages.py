"""The language of a text, and words of each language: stop words, denials, abbreviations, beginnings of sentences,
synonyms, opposites.
"""

from __future__ import annotations

import re
from functools import cache

from rankproof.text.words import ARABIC, DEVANAGARI, GREEK, HAN, HANGUL, KANA, THAI, fold, stem, words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SMALL_WORDS = """
en a about above after again against all also although am among an and another any are aren't as at be became because
  been before being below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't
  down during each either else etc ever every few for from further had hadn't has hasn't have haven't having he her here
  hers herself him himself his how however i if in into is isn't it its itself just let may me might mine more most much
  must my myself nor no not of off often on once one ones only onto or other others our ours out over own per quite
  rather same shall she should shouldn't since so some such than that that's the their theirs them themselves then there
  therefore these they this those though through thus to too under until up upon us very via was wasn't we well were
  weren't what when where whereas whether which while who whom whose why will with within without won't would wouldn't
  yes yet you your yours ok okay know
de aber alle als also am an auch auf aus bei beim bin bis bist da dabei dadurch daher damit dann das dass dein deine dem
  den denn der deren des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer
  eines er es etwa euch für gegen hat hatte hatten hier ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede
  jedem jeden jeder jedes jetzt kann kein keine können konnte man mehr mein mich mir mit muss nach nicht noch nun nur ob
  oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so sowie über um und uns unter vom von vor war waren
  was weil welche welcher wenn wer werden wie wieder wir wird wo wurde wurden zu zum zur zwar zwischen
fr au aux avec avait avoir c'est ce ces cet cette comme d dans de des du elle elles en est et été être eux il ils j' je
  la le les leur leurs lui ma mais me même mes moi mon ne nos notre nous on ont ou où par pas plus pour qu que qui sa
  sans se ses son sont sous sur ta te tes toi ton tu un une vos votre vous y était étaient cela ça fait très aussi donc
es al algo ante como con cual cuando de del desde donde durante e el ella ellas ellos en entre era eran es esa ese eso
  esta este esto están está fue fueron ha han hasta hay la las le les lo los más me mi mis muy nada ni no nos o os otra
  otro para pero por porque que quien se según ser si sido sin sobre son soy su sus también te tiene tu un una uno unos
  y ya yo
it agli ai alla alle allo anche che chi ci coi col come cui da dagli dai dal dalla degli dei del della delle dello di
  dove ed era erano fra furono gli ha hanno il io la lo loro lui ma mi nei nel nella nelle noi non per perché più quale
  quando quello questo se sei si sono stata stato su sua sue sugli sui sul sulla suo tra tu una uno voi è
pt ao aos as até com como da das dele dela depois do dos ele ela eles elas em era essa esse esta este eu foi foram isso
  já lhe mais mas mesmo meu minha muito na nas não nem no nos num numa o os ou para pela pelas pelo pelos por qual
  quando quem são se sem seu seus sua suas também te tem um uma você às à é
nl aan als bij dan dat de deze die dit door een en er had heb hebben heeft het hij hoe hun ik in is je kan maar me meer
  met mijn na naar niet nog nu of om ook op over te tot uit van veel voor waren was wat we wel werd wie wij worden wordt
  ze zich zij zijn zo zou
ru а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если есть
  еще же за здесь и из или им их к как когда кто ли между меня мне может мы на над надо наш не него нет ни них но ну о
  об он она они оно от очень по под при про с себя со так также такой там то того тоже только том ты у уже хотя чего чем
  что чтобы эта эти это этого этой этом этот я который которая которые которых которого
ar في من على إلى الى عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم هما كان كانت كانوا يكون تكون قد لقد و أو او ثم أن ان
  إن لا لم لن ليس ما كل بعض بين عند بعد قبل حتى كما لكن إذا اذا منذ خلال غير أي اي به بها له لها فيه فيها عليه عليها منه
  منها أنه أنها وهو وهي وقد أيضا ايضا تم كيف متى أين هل ماذا لماذا
hi है हैं था थे थी हो होता होती होते हुआ हुई हुए का के की को से में पर और या कि यह ये वह वे इस उस इन उन इसके उसके इसकी उसकी इसका उसका ने
  भी ही तो न नहीं जो जिस एक कर करता करते करती किया करना गया गई गए रहा रही रहे जा लिए साथ तक बाद अपने अपनी अपना क्या कौन कब
  कहाँ कहां क्यों कैसे मैं हम तुम आप मेरा मेरी हमारे सकता सकते सकती द्वारा
"""
BY_LANGUAGE = {code: words for code, *words in map(str.split, re.split(r"\n(?! )", SMALL_WORDS.strip()))}
"""The stop words of each language."""
DENIALS = _words("""
not no never none neither nor without cannot nobody nothing nowhere isnt arent wasnt werent dont doesnt didnt cant
nicht kein keine keinen keinem keiner keines nie niemals ohne weder niemand nichts ne pas jamais sans aucun aucune rien
nunca jamás sin ningún ninguno ninguna nada nadie tampoco non senza nessun nessuno nessuna não sem nenhum nenhuma
ninguém niet geen nooit zonder niemand не нет ни без никогда никто ничего нельзя لا لم لن ليس ليست ليسوا غير بدون دون
नहीं न मत बिना नही
""")
"""Not among them: mai, né and personne, which deny in one language only beside another cue, and elsewhere are the
month of May, born and a person."""
LIMITING = _words("""
rarely seldom hardly scarcely barely unless except excluding selten kaum außer ausgenommen rarement guère sauf hormis
raramente apenas salvo excepto tranne eccetto quase exceto zelden nauwelijks behalve tenzij редко едва кроме
""")
"""Words that leave little of what a sentence says without them."""


def limits_in(text: str) -> set[str]:
    """Such words in a text."""
    return {word.form for word in words(text)} & LIMITING


DENYING = re.compile(
    r"(?<!\w)(?:forb[ia]d|prohibit|bann?(?:ed)?\b|exclud|fail|reject|refus|closed|impossib|illegal|false|wrong|free\b|non-"
    r"|at (?:most|least)|up to|maxim|minim|verboten|verbiet|untersag|geschlossen|unmöglich|kostenlos|gratis"
    r"|höchstens|mindestens|bis zu|interdi|fermé|gratuit|au (?:plus|moins)|proh[ií]b|cerrad|imposib|como m|vietat|chius"
    r"|fechad|gesloten|запре|закры|бесплат|невозмож|ممنوع|محظور|مغلق|مجان|वर्जित|निषिद्ध|बंद|मुफ़्त)|[禁閉关闭]|免[费費]|無料|금지"
)
"""Words that deny by what they mean, and bounds such as a denial of more sets."""


def are_opposed(one: str, other: str) -> bool:
    """Whether one of two texts alone has a word that denies by what it means, or by what it begins with.

    >>> are_opposed("It is forbidden.", "It is allowed."), are_opposed("It's unsafe.", "It's safe.")
    (True, True)
    """
    if set(DENYING.findall(one.lower())) != set(DENYING.findall(other.lower())):
        return True
    here, there = ({word.form for word in words(text) if len(word.form) > 3} for text in (one, other))
    return any(a.endswith(b) or b.endswith(a) for a in here - there for b in there - here)


SINGLE_SIGNS = "不没沒未他她它我你您们有也都就而被把"
STOP_WORDS = frozenset(fold(word) for words in (*BY_LANGUAGE.values(), DENIALS, SINGLE_SIGNS) for word in words) - {
    "usa"
}
COMMON_WORDS = """
able act add age ago allow along already always appear area around ask away back become begin believe best better big
bring build call case cause certain change clear close come common complete consider contain continue course create
current day develop different early effect end enough even event example exist fact feel few find first five follow form
four full general get give go good great group grow happen hard help high hold home hour idea important include increase
issue keep kind lack large last late later lead least leave less level life like likely line list little live local long
look lose lot low main make many mean member month move name near need never new next none number offer old open order
part particular pay people person place plan play point possible present problem process produce provide public put
question reach real reason receive recent refer release remain report require result right run say second see seem serve
set several show side similar simple single small sort specific stand start state still stop system take talk tell term
thing think three time today together top total toward true try turn two type understand use usual various view want way
week whole word work world year think love really sure guess favorite actually maybe probably pretty heard thats im ive
lol
"""
COMMON = _words(COMMON_WORDS)
"""English words met so often that finding one says little; stems of them are looked up too."""
SMALL_HIRAGANA = """
です ます した して する され れる れた いる いた ある あっ って から まで より など こと もの ため よう という とい
いう なる なっ では には とは での への でも にも のは のが のを また この その あの どの それ これ そし てい でい てき
まし せん でし しま しょ った うと とし たと てい しい たの るの は が を に で と も の へ や か な だ た て い う し
れ る り さ せ ら
"""
HIRAGANA = _words(SMALL_HIRAGANA)
"""Pairs of hiragana that endings and small words are made of."""

# Abbreviations whose point does not end a sentence, by what follows them; case folded and without their last point.
BEFORE_MORE = _words(
    # English
    "mr mrs ms mx dr prof rev fr hon st messrs mme mlle gen col maj capt cpt cmdr lt sgt cpl pvt adm brig gov sen rep"
    " pres supt det insp amb treas sec e.g i.e eg ie cf viz vs v ca approx dept assn bros mt ft esp resp incl excl al"
    " ed eds trans repr rt"
    # German
    " bzw vgl usf evtl ggf inkl exkl sog z.b d.h u.a.m i.d.r u.u z.t o.g s.o s.u m.e i.a i.s.d v.a z.zt bspw hrsg hr fr"
    " dipl ing mag jun sen frl geb gest verh led ehem zzgl abzgl lfd max min mind stellv bes insb allg wiss nördl südl"
    " östl westl jh chr u.ä stk tsd tel zb dh"
    # French, Spanish, Portuguese, Italian, Dutch
    " mm mgr ste sr sra srta dra d.ª dña ud uds vd vds p.ej ej av exc ee dott dott.ssa sig sigg sig.ra avv geom on dhr"
    " mevr fa bijv d.w.z o.a m.b.t t.a.v i.v.m drs"
    # Slavic, Nordic, Turkish, Greek, Russian
    " tzv tj např mgr inż np tzn ul tzw bl.a f.eks t.ex dvs s.k örn doç π.χ κ т.е т.д т.п г-н г-жа им проф акад ул"
    # Hindi and Marathi
    " डॉ श्री श्रीमती प्रो पं कु मो लि सं इं कं स्व ई.पू वि.सं"
    # Arabic
    " د أ م ص ج ط أ.د م.م ق.م هـ مج ت"
)
"""Something belonging to them comes next: a title's name, an example's words."""
BEFORE_NUMBER = _words(
    "no nos nr nos núm num nº n° fig figs abb tab p pp pg s f ff vol vols ch chap art arts abs sec secs eq eqs ex bd"
    " kap lib op cap ziff rn rz anm ver rev ed pt pts para paras app line ll col cols c ca circa jan feb mar apr jun"
    " jul aug sep sept oct okt nov dec dez mär janv févr avr juil déc ene abr ago dic tel ext stat bl str hs par § стр"
    " рис г с lt n क्र सं पृ"
)
"""They stand before a number."""
MAY_END = _words(
    "etc inc ltd co corp llc plc bros jr sr esq ph.d phd m.d md b.a m.a b.sc m.sc ba ma ave blvd rd hwy apt dist a.m"
    " p.m u.s u.k u.n e.u u.s.a u.s.s.r d.c b.c a.d b.c.e c.e r.i.p usw u.a u.v.m etc.pp jh n.chr v.chr n.c o.o d.o.o"
    " z.hd ss.aa ee.uu s.a s.l s.r.l s.p.a c.v n.v b.v ecc enz itd itp m.in атд тыс млн млрд руб др пр гг вв tue tues"
    " thu thur thurs jan feb apr aug sept oct okt nov dec dez dept univ est tbsp tsp oz lb lbs ft yd gal hr hrs min"
    " mins sq cu st blvd sq ct pkwy ста"
)
"""They may stand at the end of a sentence too: then what follows begins like one."""
SINGLE = _words("i क है था थे थी हो हूँ की दी ली दो गई गए गया गयी रहा रही ना जा आ ही भी सका")
"""Short words that are no initials."""
ERAS = _words("م هـ ه")
"""Short words that are no initials after a number: years of an era."""
STARTERS = _words(
    "a after all also although an and another any are as at because before both but by can could did do does during"
    " each either even every few finally first following for from given had has have he her here hers his how however i"
    " if in indeed instead is it its just last later many maybe meanwhile more moreover most much my neither never"
    " nevertheless next no nobody none nor not nothing now of on once one only or other others our over perhaps please"
    " several she should similarly since so some soon still such that the their then there therefore these they this"
    " those though through thus to today together tomorrow two under unfortunately unless until up was we well were"
    " what when where whereas whether which while who whose why will with without would yes yesterday yet you your"
    " let's it's he's she's that's there's i'm i've don't"
    # German
    " aber allerdings alle als also am an auch auf aus außerdem bei bis da dabei daher damit danach dann darauf das"
    " dass davon dazu dem den der des deshalb die dies diese dieser dieses doch dort durch ein eine einem einen einer"
    " eines er es für gegen heute hier ich ihr ihre im in ist jede jeder jetzt kein keine können laut man mein mit nach"
    " nachdem nicht noch nun nur ob oder ohne schon sein seine seit seitdem sie sind so sogar soll später trotzdem über"
    " um und unser unter viele vom von vor wann war waren warum was weil weiter wenn wer werden wie wir wird wo zu"
    " zudem zum zunächst zur"
    # French, Spanish, Italian, Portuguese, Dutch
    " après au aussi avec ce ces cet cette comme dans de depuis des du elle elles en est et il ils je la le les leur"
    " lors mais nous on ou où par pour puis quand que qui sa sans si son sur un une vous además ahora al antes aunque"
    " como con cuando del después el ella ellas ellos en entonces era es esta este esto fue ha hay la las lo los más"
    " mientras no nos nosotros para pero por porque se según si sin sobre su sus también tras un una y ya yo anche che"
    " ci come con così da dal della dopo dove e è gli i il io la le lo ma nel nella non per perché poi quando quella"
    " questo se si sono sua suo tra tutti un una ao apesar as até com da depois do ela ele em essa esse esta este eu"
    " foi isso mas na não nas no nos o os para pela pelo por quando se sem sua também um uma dat de deze die dit een er"
    " het hij ik in is maar met na naar niet nu om ook op over te toen van voor wat we wij ze zij"
    # Russian
    " а без был была было были в во все где да для до его ее если есть за и из или их как когда кто мы на не но о об он"
    " она они оно от по после потом при с сейчас так там то тогда ты у что это этот эта я"
)
"""Words that sentences begin with, and names hardly do."""
ORDINAL_NOUNS = _words(
    "januar februar märz april mai juni juli august september oktober november dezember jänner feber jan feb mär apr"
    " jun jul aug sep sept okt nov dez tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta"
    " elokuuta syyskuuta lokakuuta jahrhundert jahrhunderts jahrhunderte jahrtausend jh weltkrieg weltkriegs etage"
    " stock klasse platz auflage kapitel jahrestag geburtstag lebensjahr bundestag semester spieltag runde liga mal"
    " januars"
)
"""Months and other words that follow an ordinal's point, in languages that write them large."""
LABELS = _words("chapter section part article appendix step kapitel abschnitt teil artikel chapitre capítulo parte")
"""Words that with a number and a point make the head of a part."""
GERMAN = _words("der das und ist ein eine wurde im vom den dem des mit nicht auf für von wird zum zur")
"""Words that show that a text is German."""
SAID = _words(
    "said says asked asks cried shouted exclaimed yelled replied answered whispered screamed wondered inquired added"
    " thought muttered demanded began called laughed sagte sagt fragte fragt rief ruft antwortete schrie flüsterte"
    " meinte erklärte dit demanda cria répondit dijo preguntó gritó respondió disse chiese gridò कहा पूछा बोला बोली"
    " चिल्लाया चिल्लाई قال قالت سأل سألت صاح صرخ أجاب أجابت"
)
"""Verbs that follow a quotation and introduce its speaker."""
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
    return {code: frozenset(BY_LANGUAGE[code]) for code in LATIN}


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


# --- words that say the same, and words of which only one can hold ----------------------------------

FAMILIES = """
car automobile vehicle |big large huge vast enormous |small little tiny |fast quick rapid |begin start commence |end
finish conclude |buy purchase acquire |sell vend |help assist aid |show display demonstrate |build construct erect
|make create produce manufacture |movie film |doctor physician |kid child |old ancient |new novel |rich wealthy |poor
impoverished |smart clever intelligent |angry furious |happy glad |sad unhappy |job occupation profession |home house
residence dwelling |ill sick |sickness illness disease |wrong incorrect |right correct |near close |get obtain receive
|give provide supply |use utilize employ |need require |try attempt |happen occur |choose select pick |keep retain |let
allow permit |stop halt cease |say state |tell inform |ask inquire |answer reply respond |speak talk |look appear seem
|think believe |important significant crucial vital |difficult hard |easy simple |dangerous hazardous |famous renowned
well-known celebrated |country nation |city town |company firm business corporation |money funds cash |increase rise
grow |decrease drop fall decline reduce |die pass perish |kill murder slay |marry wed |born birth |author writer |song
track |singer vocalist |game match |winner champion |leader head chief |lawyer attorney |police cop |road street |sea
ocean |stone rock |forest woods |animal beast |people persons inhabitants residents population |main chief principal
primary |almost nearly |about approximately roughly |also additionally |often frequently |rarely seldom |usually
generally typically |include contain comprise |consist comprise |locate situate |release publish issue launch |found
establish create |error mistake fault |price cost |fee charge |pay salary wage |goods products merchandise |refund
reimbursement |photo picture image |critic reviewer |shut close |close shut |annual yearly |broadcast air |role part
|star feature |award prize |defeat beat |land ground |gather collect
"""
"""Words that say much the same."""
HEDGED = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|some|over|under|up to|at (?:least|most)|more than"
    r"|less than|fewer than|circa|ca\.|~|≈|etwa|rund|knapp|gut|fast|ungefähr|mindestens|höchstens|über|unter|bis zu"
    r"|environ|presque|plus de|moins de|casi|unos|unas|más de|menos de|約|约|大约|[<>≤≥]) ?$",
    re.IGNORECASE,
)
"""Words before a number that is approximate."""
CANCELLING = ("en", "de", "latin")
"""Where two denials make a yes; elsewhere one may be said by several words."""
PERSONS = "he she it they we you i him her er sie es wir ich il elle он она 他 她 它 彼 彼女 هو هي वह वे"
PRONOUNS = frozenset(PERSONS.split())
OPPOSITES = """
increase decrease |rise fall |rise drop |grow shrink |more less |more fewer |higher lower |allow forbid |allow
prohibit |permit prohibit |accept reject |accept refuse |true false |possible impossible |legal illegal |alive dead
|always never |all none |include exclude |maximum minimum |most least |success failure |succeed fail |approve reject
|male female |safe dangerous |agree disagree |appear disappear |steigen fallen |mehr weniger |zunehmen abnehmen
|erlaubt verboten |plus moins |más menos |permitido prohibido |open closed |offen geschlossen
"""
"""Words of which only one can hold of the same thing; a first has a last."""
STATES = frozenset(form for word in ("open", "closed", "offen", "geschlossen") for form in (word, stem(word)))
"""Opposites as states only: what opens at nine closes as well."""


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """For a stem those of words that say much the same."""
    found: dict[str, tuple[str, ...]] = {}
    for family in FAMILIES.split("|"):
        stems = [stem(word) for word in family.split()]
        for each in stems:
            found[each] = (*found.get(each, ()), *(other for other in stems if other != each))
    return found


@cache
def opposites() -> dict[str, set[str]]:
    """For a stem those of words that cannot hold of the same thing."""
    found: dict[str, set[str]] = {}
    for one, other in (pair.split() for pair in OPPOSITES.split("|")):
        for left, right in ((one, other), (other, one)):
            found.setdefault(stem(fold(left)), set()).add(stem(fold(right)))
    return found
