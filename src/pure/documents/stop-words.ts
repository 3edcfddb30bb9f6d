/** Moves whenever a word is added or taken away: the same text may then have other top words. */
export const STOP_WORDS_VERSION = 'en-1'

/**
 * English function words, lower-case, with the straight apostrophe: articles, pronouns, prepositions, conjunctions, auxiliaries with
 * their contractions, adverbs that only point or grade, and a few abbreviations of those. Nouns, full verbs and numbers are not here, so that a
 * word that carries the subject of a text is never lost; it errs towards ranking a function word of old or formal style.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the',
    'i me my mine myself we us our ours ourselves you your yours yourself yourselves',
    'he him his himself she her hers herself it its itself they them their theirs themselves',
    'this that these those who whom whose which what whoever whatever whichever there here',
    'someone somebody something anyone anybody anything everyone everybody everything nobody nothing none',
    'about above across after against along among around as at before behind below beneath beside besides between beyond by despite',
    'down during except for from in inside into near of off on onto out outside over past per since through throughout till to toward',
    'towards under until up upon via with within without',
    'and but or nor so yet if unless because although though while whereas whether than then when whenever where wherever why how',
    'am is are was were be been being have has had having do does did doing',
    'can could may might must shall should will would ought cannot',
    'not no never any some each every either neither both all few many much more most other others another such same own',
    'e.g i.e etc vs a.m p.m',
    'again also already always just only even ever once often still too very quite rather however therefore thus hence else',
    "aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't needn't shan't shouldn't wasn't weren't",
    "won't wouldn't i'm you're we're they're he's she's it's that's there's here's what's who's where's how's let's",
    "i've you've we've they've could've should've would've i'll you'll he'll she'll it'll we'll they'll that'll",
    "i'd you'd he'd she'd we'd they'd",
  ].flatMap((line) => line.split(' ')),
)
