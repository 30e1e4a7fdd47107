"""English words whose forms no rule of endings brings together."""

from __future__ import annotations

FAMILIES = """
arise arose arisen |awake awoke awoken |bear bore borne |beat beaten |become became |begin began begun
|bend bent |bind bound |bite bit bitten |bleed bled |blow blew blown |break broke broken |breed bred
|bring brought |build built |burn burnt |buy bought |catch caught |choose chose chosen |cling clung |come
came |creep crept |deal dealt |die died dies dying |dig dug |draw drew drawn |dream dreamt |drink drank
drunk |drive drove driven |eat ate eaten |fall fell fallen |feed fed |feel felt |fight fought |find found
|flee fled |fly flew flown flies |forbid forbade forbidden |forget forgot forgotten |forgive forgave
forgiven |freeze froze frozen |get got gotten |give gave given |go went gone goes |grow grew grown |hang
hung |hear heard |hide hid hidden |hold held |keep kept |know knew known |lay laid lain |lead led |learn
learnt |leave left |lend lent |lie lying lies |light lit |lose lost loss |make made |mean meant |meet met
|pay paid |ride rode ridden |ring rang rung |rise rose risen |run ran |say said |see saw seen |seek
sought |sell sold sale |send sent |shake shook shaken |shine shone |shoot shot |show shown |shrink shrank
shrunk |sing sang sung |sink sank sunk |sit sat |sleep slept |slide slid |speak spoke spoken |spend spent
|spin spun |split splits |spread spreads |spring sprang sprung |stand stood |steal stole stolen |stick
stuck |sting stung |strike struck stricken |strive strove |swear swore sworn |sweep swept |swim swam swum
|swing swung |take took taken |teach taught |tear tore torn |tell told |think thought |throw threw thrown
|understand understood |use used using uses |wake woke woken |wear wore worn |weave wove woven |weep wept
|win won |wind wound |write wrote written writer |man men |woman women |child children |foot feet |tooth
teeth |mouse mice |goose geese |person people persons |life lives |wife wives |leaf leaves |half halves
|wolf wolves |knife knives |criterion criteria |phenomenon phenomena |analysis analyses |crisis crises
|basis bases |thesis theses |datum data |medium media |index indices |matrix matrices |good better best
|bad worse worst |far further furthest |old older elder |high higher highest height |long longer length
|large larger largest |big bigger biggest |small smaller smallest |early earlier earliest |late later
latest |great greater greatest |strong strength |wide width |deep depth |young younger |birth born |dead
death deaths |marry married marriage |decide decision |success succeed |british britain |french france
|spanish spain |german germany |english england |american america |chinese china |japanese japan |indian
india |italian italy |russian russia |european europe |african africa |australian australia |canadian
canada |irish ireland |scottish scotland |greek greece |dutch netherlands |swedish sweden |norwegian
norway |danish denmark |polish poland |turkish turkey |egyptian egypt |brazilian brazil |mexican mexico
|portuguese portugal |swiss switzerland |korean korea |welsh wales
"""
IRREGULAR = {form: family.split()[0] for family in FAMILIES.split("|") for form in family.split()}
"""The first form of each family by every form."""
