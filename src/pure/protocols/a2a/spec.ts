import type { SpecReference } from '../rule.ts'

/** A heading of the specification of 1.0, whose objects are those of its protocol buffers. */
export function a2aSpec(section: string): SpecReference {
  return { url: 'https://a2a-protocol.org/latest/specification/', section }
}

/** A heading of the last version before 1.0. */
export function oldSpec(section: string): SpecReference {
  return { url: 'https://a2a-protocol.org/v0.3.0/specification/', section }
}

export function rfc(number: number, section: string): SpecReference {
  return { url: `https://www.rfc-editor.org/rfc/rfc${number}`, section }
}

/** Where versions before 1.0 say the same, by the section of 1.0. */
const OLD_SECTIONS: ReadonlyMap<string, string> = new Map([
  ['4.4.1. AgentCard', '5.5. AgentCard Object Structure'],
  ['4.4.2. AgentProvider', '5.5.1. AgentProvider Object'],
  ['4.4.3. AgentCapabilities', '5.5.2. AgentCapabilities Object'],
  ['4.4.4. AgentExtension', '5.5.2.1. AgentExtension Object'],
  ['4.5. Security Objects', '5.5.3. SecurityScheme Object'],
  ['4.5.1. SecurityScheme', '5.5.3. SecurityScheme Object'],
  ['4.5.7. OAuthFlows', '5.5.3. SecurityScheme Object'],
  ['4.4.5. AgentSkill', '5.5.4. AgentSkill Object'],
  ['4.4.6. AgentInterface', '5.5.5. AgentInterface Object'],
  ['8.3.1. Supported Interfaces Declaration', '5.6. Transport Declaration and URL Relationships'],
  ['8.4. Agent Card Signing', '5.5.6. AgentCardSignature Object'],
  ['7.3. Client Authentication Process', '4.3. Authentication Process'],
  ['14.3. Well-Known URI Registration', '5.3. Recommended Location'],
])

const OLD_PAGES: Readonly<Record<string, string>> = { '0.3': 'v0.3.0', '0.2.5': 'v0.2.5', '0.2': 'v0.2.0' }

/** The page of the version that a card is of. */
export function a2aSpecAt({ url, section }: SpecReference, version: string): SpecReference {
  const page = OLD_PAGES[version]
  if (page === undefined) return { url, section }
  if (url.includes('/v0.3.0/')) return { url: url.replace('v0.3.0', page), section }
  const old = OLD_SECTIONS.get(section)
  return !url.includes('/latest/') || old === undefined ? { url, section } : { url: url.replace('latest', page), section: old }
}
