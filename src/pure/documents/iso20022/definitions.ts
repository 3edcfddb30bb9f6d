/** The messages that are known, and how a namespace names one. */
import { CAMT } from './camt/definition.ts'
import { PACS } from './pacs/definition.ts'
import { PAIN } from './pain/definition.ts'
import type { MessageKind, Profile } from './rule.ts'
import type { MessageDefinition } from './rule-engine.ts'

const DEFINITIONS: readonly MessageDefinition[] = [PAIN, PACS, CAMT]

export const NAMESPACE_PREFIX = 'urn:iso:std:iso:20022:tech:xsd:'

export type Recognized =
  | { kind: 'known'; definition: MessageDefinition; version: number; variant: boolean; profile: Profile | null }
  /** It names one of the messages, in a version that is not known. */
  | { kind: 'other_version'; message: MessageKind }
  | { kind: 'stranger' }

const NAME = /(pain\.001|pacs\.008|camt\.053)\.(\d{3})\.(\d{2})(?!\d)/

/**
 * Reads a namespace. Variants are those of communities: another number in the middle (002 and 003 are those of the German banks, for SEPA),
 * or an address of their own (Swiss ones end in `.ch.` and two digits).
 */
export function recognize(namespace: string): Recognized {
  const [named = '', message = '', number = '', version_text = ''] = NAME.exec(namespace.slice(0, 200)) ?? []
  const definition = DEFINITIONS.find(({ kind }) => kind === message)
  if (definition === undefined) return { kind: 'stranger' }
  const version = Number.parseInt(version_text, 10)
  if (!definition.versions.has(version)) return { kind: 'other_version', message: definition.kind }
  const variant = namespace !== `${NAMESPACE_PREFIX}${named}` || number !== '001'
  const profile = /\.ch\.\d\d/.test(namespace) ? 'SPS' : number === '002' || number === '003' ? 'SEPA' : null
  return { kind: 'known', definition, version, variant, profile }
}
