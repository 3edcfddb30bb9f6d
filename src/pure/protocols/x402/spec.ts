import type { SpecReference } from '../rule.ts'

const SPECS = 'https://github.com/coinbase/x402/blob/main/specs'

/** A section of the specification of version 1 or 2. */
export function x402Spec(version: 1 | 2, section: string): SpecReference {
  return { url: `${SPECS}/x402-specification-v${version}.md`, section }
}

/** The document of a scheme on a family of networks. */
export function schemeSpec(path: string, section: string): SpecReference {
  return { url: `${SPECS}/schemes/${path}`, section }
}

export function eip(number: number, section: string): SpecReference {
  return { url: `https://eips.ethereum.org/EIPS/eip-${number}`, section }
}

export const CAIP_2: SpecReference = { url: 'https://chainagnostic.org/CAIPs/caip-2', section: 'Syntax' }

/** The same section of the specification of another version. */
export function x402SpecAt({ url, section }: SpecReference, version: string): SpecReference {
  return { url: url.replace(/x402-specification-v[12]\.md$/, `x402-specification-v${version}.md`), section }
}
