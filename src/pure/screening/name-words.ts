/**
 * Words of a name in Latin letters: the first half of the published algorithm of docs/name-screening.md. Each table here is part of that algorithm; a
 * change of a table changes scores and needs a new version of it.
 */

const table = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .trim()
      .split(/\s+/)
      .map((pair) => [pair[0] ?? '', pair.slice(2)] as const),
  )

/** Letters that NFKD does not take apart, and letters of other alphabets after NFKD: one letter, `=`, its Latin form (which may be empty). */
const LATIN = table('ß=ss æ=ae œ=oe ø=o ł=l đ=d ð=d þ=th ı=i ŋ=ng ħ=h ə=a ƒ=f ſ=s')
const CYRILLIC = table(
  'а=a б=b в=v г=g ґ=g д=d е=e є=e ж=zh з=z и=i і=i й=y к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh ц=ts ч=ch ш=sh щ=shch ъ= ы=y ь= э=e ' +
    'ю=yu я=ya ђ=dj ѕ=dz ј=j љ=lj њ=nj ћ=c џ=dz ә=a ғ=g қ=k ң=n ө=o ұ=u ү=u һ=h ҳ=h ҷ=j ӣ=i ӯ=u',
)
const GREEK = table('α=a β=v γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=y φ=f χ=ch ψ=ps ω=o')
const ARABIC = table(
  'ا=a ٱ=a ء= ب=b ت=t ث=th ج=j ح=h خ=kh د=d ذ=dh ر=r ز=z س=s ش=sh ص=s ض=d ط=t ظ=z ع=a غ=gh ف=f ق=q ك=k ل=l م=m ن=n ه=h ة=a و=w ي=y ى=a پ=p چ=ch ژ=zh ' +
    'گ=g ک=k ی=y ہ=h ھ=h ے=y ٹ=t ڈ=d ڑ=r ں=n ـ=',
)
const HEBREW = table('א=a ב=b ג=g ד=d ה=h ו=w ז=z ח=h ט=t י=y כ=k ך=k ל=l מ=m ם=m נ=n ן=n ס=s ע=a פ=p ף=p צ=ts ץ=ts ק=k ר=r ש=sh ת=t')
const LETTERS = new Map([...LATIN, ...CYRILLIC, ...GREEK, ...ARABIC, ...HEBREW])
/** Of two Greek letters, before single letters. */
const GREEK_PAIRS: readonly (readonly [RegExp, string])[] = [
  [/ου/g, 'ou'],
  [/μπ/g, 'b'],
  [/ντ/g, 'd'],
  [/γκ/g, 'g'],
  [/αυ/g, 'av'],
  [/ευ/g, 'ev'],
]

const set = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Titles, legal forms of companies, articles and links between names: they decide nothing, unless a name has no other words. */
const FILLERS = set(`
  mr mrs ms miss mme dr prof professor sir madam eng hon rev capt col maj lt gen brig adm sheikh shaykh shaikh sheik cheikh haji hajji hajj hadji hadj
  mullah mulla maulavi mawlawi molvi ustad ustadh sayyid
  ltd limited llc inc incorporated corp corporation co company gmbh ag kg sa sas sarl srl spa plc bv nv oy oyj ab as asa aps kft doo dooel sro ood eood ad
  ooo oao zao ao pao jsc ojsc cjsc pjsc pte pty fze fzco fzc dmcc ltda eirl lda cia sal sdn bhd tbk pt cv rl eurl sicav lp llp ulc mbh kk
  obshchestvo ogranichennoi ogranichennoy otvetstvennostyu aktsionernoe aktsionernoye otkrytoe otkrytoye zakrytoe zakrytoye publichnoe publichnoye s
  the of for and in et und y de del della di da do dos das du des la le les los las el al ul ur il en at to on il van von der den ter zu a e o
  bin ibn ben bint binti ould wa
`)

/** Words that very many listed names contain: their weight is halved. Written by hand from the lists of OFAC and the UN. */
const COMMON = set(`
  muhammad mohammad mohammed mohamed mohamad muhammed mohammd ahmad ahmed ali abu abou abd ibrahim hassan hasan abdullah abdallah khan omar umar mustafa hussein husayn
  hussain hossein hosein saleh salih hamid reza aziz rahman mahmoud mahmud din khalid khaled yusuf yousef said saeed sayed ismail karim amir amin abbas jamal salim salem
  jose maria luis juan carlos antonio jesus jorge manuel miguel gonzalez rodriguez lopez garcia hernandez perez martinez sanchez
  vladimir alexander aleksandr sergey sergei ivan igor andrey kim li wang chen lee john david michael james
  bank group trading international shipping foundation development organization organisation iran islamic industries industry investment investments state general
  holding holdings petrochemical exchange management open trade oil committee charitable korea china technology technologies national center centre industrial liability
  society engineering services service association commercial security construction army money steel energy institute export import ship research movement enterprise
  enterprises welfare trust russian public force forces revolutionary fund grupo republic marine establishment syrian electronics electronic bureau private concern global
  production complex central insurance capital defense defence africa gas foreign financial aviation closed credit manufacturing north south east west new people peoples
  party front brigade brigades association air sea ocean stock joint
`)

export interface NameWord {
  /** In lower-case Latin letters and digits; other scripts as they are. */
  text: string
  kind: 'word' | 'initial' | 'number' | 'filler'
  /** Letters of other scripts without a transliteration here, such as Chinese: compared for equality only. */
  foreign: boolean
  /** From a script that does not write short vowels (Arabic, Hebrew). */
  vowelless: boolean
  /** One of the words that very many names contain. */
  common: boolean
  /** Weight in the score; 0 for a filler. */
  weight: number
}

const LETTERS_WEIGHT_MAX = 8
const WORD_WEIGHT_MIN = 2
const INITIAL_WEIGHT = 2
const NUMBER_WEIGHT = 3

/** Words of one name that are compared. */
const NAME_WORDS_MAX = 16

/** Words of a name, in their order, at most `NAME_WORDS_MAX`; empty if it has no letters and digits. */
export function readName(name: string): NameWord[] {
  const plain = name
    .normalize('NFKD')
    .replace(/['’‘ʼʻʿʾ`´′]/g, '')
    .replace(/[\p{M}\p{Cf}ـ]/gu, '')
    .toLowerCase()
  const words = plain
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .flatMap(latinWords)
  const forms = legalForms(words.map(({ text }) => text))
  const read = joinedInitials(words.slice(0, NAME_WORDS_MAX).map((word, index) => classify(word, forms.has(index))))
  // A name of titles and legal forms alone is compared by them.
  return read.some(({ kind }) => kind !== 'filler')
    ? read
    : read.map((word) => ({ ...word, kind: 'word', weight: wordWeight(word.text, false) }))
}

/** The single letters of a name that has nothing else are one word: I.B.M. */
function joinedInitials(words: NameWord[]): NameWord[] {
  if (words.some(({ kind }) => kind === 'word' || kind === 'number')) return words
  const letters = words.filter(({ text }) => text.length === 1)
  if (letters.length < 2) return words
  const word = classify({ text: letters.map(({ text }) => text).join(''), vowelless: false }, false)
  return [{ ...word, kind: 'word', weight: wordWeight(word.text, false) }, ...words.filter(({ text }) => text.length > 1)]
}

interface LatinWord {
  text: string
  vowelless: boolean
}

const VOWELLESS = /[\p{Script=Arabic}\p{Script=Hebrew}]/u

/** One word of the source, or two where an article or "servant of" is written together with the next word. */
function latinWords(word: string): LatinWord[] {
  const vowelless = VOWELLESS.test(word)
  if (vowelless && word.length >= 5 && word.startsWith('ال')) return [{ text: 'al', vowelless }, ...latinWords(word.slice(2))]
  let text = word
  if (/[α-ω]/.test(text)) for (const [pair, latin] of GREEK_PAIRS) text = text.replace(pair, latin)
  if (!/^[a-z0-9]*$/.test(text)) text = Array.from(text, (letter) => LETTERS.get(letter) ?? letter).join('')
  const rest = servantOf(text)
  if (rest !== null) return [{ text: 'abd', vowelless }, ...(rest === '' ? [] : [{ text: rest, vowelless }])]
  return text === '' ? [] : [{ text, vowelless }]
}

/** Rest of Abdul, Abdelaziz or Abdurrahman after "servant of the", which may be empty; null for other words. Abdullah is one word. */
function servantOf(word: string): string | null {
  const rest = /^abd[aeou]([a-z]{0,40})$/.exec(word)?.[1]
  if (rest === undefined || rest === '') return null
  if (rest === 'l') return ''
  // The article takes the sound of some letters.
  if (rest.length > 4 && rest[0] === rest[1] && 'rstzdn'.includes(rest[0] ?? '')) return rest.slice(1)
  return rest.startsWith('l') && rest.length > 3 && !/^l(?:lah|la$|ah)/.test(rest) ? rest.slice(1) : null
}

/** Positions of single letters that together are a legal form: S.A., L.L.C., S.p.A. */
function legalForms(words: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>()
  for (let start = 0; start < words.length; start++) {
    for (let end = Math.min(words.length, start + 4); end >= start + 2; end--) {
      const run = words.slice(start, end)
      if (!run.every((word) => word.length === 1) || !FILLERS.has(run.join(''))) continue
      for (let index = start; index < end; index++) found.add(index)
      start = end - 1
      break
    }
  }
  return found
}

function wordWeight(text: string, common: boolean): number {
  const letters = Math.min(LETTERS_WEIGHT_MAX, Math.max(WORD_WEIGHT_MIN, text.length))
  return common ? Math.ceil(letters / 2) : letters
}

function classify({ text, vowelless }: LatinWord, is_form: boolean): NameWord {
  const foreign = /[^a-z0-9]/.test(text)
  const facts = { text, foreign, vowelless, common: false }
  if (is_form || (FILLERS.has(text) && (text.length > 1 || text === 'y'))) return { ...facts, kind: 'filler', weight: 0 }
  if (/^\d+$/.test(text)) return { ...facts, kind: 'number', weight: NUMBER_WEIGHT }
  if (text.length === 1 && !foreign) return { ...facts, kind: 'initial', weight: INITIAL_WEIGHT }
  const common = COMMON.has(text)
  return { ...facts, kind: 'word', common, weight: wordWeight(text, common) }
}
