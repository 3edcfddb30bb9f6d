import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { XmlDocument, XmlValidateError, XsdValidator } from 'libxml2-wasm'

/**
 * The official schemas of all known messages, without annotations, as judges of structure. They come from the mirror
 * github.com/teghnet/iso20022 of 2026-04-06; this is not the official site of the registration authority, www.iso20022.org.
 */
interface SchemaFile {
  source: string
  schemas: Readonly<Record<string, string>>
}

const file = JSON.parse(
  brotliDecompressSync(readFileSync(new URL('iso20022-schemas.json.br', import.meta.url))).toString('utf8'),
) as SchemaFile

/** Names as pain.001.001.09. */
export const SCHEMA_NAMES: readonly string[] = Object.keys(file.schemas)

const validators = new Map<string, XsdValidator>()

function validatorOf(name: string): XsdValidator {
  const known = validators.get(name)
  if (known !== undefined) return known
  const schema = XmlDocument.fromString(file.schemas[name] ?? '')
  const validator = XsdValidator.fromDoc(schema)
  schema.dispose()
  validators.set(name, validator)
  return validator
}

export function schemaText(name: string): string {
  return file.schemas[name] ?? ''
}

/** The target namespace of a schema; those of the first versions differ from the later ones. */
export function schemaNamespace(name: string): string {
  return /targetNamespace="([^"]*)"/.exec(schemaText(name))?.[1] ?? ''
}

/** Whether the schema of this name takes the document, which must be well-formed. */
export function schemaTakes(name: string, document: string): boolean {
  const parsed = XmlDocument.fromString(document)
  try {
    validatorOf(name).validate(parsed)
    return true
  } catch (error) {
    if (error instanceof XmlValidateError) return false
    throw error
  } finally {
    parsed.dispose()
  }
}
