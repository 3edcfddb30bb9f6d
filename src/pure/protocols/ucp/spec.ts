import type { SpecReference } from '../rule.ts'

type Page = 'overview' | 'checkout' | 'order' | 'fulfillment' | 'ap2-mandates' | 'signatures' | 'reference'

/** A heading of a page of the specification as published for 2026-04-08. */
export function ucpSpec(page: Page, section: string): SpecReference {
  return { url: `https://ucp.dev/2026-04-08/specification/${page}/`, section }
}

export function rfc(number: number, section: string): SpecReference {
  return { url: `https://www.rfc-editor.org/rfc/rfc${number}`, section }
}

/** The same page as published for another version; pages are kept by version. */
export function ucpSpecAt({ url, section }: SpecReference, version: string): SpecReference {
  return { url: url.replace('https://ucp.dev/2026-04-08/', `https://ucp.dev/${version}/`), section }
}
