import { Tokenizer } from 'htmlparser2'
import {
  type DocumentNode,
  type DroppedCounts,
  type FormatNode,
  type DocumentStep,
  type TableNode,
  httpAddress,
  safeAddress,
  MARKDOWN_BOUNDS,
} from './document-model.ts'
import { isHidden } from './hidden-elements.ts'
import { elementRole, type ElementRole, type OpenElement, OpenElements } from './open-elements.ts'

type TextStep = Extract<DocumentStep, { step: 'text' }>

/** One run of letters and digits with its sign needs no brackets. */
const SINGLE_RUN = /^\s*[+\u2212-]?[\p{L}\p{N}]+\s*$/u
/** End of a script and start of the text after it, both digits or both letters. */
const RUNS_ON = /\p{N}\n\p{N}|\p{L}\n\p{L}/u
/** Text that already has brackets, such as a footnote mark. */
const HAS_BRACKETS = /^\s*(?:\[[^\]]*\]|\([^)]*\))\s*$/

/**
 * Writes superscripts and subscripts, which Markdown does not have, as `10^6`, `H_2O` or `x^(n+1)`; without a sign, 10 to the sixth would
 * read as 106.
 */
class ScriptSigns {
  readonly #steps: DocumentStep[]
  /** The last script that ended, as long as nothing follows it. */
  #ended: { sign: TextStep; end: TextStep; text: string } | null = null

  constructor(steps: DocumentStep[]) {
    this.#steps = steps
  }

  /** Returns the index of the step with its sign. */
  open(sign: '^' | '_'): number {
    this.#ended = null
    return this.#steps.push({ step: 'text', text: sign, apart: true }) - 1
  }

  close(at: number): void {
    const sign = this.#steps[at]
    if (sign?.step !== 'text') return
    let text = ''
    let more = false
    for (let index = at + 1; index < this.#steps.length; index++) {
      const step = this.#steps[index]
      if (step?.step === 'text') text += step.text
      else if (step?.step === 'image' || step?.step === 'box') more = true
    }
    const end: TextStep = { step: 'text', text: '', apart: true }
    if (!more && text.trim() === '') sign.text = ''
    else if (!more && SINGLE_RUN.test(text)) this.#ended = { sign, end, text }
    else if (more || !HAS_BRACKETS.test(text)) addBrackets(sign, end)
    this.#steps.push(end)
  }

  /** Adds brackets if a script is followed by text that would read as part of it: digit after digit, letter after letter. */
  before(text: string): void {
    const ended = this.#ended
    if (ended !== null && this.#steps.at(-1) === ended.end && RUNS_ON.test(`${ended.text.slice(-2)}\n${text.slice(0, 2)}`)) {
      addBrackets(ended.sign, ended.end)
    }
    this.#ended = null
  }
}

function addBrackets(sign: TextStep, end: TextStep): void {
  sign.text += '('
  end.text = ')'
}

/** A document as the writer needs it. */
interface ReadDocument {
  steps: readonly DocumentStep[]
  title: string | null
  dropped: DroppedCounts
}

const BLOCK: DocumentNode = { kind: 'block' }
/** The attributes in use, the first one of each name. A value longer than the limit is cut one character beyond it. */
type HtmlAttributes = ReadonlyMap<string, string>

const NO_ATTRIBUTES: HtmlAttributes = new Map()
const READ_ATTRIBUTES = new Set(
  'alt aria-hidden checked class colspan data-src data-srcset hidden href open popover role rowspan src srcset start style type value'.split(
    ' ',
  ),
)
/** Elements without content or end tag. */
const VOID_ELEMENTS = new Set(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr'.split(' '),
)

/** Elements that exist exactly once or have no content of interest; their tags are ignored. */
const IGNORED_ELEMENTS = new Set('html head body colgroup'.split(' '))

/** Parts of a table that contain text. */
const TEXT_PARTS_OF_TABLE = ['td', 'th', 'caption']
const SPAN_MAX = 1_000
const ORDINAL_MAX = 999_999_999

/** Reads HTML into steps. `base` resolves relative addresses until the document names its own. Never throws; takes linear time. */
export function readHtml(html: string, base: string | null): ReadDocument {
  const reader = new HtmlReader(base)
  readTags(html, reader)
  return reader.finish()
}

/**
 * Splits HTML into tags and text with character references decoded. Never throws. Uses only the tokenizer of htmlparser2: its parser takes
 * quadratic time on hostile nesting.
 */
function readTags(html: string, handler: HtmlReader): void {
  let name = ''
  let attributes: Map<string, string> | null = null
  let attribute: string | null = null
  let value = ''
  const opened = (self_closing: boolean) => {
    const found = attributes ?? NO_ATTRIBUTES
    attributes = null
    handler.start(name, found, self_closing)
  }
  /** Interns names, so that later lookups are cheap. */
  const names = new Map<string, string>()
  const named = (start: number, end: number) => {
    const read = html.slice(start, end).toLowerCase()
    const known = names.get(read)
    if (known === undefined) names.set(read, read)
    return known ?? read
  }
  const keep = (text: string) => {
    if (attribute !== null && value.length <= MARKDOWN_BOUNDS.attribute_chars) value += text
  }
  const tokenizer = new Tokenizer(
    {},
    {
      ontext: (start, end) => handler.text(html.slice(start, end)),
      ontextentity: (point) => handler.text(String.fromCodePoint(point)),
      onopentagname(start, end) {
        name = named(start, end)
        attributes = null
      },
      onopentagend: () => opened(false),
      onselfclosingtag: () => opened(true),
      onclosetag: (start, end) => handler.end(named(start, end)),
      onattribname(start, end) {
        const read = end - start > MARKDOWN_BOUNDS.attribute_chars ? '' : html.slice(start, end).toLowerCase()
        attribute = READ_ATTRIBUTES.has(read) && attributes?.has(read) !== true ? read : null
        value = ''
      },
      onattribdata: (start, end) => keep(html.slice(start, Math.min(end, start + MARKDOWN_BOUNDS.attribute_chars + 1))),
      onattribentity: (point) => keep(String.fromCodePoint(point)),
      onattribend() {
        if (attribute === null) return
        attributes ??= new Map()
        attributes.set(attribute, value)
        attribute = null
      },
      oncomment: () => handler.comment(),
      oncdata(start, end, offset) {
        if (handler.foreign()) handler.text(html.slice(start, end - offset))
        else handler.comment()
      },
      ondeclaration() {},
      onprocessinginstruction() {},
      onend() {},
      isInForeignContext: () => handler.foreign(),
    },
  )
  tokenizer.write(html)
  tokenizer.end()
}

/** Control characters except white space, direction overrides and isolates, tag characters. */
const INVISIBLE_CHARACTERS = /[[\p{Cc}--[\t\n\f\r]]\u202a-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gv

/** Fast pre-check by UTF-16 unit: most texts contain no invisible character. */
const SUSPICIOUS = /[^\t\n\f\r -~\xa0-\u2029\u202f-\u2065\u206a-\udb3f\udb41-\ufefe\uff00-\uffff]/

class HtmlReader {
  readonly #open = new OpenElements()
  readonly #steps: DocumentStep[] = []
  readonly #scripts = new ScriptSigns(this.#steps)
  readonly #dropped: DroppedCounts = {
    scripts: 0,
    styles: 0,
    embedded: 0,
    hidden: 0,
    unsafe_links: 0,
    comments: 0,
    invisible_characters: 0,
  }
  /** Open tables, innermost last, with the columns of the current row and of the widest row. */
  readonly #tables: { node: TableNode; columns: number; most: number }[] = []
  #pre: { kind: 'pre'; language: string } | null = null
  #title: string[] | null = null
  #in_first_title = false
  #base: string | null
  #base_named = false

  constructor(base: string | null) {
    this.#base = base
  }

  /** Inside SVG or MathML, where script and title are ordinary elements. */
  foreign(): boolean {
    return this.#open.foreign
  }

  comment(): void {
    if (!this.#open.hidden) this.#dropped.comments++
  }

  text(raw: string): void {
    if (this.#open.hidden) return
    const { text, removed } = removeInvisible(raw)
    this.#dropped.invisible_characters += removed
    if (this.#open.top !== 'title') this.#addText(text)
    else if (this.#in_first_title) this.#title?.push(text)
  }

  #addText(text: string): void {
    const last = this.#steps.at(-1)
    if (last?.step === 'text' && last.apart !== true) last.text += text
    else if (text !== '') {
      this.#scripts.before(text)
      this.#steps.push({ step: 'text', text })
    }
  }

  start(name: string, attributes: HtmlAttributes, self_closing: boolean): void {
    for (let at = this.#open.foreignEndedBy(name); at >= 0; at = this.#open.foreignEndedBy(name)) this.#closeFrom(at)
    const in_foreign = this.#open.foreign
    if (!in_foreign) {
      if (IGNORED_ELEMENTS.has(name)) return
      if (VOID_ELEMENTS.has(name) || name === 'image') return this.#void(name, attributes)
      this.#endBefore(name)
      if (elementRole(name) === 'cell') this.#completeRow()
    }
    this.#openElement(name, attributes)
    if (self_closing && (in_foreign || this.#open.foreign)) this.#closeFrom(this.#open.size - 1)
  }

  end(name: string): void {
    if (name === 'br') return this.#void(name, NO_ATTRIBUTES)
    const ending = this.#open.endedByEndTag(name)
    if (name === 'p' && ending.kind === 'nothing') this.#emptyParagraph()
    this.#end(ending, name)
  }

  /** Per the HTML standard, `</p>` without an open paragraph is an empty paragraph: it separates what is before and after it. */
  #emptyParagraph(): void {
    const between_cells = this.#open.lastOfAny(TEXT_PARTS_OF_TABLE) < this.#open.last('table')
    if (this.#open.hidden || this.#open.foreign || between_cells) return
    this.#steps.push({ step: 'open', node: BLOCK }, { step: 'close', node: BLOCK })
  }

  finish(): ReadDocument {
    this.#closeFrom(0)
    return { steps: this.#steps, title: this.#title?.join('') ?? null, dropped: this.#dropped }
  }

  #end(ending: ReturnType<OpenElements['endedByEndTag']>, name: string): void {
    switch (ending.kind) {
      case 'from':
        return this.#closeFrom(ending.at)
      case 'alone':
        return this.#closed(this.#open.end(name))
      case 'nothing':
    }
  }

  /** Ends the elements that this start tag ends. */
  #endBefore(name: string): void {
    for (let ending = this.#open.endedByStartTag(name); ending.kind !== 'nothing'; ending = this.#open.endedByStartTag(name)) {
      this.#end(ending, name)
    }
  }

  #closeFrom(at: number): void {
    while (this.#open.size > at) this.#closed(this.#open.pop())
  }

  #closed(element: OpenElement | undefined): void {
    if (element?.script !== undefined) this.#scripts.close(element.script)
    if (element === undefined || element.nodes.length === 0) return
    for (const node of element.nodes.toReversed()) {
      this.#steps.push({ step: 'close', node })
      if (node === this.#pre) this.#pre = null
      if (node.kind === 'table') this.#closeTable(node)
    }
  }

  /** Opens a row for a cell that is in none. */
  #completeRow(): void {
    if (this.#open.last('tr') < this.#open.last('table')) this.#openElement('tr', NO_ATTRIBUTES)
  }

  #openElement(name: string, attributes: HtmlAttributes): void {
    const role = elementRole(name)
    if (this.#open.hidden) return this.#open.push({ name, nodes: [], hides: false })
    const hidden = isHidden(name, attributes)
    if (hidden) this.#dropped.hidden++
    else if (role === 'dropped') this.#dropped[name === 'script' ? 'scripts' : name === 'style' ? 'styles' : 'embedded']++
    const hides = hidden || role === 'dropped'
    const nodes = hides || role === undefined ? [] : this.#nodesOf(name, role, attributes)
    for (const node of nodes) this.#steps.push({ step: 'open', node })
    const script = hides ? null : this.#openScript(role)
    this.#open.push({ name, nodes, hides, ...(script !== null && { script }) })
    if (name === 'title' && !hides) {
      this.#in_first_title = this.#title === null
      this.#title ??= []
    }
  }

  #nodesOf(name: string, role: ElementRole, attributes: HtmlAttributes): DocumentNode[] {
    switch (role) {
      case 'block':
        return [BLOCK]
      case 'term':
        return [BLOCK, { kind: 'strong' }]
      case 'list':
        return [{ kind: 'list', ordered: name === 'ol', start: wholeNumber(attributes.get('start'), 1, 0, ORDINAL_MAX) }]
      case 'heading':
        this.#blockInCell()
        return [{ kind: 'heading', level: Number(name[1]) }]
      case 'pre':
        return [this.#openPre(attributes)]
      case 'table':
        return [this.#openTable(attributes)]
      case 'row':
      case 'cell':
        return this.#tablePart(name, role, attributes)
      case 'link':
        return this.#link(attributes)
      case 'code':
        if (this.#pre !== null && this.#pre.language === '') this.#pre.language = codeLanguage(attributes)
        return [{ kind: role }]
      case 'item':
        return [{ kind: 'item', value: attributes.has('value') ? wholeNumber(attributes.get('value'), -1, 0, ORDINAL_MAX) : null }]
      case 'quote':
      case 'strong':
      case 'em':
      case 'del':
        return [{ kind: role }]
      case 'section':
      case 'raised':
      case 'lowered':
      case 'dropped':
        return []
    }
  }

  #link(attributes: HtmlAttributes): FormatNode[] {
    const raw = attributes.get('href')
    if (raw === undefined || raw.trim() === '') return []
    const href = safeAddress(raw, this.#base, 'link')
    if (href === null) this.#dropped.unsafe_links++
    return href === null ? [] : [{ kind: 'link', href }]
  }

  #openPre(attributes: HtmlAttributes): DocumentNode {
    this.#blockInCell()
    const node = { kind: 'pre' as const, language: codeLanguage(attributes) }
    this.#pre ??= node
    return node
  }

  #openScript(role: ElementRole | undefined): number | null {
    return role === 'raised' || role === 'lowered' ? this.#scripts.open(role === 'raised' ? '^' : '_') : null
  }

  /** A block inside a cell makes the table around it a layout table. */
  #blockInCell(): void {
    const around = this.#tables.at(-1)
    if (around !== undefined && this.#open.lastOfAny(['td', 'th']) > this.#open.last('table')) around.node.layout = true
  }

  #openTable(attributes: HtmlAttributes): TableNode {
    this.#blockInCell()
    const role = attributes.get('role')?.trim().toLowerCase()
    const node: TableNode = { kind: 'table', layout: role === 'presentation' || role === 'none' }
    this.#tables.push({ node, columns: 0, most: 0 })
    return node
  }

  #closeTable(node: TableNode): void {
    const table = this.#tables.pop()
    if (table !== undefined && table.most < 2) node.layout = true
  }

  /** Rows and cells outside a table are blocks. */
  #tablePart(name: string, kind: 'row' | 'cell', attributes: HtmlAttributes): DocumentNode[] {
    const table = this.#tables.at(-1)
    if (table === undefined || this.#open.last('table') < 0) return [BLOCK]
    if (kind === 'row') {
      table.columns = 0
      return [{ kind, table: table.node, head: this.#open.last('thead') > this.#open.last('table') }]
    }
    const colspan = wholeNumber(attributes.get('colspan'), 1, 1, SPAN_MAX)
    const rowspan = wholeNumber(attributes.get('rowspan'), 1, 1, SPAN_MAX)
    table.columns += colspan
    table.most = Math.max(table.most, table.columns)
    return [{ kind, table: table.node, head: name === 'th', colspan, rowspan }]
  }

  /** Handles elements without content. */
  #void(name: string, attributes: HtmlAttributes): void {
    if (name === 'base') return this.#setBase(attributes)
    if (this.#open.hidden) return
    if (name === 'br') this.#steps.push({ step: 'break' })
    if (name === 'hr') {
      this.#endBefore(name)
      this.#steps.push({ step: 'rule' })
    }
    if (name === 'img' || name === 'image') this.#image(attributes)
    if (name === 'embed') this.#dropped.embedded++
    if (name === 'input') this.#input(attributes)
  }

  #setBase(attributes: HtmlAttributes): void {
    const href = attributes.get('href')
    if (href === undefined || this.#base_named) return
    this.#base_named = true
    this.#base = httpAddress(href, this.#base ?? undefined) ?? this.#base
  }

  /** The state of a checkbox is part of the page's content. */
  #input(attributes: HtmlAttributes): void {
    const type = attributes.get('type')?.trim().toLowerCase()
    if (type !== 'checkbox' && type !== 'radio') return
    if (isHidden('input', attributes)) this.#dropped.hidden++
    else this.#steps.push({ step: 'box', ticked: attributes.has('checked') })
  }

  #image(attributes: HtmlAttributes): void {
    if (isHidden('img', attributes)) {
      this.#dropped.hidden++
      return
    }
    const { text: alt, removed } = removeInvisible(attributes.get('alt') ?? '')
    this.#dropped.invisible_characters += removed
    const given = imageAddresses(attributes)
    const src = given.map((raw) => safeAddress(raw, this.#base, 'image')).find((address) => address !== null) ?? null
    if (given.length > 0 && src === null) this.#dropped.unsafe_links++
    this.#steps.push({ step: 'image', alt, src })
  }
}

/** Removes invisible characters that can hide or disguise text, and counts them. */
function removeInvisible(text: string): { text: string; removed: number } {
  if (!SUSPICIOUS.test(text)) return { text, removed: 0 }
  const found = text.match(INVISIBLE_CHARACTERS)
  return found === null ? { text, removed: 0 } : { text: text.replace(INVISIBLE_CHARACTERS, ''), removed: found.length }
}

/**
 * Addresses of an image, best first. Lazy-loading pages keep the address in `data-src` and a placeholder in `src`. Of `srcset` the last
 * candidate counts, usually the largest.
 */
function imageAddresses(attributes: HtmlAttributes): string[] {
  const candidate = (name: string) =>
    (attributes.get(name) ?? '')
      .split(/,(?=\s)/)
      .at(-1)
      ?.trim()
      .split(' ')[0]
  const src = attributes.get('src')
  const late = [attributes.get('data-src'), candidate('data-srcset')]
  const placeholder = src !== undefined && /^\s*data:/i.test(src)
  const all = placeholder ? [...late, candidate('srcset'), src] : [src, ...late, candidate('srcset')]
  return all.filter((raw) => raw !== undefined).filter((raw) => raw.trim() !== '')
}

/** Language of a code block from its `language-…` class. */
function codeLanguage(attributes: HtmlAttributes): string {
  return /(?:^|\s)lang(?:uage)?-([\w+#.-]{1,32})(?=\s|$)/.exec(attributes.get('class') ?? '')?.[1] ?? ''
}

/** Reads an attribute as a whole number, clamped to the bounds; `otherwise` if it is not a number. */
function wholeNumber(text: string | undefined, otherwise: number, least: number, most: number): number {
  const digits = /^\s*\+?(\d{1,15})/.exec(text ?? '')?.[1]
  return digits === undefined ? otherwise : Math.min(most, Math.max(least, Number(digits)))
}
