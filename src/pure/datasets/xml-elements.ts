/** Readers of single elements for the documents of sanctions lists: elements of one tag do not contain each other there. */

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Text with its references replaced; those of unknown names disappear. */
function xmlText(text: string): string {
  if (!text.includes('&')) return text.trim()
  return text.trim().replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]{2,4}));/g, (_, decimal?: string, hex?: string, name?: string) => {
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    if (name !== undefined) return ENTITIES[name] ?? ''
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : ''
  })
}

interface XmlElement {
  /** Text of the attributes. */
  head: string
  content: string
}

/** All elements with this tag, in one pass. */
export function elementsIn(xml: string, tag: string): XmlElement[] {
  const found: XmlElement[] = []
  const opening = new RegExp(`<${tag}(?=[\\s/>])`, 'g')
  const close = `</${tag}>`
  for (let start = opening.exec(xml); start !== null; start = opening.exec(xml)) {
    const name_end = start.index + tag.length + 1
    const bracket = xml.indexOf('>', name_end)
    if (bracket === -1) return found
    if (xml[bracket - 1] === '/') {
      found.push({ head: xml.slice(name_end, bracket - 1), content: '' })
      opening.lastIndex = bracket
      continue
    }
    const end = xml.indexOf(close, bracket)
    if (end === -1) return found
    found.push({ head: xml.slice(name_end, bracket), content: xml.slice(bracket + 1, end) })
    opening.lastIndex = end
  }
  return found
}

/** Contents of all elements with this tag. */
export function elementsOf(xml: string, tag: string): string[] {
  return elementsIn(xml, tag).map(({ content }) => content)
}

/** Texts of all elements with this tag that contain no others. */
export function textsOf(xml: string, tag: string): string[] {
  return elementsIn(xml, tag)
    .filter(({ content }) => !content.includes('<'))
    .map(({ content }) => xmlText(content))
}

/** Text of the first element with this tag; '' without one. */
export function textOf(xml: string, tag: string): string {
  return textsOf(xml, tag)[0] ?? ''
}

/** Value of an attribute; '' without one. */
export function attributeOf(head: string, name: string): string {
  const value = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(head)
  return xmlText(value?.[1] ?? value?.[2] ?? '')
}

/** Attribute of the first element with this tag, whose end may be missing. */
export function openingAttribute(xml: string, tag: string, name: string): string {
  const start = xml.indexOf(`<${tag} `)
  const end = xml.indexOf('>', start)
  return start === -1 || end === -1 ? '' : attributeOf(xml.slice(start + tag.length + 1, end), name)
}
