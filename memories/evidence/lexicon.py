"""The closed word classes that the rules read, in the languages that stores are mostly written in.

Only words that say how a sentence is meant, never what it is about: articles, prepositions, pronouns,
auxiliaries (`function`); verbs and nouns that any memory of any project uses (`light`: *use*, *need*,
*project*, *user*); words that stand for a value without naming it (`vague`: *different*, *preferred*);
words that say that something took the place of something (`replacing`); `negation`; pairs of
`opposites`. Nothing here names a subject. A text in no listed language loses these signals and keeps
the others: shared rare words, and the frame with one value changed.

Words are folded (case, diacritics); `a ... b` is a word and another within a few words of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from memories.evidence.languages import Language, language, union_of

LANGUAGES: dict[str, Language] = {
    "en": language(
        function="""
            a an the this that these those and or but nor so yet if then else than as of to in on at by for
            from with into onto over under about after before between during through until while within per
            via upon without i we you he she it they me us him her them my our your his its their who whom
            which what when where why how all any both each every few more most other some such only own same
            too very just also still already be am is are was were been being do does did done doing have has
            had having will would shall should can could may might must ought let there here not no never none
            always
        """,
        light="""
            use uses used using need needs needed require requires required want wants prefer prefers
            preferred follow follows followed make makes made keep keeps kept store stores stored run runs ran
            running get gets set sets add adds create creates apply applies provide provides allow allows
            happen happens become becomes contain contains include includes give gives take takes have put go
            goes work works user users project projects team teams people everyone someone thing things way
            ways
        """,
        vague="""
            different another other others preferred appropriate suitable proper certain usual better best new
            newer alternative something somehow somewhere various similar
        """,
        replacing="""
            now, instead, no longer, not any more, not ... any more, not anymore, not ... anymore, any longer,
            rather than, replaces, replaced, replacing, replace, supersedes, superseded, switch, switches,
            switched, switching, migrate, migrated, migrates, migrating, moved to, moves to, move to, moved
            from, changed to, changed from, changes to, change to, from now on, as of, deprecated, obsolete,
            retired, dropped, stopped, stops, used to, henceforth, was renamed, renamed
        """,
        negation="""
            not no never without cannot cant dont doesnt didnt isnt arent wasnt werent wont shouldnt mustnt
            neednt neither avoid avoids forbid forbids forbidden prohibit prohibited disallow disallowed stop
            refuse
        """,
        opposites="""
            always/never enable/disable enabled/disabled enables/disables allow/forbid allowed/forbidden
            allow/deny allowed/denied allow/block allowed/blocked accept/reject accepted/rejected
            include/exclude included/excluded required/optional mandatory/optional manual/automatic
            manually/automatically public/private on/off true/false add/remove start/stop with/without
            before/after open/closed all/none everyone/nobody synchronous/asynchronous sync/async
            increase/decrease more/less minimum/maximum at-least/at-most run/skip keep/delete keep/remove
            light/dark
        """,
        negations_undo=True,
    ),
    "pt": language(
        function="""
            o a os as um uma uns umas de do da dos das em no na nos nas num numa por pelo pela pelos pelas
            para pra com sem sob sobre entre ate apos antes durante e ou mas nem se que quem qual quais quando
            onde como porque pois este esta estes estas esse essa esses essas isso isto aquele aquela ao aos
            eu nos voce voces ele ela eles elas meu minha seu sua seus suas nosso nossa lhe me te ser e sao
            foi era ser estar esta estao ter tem tinha ha haver pode podem deve devem deveria vai vao todo
            toda todos todas cada mais menos muito muita mesmo mesma ja ainda tambem so apenas sempre nunca
            nao
        """,
        light="""
            usa usam usar utiliza utilizam utilizar precisa precisam precisar requer requerem exige exigem
            exigir prefere preferem preferir segue seguem seguir faz fazem fazer manter mantem roda rodar
            executar executa guarda guardar fica ficam usuario usuarios projeto projetos equipe time pessoa
            pessoas coisa acontece acontecem
        """,
        vague="""
            diferente diferentes outro outra outros outras preferido preferida adequado adequada apropriado
            melhor novo nova certo certa padrao habitual alternativo alternativa algum alguma
        """,
        replacing="""
            agora, em vez de, ao inves de, em lugar de, no lugar de, nao ... mais, deixou de, deixa de,
            deixaram de, passa a, passam a, passou a, passaram a, substitui, substituem, substituido,
            substituida, substituiu, mudou para, mudar para, muda para, migrou, migrar, migrado, a partir de,
            daqui em diante, obsoleto
        """,
        negation="nao nunca jamais sem nem nenhum nenhuma proibido proibida evitar evite",
        opposites="""
            sempre/nunca habilitar/desabilitar habilitado/desabilitado ativar/desativar ativado/desativado
            permitir/proibir permitido/proibido incluir/excluir obrigatorio/opcional manual/automatico com/sem
            antes/depois antes/apos publico/privado claro/escuro
        """,
    ),
    "es": language(
        function="""
            el la los las un una unos unas de del al en por para con sin sobre entre hasta desde tras antes
            despues durante y e o u pero ni si que quien cual cuando donde como porque este esta estos estas
            ese esa esos esas eso esto aquel yo nosotros tu usted ustedes ellos ellas mi su sus nuestro
            nuestra se me te le les lo ser es son fue era estar esta estan haber ha han hay tener tiene tienen
            puede pueden debe deben deberia todo toda todos todas cada mas menos muy mismo misma ya aun
            tambien solo siempre nunca no
        """,
        light="""
            usa usan usar utiliza utilizan utilizar necesita necesitan requiere requieren exige exigen
            prefiere prefieren preferir sigue siguen seguir hace hacen hacer mantener mantiene ejecuta
            ejecutar guarda guardan guardar usuario usuarios proyecto proyectos equipo persona personas cosa
        """,
        vague="""
            diferente diferentes otro otra otros otras preferido preferida adecuado adecuada apropiado mejor
            nuevo nueva cierto cierta habitual alternativo alternativa algun alguna
        """,
        replacing="""
            ahora, en vez de, en lugar de, ya no, no ... mas, deja de, dejo de, dejan de, pasa a, pasan a,
            paso a, reemplaza, reemplazan, reemplazado, reemplazada, sustituye, sustituyen, sustituido,
            sustituida, cambio a, cambia a, migro, migrar, migrado, a partir de, de ahora en adelante,
            obsoleto
        """,
        negation="no nunca jamas sin ni ningun ninguna prohibido prohibida evitar",
        opposites="""
            siempre/nunca habilitar/deshabilitar habilitado/deshabilitado activar/desactivar
            activado/desactivado permitir/prohibir permitido/prohibido incluir/excluir obligatorio/opcional
            manual/automatico con/sin antes/despues publico/privado claro/oscuro
        """,
    ),
    "fr": language(
        function="""
            le la les l un une des du de d au aux en dans par pour avec sans sur sous entre jusque depuis
            apres avant pendant chez et ou mais ni si que qui quoi dont quand comment pourquoi ce cet cette
            ces cela ca je nous tu vous il elle ils elles on mon ma mes ton ta tes son sa ses notre nos votre
            vos leur leurs se me te lui y etre est sont etait ete avoir a ont avait peut peuvent doit doivent
            devrait faut tout toute tous toutes chaque plus moins tres meme deja encore aussi seulement
            toujours jamais ne pas
        """,
        light="""
            utilise utilisent utiliser use besoin necessite necessitent exige exigent exiger prefere preferent
            preferer suit suivent suivre fait font faire garde garder execute executer utilisateur
            utilisateurs utilisatrice projet projets equipe personne personnes chose
        """,
        vague="""
            different differente differents differentes autre autres prefere adequat approprie meilleur
            meilleure nouveau nouvelle certain certaine habituel alternatif quelque
        """,
        replacing="""
            maintenant, desormais, dorenavant, au lieu de, au lieu, a la place, plutot que, ne ... plus, n'est
            plus, n'utilise plus, cesse de, remplace, remplacent, remplacee, remplaces, passe a, passent a,
            migre, migrer, a partir de, obsolete
        """,
        negation="pas jamais sans ni aucun aucune interdit interdite eviter evitez",
        opposites="""
            toujours/jamais activer/desactiver active/desactive autoriser/interdire autorise/interdit
            inclure/exclure obligatoire/facultatif obligatoire/optionnel manuel/automatique avec/sans
            avant/apres public/prive clair/sombre
        """,
    ),
    "de": language(
        function="""
            der die das den dem des ein eine einen einem einer eines und oder aber sondern wenn als ob dass
            weil wie in im an am auf aus bei beim mit ohne nach vor von vom zu zum zur fur uber unter zwischen
            durch bis seit wahrend gegen um ich wir du ihr er sie es mich uns sich mein unser dein euer sein
            ihre ihren ihrem ist sind war waren wird werden wurde worden hat haben hatte kann konnen muss
            mussen soll sollen sollte darf durfen will wollen mag alle alles jede jeder jedes jeden mehr
            weniger sehr auch nur schon noch immer nie nicht kein keine keinen dies diese dieser dieses diesen
        """,
        light="""
            nutzt nutzen verwendet verwenden benutzt benutzen braucht brauchen benotigt benotigen erfordert
            erfordern verlangt verlangen bevorzugt bevorzugen folgt folgen macht machen halt halten speichert
            speichern lauft laufen benutzer nutzer projekt projekte team person personen sache
        """,
        vague="""
            anders andere anderer anderes anderen bevorzugte bevorzugten passend passende geeignet geeignete
            bessere besser neu neue neuen neues gewisse ubliche ublichen alternative irgendein
        """,
        replacing="""
            jetzt, nun, nunmehr, stattdessen, statt, anstatt, anstelle, nicht mehr, kein ... mehr, keine ...
            mehr, keinen ... mehr, nicht ... mehr, nicht langer, ersetzt, ersetzen, abgelost, ab sofort,
            kunftig, umgestellt, umgestiegen, gewechselt, wechselt, wechseln, migriert, veraltet, abgeschafft
        """,
        negation="nicht kein keine keinen keinem keiner nie niemals ohne weder verboten vermeiden",
        opposites="""
            immer/nie immer/niemals aktivieren/deaktivieren aktiviert/deaktiviert erlauben/verbieten
            erlaubt/verboten einschliessen/ausschliessen pflicht/optional manuell/automatisch mit/ohne
            vor/nach offentlich/privat hell/dunkel helles/dunkles
        """,
    ),
    "it": language(
        function="""
            il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal
            dalla in nel nella nei nelle con senza su sul sulla per tra fra prima dopo durante fino e ed o ma
            ne se che chi cui quale quando dove come perche questo questa questi queste quello quella io noi
            tu voi lui lei loro mio suo sua suoi nostro nostra si mi ti ci vi essere e sono era stato avere ha
            hanno aveva puo possono deve devono dovrebbe tutto tutta tutti tutte ogni piu meno molto stesso
            gia ancora anche solo sempre mai non
        """,
        light="""
            usa usano usare utilizza utilizzano utilizzare richiede richiedono preferisce preferiscono
            preferire segue seguono seguire fa fanno fare mantiene mantenere esegue eseguire utente utenti
            progetto progetti squadra persona persone cosa
        """,
        vague="""
            diverso diversa diversi diverse altro altra altri altre preferito preferita adatto adatta
            appropriato migliore nuovo nuova certo certa solito alternativo qualche
        """,
        replacing="""
            ora, adesso, invece di, invece, al posto di, non ... piu, smette di, sostituisce, sostituiscono,
            sostituito, sostituita, passa a, passano a, migrato, migrare, d'ora in poi, a partire da, obsoleto
        """,
        negation="non mai senza nessun nessuno nessuna vietato vietata evitare",
        opposites="""
            sempre/mai abilitare/disabilitare abilitato/disabilitato attivare/disattivare permettere/vietare
            permesso/vietato includere/escludere obbligatorio/facoltativo manuale/automatico con/senza
            prima/dopo pubblico/privato chiaro/scuro
        """,
    ),
    "nl": language(
        function="""
            de het een en of maar als dan dat die dit deze wat wie waar wanneer hoe in op aan bij met zonder
            naar van voor na tot uit over onder tussen door tijdens om ik wij we jij je u hij zij ze hun ons
            onze mijn zijn haar is zijn was waren wordt worden werd heeft hebben had kan kunnen moet moeten
            mag mogen zal zullen alle alles elke elk ieder iedere meer minder zeer ook alleen al nog altijd
            nooit niet geen
        """,
        light="""
            gebruikt gebruiken nodig vereist vereisen verkiest volgt volgen maakt maken houdt houden bewaart
            bewaren draait gebruiker gebruikers project projecten team persoon ding
        """,
        vague="""
            andere ander anders voorkeur geschikt geschikte beter betere nieuw nieuwe zekere gebruikelijke
        """,
        replacing="""
            nu, voortaan, in plaats van, niet meer, niet langer, geen ... meer, niet ... meer, vervangt,
            vervangen, overgestapt, gewijzigd in, gemigreerd, verouderd
        """,
        negation="niet geen nooit zonder noch verboden vermijd",
        opposites="""
            altijd/nooit inschakelen/uitschakelen ingeschakeld/uitgeschakeld toegestaan/verboden
            verplicht/optioneel handmatig/automatisch met/zonder voor/na openbaar/prive licht/donker
        """,
    ),
    "pl": language(
        function="""
            i oraz a ale lub albo czy ze ze aby zeby jesli gdy jak niz w we na z ze do od dla po przed przez
            przy bez o u nad pod miedzy podczas ja my ty wy on ona ono oni mnie nas was sie jego jej ich swoj
            swoje moj nasz nasze ten ta to te tego tej tych tym ktory ktora ktore co kto gdzie kiedy dlaczego
            jest sa byl byla bylo byc bedzie moze moga musi musza powinien powinna powinno powinny nalezy
            kazdy kazda kazde wszystkie wszystko bardziej mniej bardzo tylko takze tez juz jeszcze zawsze
            nigdy nie
        """,
        light="""
            uzywa uzywaja uzywac korzysta korzystaja wymaga wymagaja wymagac potrzebuje preferuje preferuja
            woli robi robic trzyma przechowuje uzytkownik uzytkownicy uzytkownika projekt projektu projekty
            zespol rzecz
        """,
        vague="""
            inny inna inne innego innej preferowany preferowana odpowiedni odpowiednia lepszy lepsza nowy nowa
            nowe
        """,
        replacing="""
            teraz, zamiast, juz nie, nie ... juz, od teraz, obecnie, zastepuje, zastapiono, zastapiony,
            zastapiona, przeniesiono, zmieniono na, przestal, przestaje, przestarzaly, przestarzale
        """,
        negation="nie nigdy bez ani zaden zadna zabronione unikaj",
        opposites="""
            zawsze/nigdy wlacz/wylacz wlaczone/wylaczone wlaczony/wylaczony dozwolone/zabronione
            obowiazkowe/opcjonalne reczne/automatyczne recznie/automatycznie z/bez przed/po publiczne/prywatne
            jasny/ciemny
        """,
    ),
    "ru": language(
        function="""
            и а но или либо что чтобы если когда как чем в во на с со к ко до от из для по перед через при без
            о об над под между после у за я мы ты вы он она оно они меня нас вас их его ее свой свои наш этот
            эта это эти тот та те который которая которые кто где есть быть был была было были будет может
            могут должен должна должно должны нужно надо следует каждый каждая каждое все всё более менее
            очень только также тоже уже еще всегда никогда не нет
        """,
        light="""
            использует используют использовать требует требуют требуется предпочитает предпочитают делает
            делать хранит хранить нужен пользователь пользователи пользователя проект проекта проекты команда
        """,
        vague="""
            другой другая другое другие иной предпочтительный подходящий лучший новый новая новое новые
            обычный
        """,
        replacing="""
            теперь, вместо, больше не, уже не, отныне, сейчас, заменяет, заменен, заменено, заменена, перешли,
            переходим, перенесено, изменено на, устарело, устарел, перестал
        """,
        negation="не нет никогда без ни нельзя запрещено запрещен избегать",
        opposites="""
            всегда/никогда включить/выключить включено/выключено включен/отключен разрешено/запрещено
            обязательно/необязательно вручную/автоматически ручной/автоматический с/без до/после
            светлый/темный светлую/темную
        """,
    ),
}

# Written without spaces: looked for inside the text, as it is after NFKC.
CJK_REPLACING = (
    *(
        "今後",
        "今では",
        "現在は",
        "代わりに",
        "かわりに",
        "ではなく",
        "に変更",
        "へ変更",
        "切り替え",
        "廃止",
        "移行",
    ),
    *("现在", "改为", "改用", "不再", "代替", "取代", "而不是", "现改", "從現在", "改為"),
    *("이제", "대신", "더 이상", "변경"),
)
CJK_NEGATION = (
    "ない",
    "ません",
    "ず",
    "禁止",
    "なし",
    "不",
    "没有",
    "勿",
    "别",
    "未",
    "않",
    "안 ",
    "못",
    "금지",
)
CJK_VAGUE = ("別の", "違う", "異なる", "適切", "好みの", "不同的", "其他", "合适", "다른", "적절")
# What stands before it is what the sentence is about.
CJK_TOPIC = frozenset("はが")

# Prefixes that turn a word into its opposite, longest first: `sign`, `unsign`.
OPPOSITE_PREFIXES = ("anti", "ent", "des", "dis", "non", "nie", "не", "un", "in", "im", "de", "ir", "il")


def language_of(words: Iterable[str]) -> Language:
    """The language of folded words: the one that most of their function words are of; English without any.

    Where several have as many (Portuguese and Spanish share a lot) it is their union.
    """
    words = list(words)
    counted = {name: sum(map(known.function.__contains__, words)) for name, known in LANGUAGES.items()}
    most = max(counted.values())
    return (
        _union(tuple(name for name, count in counted.items() if count == most)) if most else _union(("en",))
    )


@lru_cache(maxsize=256)
def _union(names: tuple[str, ...]) -> Language:
    return union_of([LANGUAGES[name] for name in names])
