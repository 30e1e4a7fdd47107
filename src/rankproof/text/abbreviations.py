"""Abbreviations whose point does not end a sentence, by what follows them.

Words are case folded and without their last point.
"""

from __future__ import annotations


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
    " tzv tj např mgr inż np tzn ul tzw bl.a f.eks t.ex dvs s.k örn doç π.χ κ т.е т.д т.п г-н г-жа им"
    " проф акад ул"
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
    "a after all also although an and another any are as at because before both but by can could did do"
    " does during each either even every few finally first following for from given had has have he her"
    " here hers his how however i if in indeed instead is it its just last later many maybe meanwhile"
    " more moreover most much my neither never nevertheless next no nobody none nor not nothing now of"
    " on once one only or other others our over perhaps please several she should similarly since so"
    " some soon still such that the their then there therefore these they this those though through thus"
    " to today together tomorrow two under unfortunately unless until up was we well were what when"
    " where whereas whether which while who whose why will with without would yes yesterday yet you your"
    " let's it's he's she's that's there's i'm i've don't"
    # German
    " aber allerdings alle als also am an auch auf aus außerdem bei bis da dabei daher damit danach dann"
    " darauf das dass davon dazu dem den der des deshalb die dies diese dieser dieses doch dort durch"
    " ein eine einem einen einer eines er es für gegen heute hier ich ihr ihre im in ist jede jeder"
    " jetzt kein keine können laut man mein mit nach nachdem nicht noch nun nur ob oder ohne schon sein"
    " seine seit seitdem sie sind so sogar soll später trotzdem über um und unser unter viele vom von"
    " vor wann war waren warum was weil weiter wenn wer werden wie wir wird wo zu zudem zum zunächst zur"
    # French, Spanish, Italian, Portuguese, Dutch
    " après au aussi avec ce ces cet cette comme dans de depuis des du elle elles en est et il ils je la"
    " le les leur lors mais nous on ou où par pour puis quand que qui sa sans si son sur un une vous"
    " además ahora al antes aunque como con cuando del después el ella ellas ellos en entonces era es"
    " esta este esto fue ha hay la las lo los más mientras no nos nosotros para pero por porque se según"
    " si sin sobre su sus también tras un una y ya yo anche che ci come con così da dal della dopo dove"
    " e è gli i il io la le lo ma nel nella non per perché poi quando quella questo se si sono sua suo"
    " tra tutti un una ao apesar as até com da depois do ela ele em essa esse esta este eu foi isso mas"
    " na não nas no nos o os para pela pelo por quando se sem sua também um uma dat de deze die dit een"
    " er het hij ik in is maar met na naar niet nu om ook op over te toen van voor wat we wij ze zij"
    # Russian
    " а без был была было были в во все где да для до его ее если есть за и из или их как когда кто мы"
    " на не но о об он она они оно от по после потом при с сейчас так там то тогда ты у что это этот эта"
    " я"
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

LABELS = _words(
    "chapter section part article appendix step kapitel abschnitt teil artikel chapitre capítulo parte"
)
"""Words that with a number and a point make the head of a part."""

GERMAN = _words("der das und ist ein eine wurde im vom den dem des mit nicht auf für von wird zum zur")
"""Words that show a text to be German."""

SAID = _words(
    "said says asked asks cried shouted exclaimed yelled replied answered whispered screamed wondered"
    " inquired added thought muttered demanded began called laughed sagte sagt fragte fragt rief ruft"
    " antwortete schrie flüsterte meinte erklärte dit demanda cria répondit dijo preguntó gritó"
    " respondió disse chiese gridò"
    " कहा पूछा बोला बोली चिल्लाया चिल्लाई قال قالت سأل سألت صاح صرخ أجاب أجابت"
)
"""Words by which a quotation goes on into who said it."""
