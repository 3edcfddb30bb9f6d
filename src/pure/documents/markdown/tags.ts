import { Tokenizer } from 'htmlparser2'
import { MARKDOWN_BOUNDS } from './bounds.ts'

/** The attributes that are read, first one of each name. Values beyond the bound end one character behind it. */
export type Attributes = ReadonlyMap<string, string>

export interface TagHandler {
  start(name: string, attributes: Attributes, self_closing: boolean): void
  end(name: string): void
  text(text: string): void
  comment(): void
  /** Whether SVG or MathML is being read, where script and title are names like others. */
  foreign(): boolean
}

const READ = new Set(
  'alt aria-hidden checked class colspan data-src data-srcset hidden href open popover role rowspan src srcset start style type value'.split(
    ' ',
  ),
)
const NONE: Attributes = new Map()

/**
 * Cuts HTML into tags and text, character references decoded, never throws. Only the tokenizer of the library is used: its parser keeps
 * the open elements in a list whose handling takes quadratic time under hostile nesting.
 */
export function readTags(html: string, handler: TagHandler): void {
  let name = ''
  let attributes: Map<string, string> | null = null
  let attribute: string | null = null
  let value = ''
  const opened = (self_closing: boolean) => {
    const found = attributes ?? NONE
    attributes = null
    handler.start(name, found, self_closing)
  }
  /** The same text for the same name, so that looking it up is cheap. */
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
        attribute = READ.has(read) && attributes?.has(read) !== true ? read : null
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
