import { XmlReader } from '../../src/pure/documents/xml/reader.ts'

/** An element of a message schema (XSD). Annotations are dropped. */
export interface SchemaNode {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: SchemaNode[]
}

const SCHEMA_NAMESPACE = 'http://www.w3.org/2001/XMLSchema'

/** The tree of a schema document. */
export function readSchema(text: string): SchemaNode {
  const root: SchemaNode = { name: '', attributes: {}, children: [] }
  const open = [root]
  const reader = new XmlReader({
    open({ local, namespace }, attributes) {
      if (namespace !== SCHEMA_NAMESPACE) throw new Error(`${local} is not an element of XML Schema`)
      const node: SchemaNode = {
        name: local,
        attributes: Object.fromEntries(attributes.map((one) => [one.local, one.value])),
        children: [],
      }
      if (local !== 'annotation') open.at(-1)?.children.push(node)
      open.push(node)
    },
    close: () => void open.pop(),
  })
  const fault = reader.write(text) ?? reader.end()
  const [schema] = root.children
  if (fault !== null || schema === undefined) throw new Error(fault?.message ?? 'The document is empty')
  return schema
}
