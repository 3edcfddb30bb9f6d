import { foldName } from './place-names.ts'

/** Words that make the name next to them that of a street, a square or a building: "Rua de Cuba", "Teheran-ro", "Havanna u.", "Hotel Yalta". */

const fold = (text: string) => text.split(' ').map(foldName)

/** Words before the name, by language. */
const BEFORE: Readonly<Record<string, string>> = {
  ar: 'شارع طريق ميدان',
  bg: 'ул улица бул булевард площад пл',
  ca: 'carrer passeig avinguda placa travessera rambla',
  cs: 'ulice ul namesti nam trida nabrezi',
  de: 'strasse str platz allee haus',
  el: 'odos οδος leoforos λεωφορος plateia πλατεια',
  en: 'avenue ave boulevard blvd',
  es:
    'calle c cl cll avenida avda av paseo pso plaza plza pza camino cno carretera ctra ronda travesia glorieta carrera cra diagonal jiron ' +
    'jr pasaje urbanizacion urb edificio colonia',
  fa: 'خیابان بلوار کوچه میدان khiaban kheyaban khiyaban bulvar meydan',
  fr: 'rue avenue av boulevard bd place pl quai chemin route impasse passage square allee cours sentier voie villa esplanade ruelle chaussee residence',
  he: 'רחוב שדרות rehov rechov sderot',
  hr: 'ulica ul cesta trg avenija',
  id: 'jalan jl jln gang',
  it: 'via viale corso vicolo largo piazza piazzale strada lungomare calata',
  lv: 'iela',
  ms: 'jalan lorong persiaran lebuh',
  nl: 'straat laan plein',
  pl: 'ulica ul aleja aleje al plac pl osiedle os rondo',
  pt: 'rua r avenida av travessa largo estrada alameda praca beco calcada rodovia edificio',
  ro: 'strada str bulevardul bd b dul calea aleea soseaua sos splaiul piata',
  ru: 'улица ул проспект пр переулок пер площадь пл шоссе набережная наб бульвар бул проезд тупик аллея ulitsa ulitza prospekt pereulok ploshchad shosse',
  sq: 'rruga bulevardi sheshi',
  sr: 'улица булевар трг ulica bulevar',
  uk: 'вулиця вул провулок проспект просп площа бульвар набережна шосе vulytsia vulytsya bulvar provulok ploshcha',
  vi: 'duong pho',
}

/** Words behind the name, by language. */
const AFTER: Readonly<Record<string, string>> = {
  cs: 'ulice namesti trida',
  da: 'gade vej alle plads',
  de: 'strasse str weg platz gasse allee ring damm ufer steig haus',
  en: 'street st road rd avenue ave av boulevard blvd lane ln drive dr way court ct crescent close terrace place pl square sq gardens grove hill parade row walk',
  et: 'tn tanav pst puiestee mnt maantee tee',
  fi: 'katu tie kuja',
  hi: 'marg nagar',
  hu: 'utca u ut ter korut krt koz setany rakpart',
  ja: 'dori odori',
  ko: 'ro gil daero 로 길 대로',
  lt: 'gatve g prospektas pr aleja aikste',
  lv: 'iela bulvaris prospekts laukums',
  nl: 'straat laan weg plein kade gracht dreef',
  no: 'gate gata vei veien veg plass',
  ru: 'улица ул проспект переулок площадь шоссе набережная бульвар проезд',
  sl: 'ulica cesta trg',
  sv: 'gatan gata vagen torg',
  tr: 'cad cd caddesi sok sk sokak sokagi bulvari blv blvd mahallesi mah',
  uk: 'вулиця вул провулок проспект площа бульвар',
  zh: 'lu jie dajie dadao',
}

/** Buildings and businesses, which are named after places; before or behind the name. */
const HOUSES =
  'hotel cafe kaffee restaurant restaurante ristorante bar pub club grill kitchen bistro pizzeria imbiss house building tower towers center centre mall plaza ' +
  'hostel pension pensione hostal casa villa palace palais park garden museum theater theatre cinema kino school shop store market bazaar teppiche teppichhaus ' +
  'carpet carpets rugs import export trading gmbh ltd inc llc embassy botschaft ambassade ресторан кафе гостиница отель готель'

/** Marks of a street, a square, a bridge or a station right behind a name in scripts without spaces. */
export const UNSPACED_STREET = /^(?:路|道(?!府)|大道|街|大街|大路|通り|通|巷|胡同|弄|橋|桥|坂|ถนน)/

const before = new Set(Object.values(BEFORE).flatMap(fold))
const after = new Set(Object.values(AFTER).flatMap(fold))
const houses = new Set(fold(HOUSES))
const ARTICLES = new Set('de du des la le les l d di della del dell do da dos das der den van a el al'.split(' '))

/** Returns whether the words from `start` up to `end` name a street, a square or a building. */
export function isStreetName(words: readonly string[], start: number, end: number): boolean {
  const behind = words[end] ?? ''
  if (after.has(behind) || houses.has(behind)) return true
  let at = start - 1
  while (at > 0 && ARTICLES.has(words[at] ?? '')) at--
  const ahead = words[at] ?? ''
  return before.has(ahead) || houses.has(ahead)
}

/** Returns whether a part of an address names a street or a building: one of its words does. */
export function hasStreetWord(words: readonly string[]): boolean {
  return words.some((word, index) => after.has(word) || houses.has(word) || (before.has(word) && index < words.length - 1))
}
