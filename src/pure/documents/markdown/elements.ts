/**
 * How the elements of HTML nest and what they become, after the parsing rules of the HTML Living Standard (read 2026-10), reduced to what
 * matters without a DOM. Names are in lower case.
 */

/** What an element becomes in Markdown; what is not listed is transparent. */
export type Role =
  | 'block'
  | 'term'
  | 'list'
  | 'item'
  | 'quote'
  | 'heading'
  | 'pre'
  | 'table'
  | 'section'
  | 'row'
  | 'cell'
  | 'strong'
  | 'em'
  | 'del'
  | 'code'
  | 'link'
  | 'raised'
  | 'lowered'
  | 'dropped'

const ROLES: readonly (readonly [Role, string])[] = [
  [
    'block',
    'address article aside caption center dd details dialog div dl fieldset figcaption figure footer form frameset header hgroup legend ' +
      'main marquee nav optgroup option p search section select summary title',
  ],
  ['term', 'dt'],
  ['list', 'ul ol menu dir'],
  ['item', 'li'],
  ['quote', 'blockquote'],
  ['heading', 'h1 h2 h3 h4 h5 h6'],
  ['pre', 'pre listing xmp plaintext'],
  ['table', 'table'],
  ['section', 'thead tbody tfoot'],
  ['row', 'tr'],
  ['cell', 'td th'],
  ['strong', 'b strong'],
  ['em', 'i em'],
  ['del', 'del s strike'],
  ['code', 'code kbd samp tt'],
  ['link', 'a'],
  ['raised', 'sup'],
  ['lowered', 'sub'],
  ['dropped', 'script style template noscript svg iframe object applet noembed noframes canvas audio video datalist'],
]

const ROLE_OF: ReadonlyMap<string, Role> = new Map(ROLES.flatMap(([role, names]) => names.split(' ').map((name) => [name, role] as const)))

export function roleOf(name: string): Role | undefined {
  return ROLE_OF.get(name)
}

function named(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

/** Elements without content or end tag. */
export const VOID = named('area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr')

/** There is one of each whatever the tags say; they carry nothing. */
export const IGNORED = named('html head body colgroup')

/** An inline end tag does not reach beyond these; those of formatting elements do, and end only themselves. */
export const SPECIAL = named(
  'address applet article aside blockquote button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'frameset h1 h2 h3 h4 h5 h6 header hgroup iframe li listing main marquee menu nav noembed noframes noscript object ol p plaintext pre ' +
    'script search section select style summary table tbody td template textarea tfoot th thead title tr ul xmp',
)

/** Through these an item still ends the one before it. */
export const PASSED_BY_ITEMS = named('address div p')

/** No end tag within reaches beyond these, except those of the table itself. */
export const BARRIER = named('applet caption marquee object table td template th')

/** Their end tags work by the adoption agency in browsers: they end where they stand, whatever is open inside. */
export const FORMATTING = named('a b big code em font i nobr s small strike strong tt u')

/** Each ends an open paragraph. */
export const ENDS_PARAGRAPH = named(
  'address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul xmp',
)

/** Within SVG or MathML each of these ends the picture: it was not closed. */
export const ENDS_FOREIGN = named(
  'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s ' +
    'small span strong strike sub sup table tt u ul var',
)

/** Within SVG or MathML, HTML again. */
export const HTML_INSIDE_FOREIGN = named('foreignobject desc title mi mo mn ms mtext annotation-xml')
