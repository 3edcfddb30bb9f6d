/** An element's or attribute's name with its prefix resolved. */
export interface XmlName {
  readonly local: string
  /** Empty for none. */
  readonly namespace: string
}

const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace'
const XMLNS_NAMESPACE = 'http://www.w3.org/2000/xmlns/'
/** A document with more names than this gets no cache; real messages have a few hundred. */
const CACHED_NAMES = 4_096

/** A name as it was written, and which came after it the last time: messages repeat themselves. */
interface Entry {
  readonly raw: string
  readonly name: XmlName
  next: Entry | null
}

function newEntry(raw: string, name: XmlName): Entry {
  return { raw, name, next: null }
}

/**
 * Prefixes and what they stand for, as Namespaces in XML 1.0 has it. Declarations are a stack; a name that was resolved once is looked
 * up in one map until a declaration changes.
 */
export class NameTable {
  private readonly cache = new Map<string, Entry>()
  /** The element before; its `next` is the guess for the one to come. */
  private last: Entry = newEntry('', { local: '', namespace: '' })
  private readonly prefixes: string[] = []
  private readonly namespaces: string[] = []
  private readonly depths: number[] = []
  /** Depth of the innermost element that declares anything; 0 when none does. */
  declared_depth = 0

  /** Whether the attribute declares a namespace; null when it does so as no document may. */
  declares(name: string, value: string, depth: number): boolean | null {
    if (!name.startsWith('xmlns')) return false
    if (name.length > 5 && name.charAt(5) !== ':') return false
    const prefix = name.slice(6)
    if (name.length === 6 || prefix.includes(':') || (prefix !== '' && value === '') || prefix === 'xmlns') return null
    if ((prefix === 'xml') !== (value === XML_NAMESPACE) || value === XMLNS_NAMESPACE) return null
    this.prefixes.push(prefix)
    this.namespaces.push(value)
    this.depths.push(depth)
    this.declared_depth = depth
    this.forget()
    return true
  }

  /** The element at this depth closes. */
  leave(depth: number): void {
    while (this.depths.at(-1) === depth) {
      this.prefixes.pop()
      this.namespaces.pop()
      this.depths.pop()
    }
    this.declared_depth = this.depths.at(-1) ?? 0
    this.forget()
  }

  /** The name of an element; null when its prefix stands for nothing or it has two colons. */
  element(raw: string): XmlName | null {
    const guess = this.last.next
    if (guess === null || guess.raw !== raw) return this.searched(raw)
    this.last = guess
    return guess.name
  }

  private searched(raw: string): XmlName | null {
    const found = this.cache.get(raw) ?? this.resolved(raw)
    if (found === null) return null
    this.last.next = found
    this.last = found
    return found.name
  }

  private resolved(raw: string): Entry | null {
    const name = this.split(raw, this.namespaceOf(''))
    if (name === null) return null
    if (this.cache.size >= CACHED_NAMES) this.forget()
    const entry = newEntry(raw, name)
    this.cache.set(raw, entry)
    return entry
  }

  private forget(): void {
    this.cache.clear()
    this.last = newEntry('', { local: '', namespace: '' })
  }

  /** The name of an attribute, which has no namespace without a prefix. */
  attribute(raw: string): XmlName | null {
    return this.split(raw, '')
  }

  private split(raw: string, unprefixed: string): XmlName | null {
    const colon = raw.indexOf(':')
    if (colon === -1) return { local: raw, namespace: unprefixed }
    const local = raw.slice(colon + 1)
    const namespace = this.namespaceOf(raw.slice(0, colon))
    return namespace === '' || colon === 0 || local === '' || local.includes(':') ? null : { local, namespace }
  }

  private namespaceOf(prefix: string): string {
    const index = this.prefixes.lastIndexOf(prefix)
    return prefix === 'xml' ? XML_NAMESPACE : (this.namespaces[index] ?? '')
  }
}
