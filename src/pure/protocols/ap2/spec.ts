import type { SpecReference } from '../rule.ts'

const REPOSITORY = 'https://github.com/google-agentic-commerce/AP2/blob'

type Page = 'specification' | 'agent_authorization' | 'checkout_mandate' | 'payment_mandate'

/** A heading of a page of the specification, version 0.2. */
export function ap2Spec(page: Page, section: string): SpecReference {
  return { url: `${REPOSITORY}/v0.2.0/docs/ap2/${page}.md`, section }
}

/** A type of version 0.1, which is written down as code. */
export function legacySpec(type: string): SpecReference {
  return { url: `${REPOSITORY}/v0.1.0/src/ap2/types/mandate.py`, section: type }
}

export const ISSUE_BUDGET: SpecReference = {
  url: 'https://github.com/google-agentic-commerce/AP2/issues/339',
  section: 'Budget unit and withheld disclosures',
}

export function rfc(number: number, section: string): SpecReference {
  return { url: `https://www.rfc-editor.org/rfc/rfc${number}`, section }
}

/** Version 0.1 had one page; its mandates are written down as code. */
export function ap2SpecAt(spec: SpecReference, version: string): SpecReference {
  if (version !== '0.1' || !spec.url.startsWith(`${REPOSITORY}/v0.2.0/`)) return spec
  return { url: `${REPOSITORY}/v0.1.0/docs/specification.md`, section: spec.section }
}
