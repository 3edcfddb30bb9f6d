import { readUrl } from '../kit/url.ts'

/**
 * Names under `dev.ucp` that the published specifications of each version use (ucp.dev, read 2026-11-21). Those of 2026-08-25 were read three
 * days before its cut, so the list is generous there.
 */
const FIRST = [
  'dev.ucp.shopping',
  'dev.ucp.shopping.checkout',
  'dev.ucp.shopping.order',
  'dev.ucp.shopping.fulfillment',
  'dev.ucp.shopping.discount',
  'dev.ucp.shopping.buyer_consent',
  'dev.ucp.shopping.ap2_mandate',
  'dev.ucp.common.identity_linking',
]
const SINCE_04 = [
  'dev.ucp.shopping.cart',
  'dev.ucp.shopping.catalog.search',
  'dev.ucp.shopping.catalog.lookup',
  'dev.ucp.shopping.permalink',
  'dev.ucp.common.loyalty',
]
const SINCE_08 = [
  'dev.ucp.common',
  'dev.ucp.common.location.search',
  'dev.ucp.common.location.lookup',
  'dev.ucp.common.ap2_mandate',
  'dev.ucp.common.payment.ap2_mandate',
  'dev.ucp.common.payment.authentication',
  'dev.ucp.common.payment.split_payments',
  'dev.ucp.common.payment.terms',
]

const ALL_04: ReadonlySet<string> = new Set([...FIRST, ...SINCE_04])
const KNOWN: Readonly<Record<string, ReadonlySet<string>>> = {
  '2026-01-11': new Set(FIRST),
  '2026-01-23': new Set(FIRST),
  '2026-04-08': ALL_04,
  '2026-08-25': new Set([...ALL_04, ...SINCE_08]),
}

/** Whether a name lies in the reserved namespace and no specification of that version uses it. */
export function isUnknownReserved(name: string, version: string): boolean {
  return /^dev\.ucp(?:\.|$)/.test(name) && KNOWN[version]?.has(name) === false
}

/**
 * Why the host of a URL has no authority over a name; null when it has. The labels of the host, last one first, must be the first labels of
 * the name: ucp.dev speaks for dev.ucp.shopping, cdn.example.com does not speak for com.example.pay.
 */
export function authorityFault(text: string, name: string): string | null {
  const url = readUrl(text)
  if (url === null) return 'is not an absolute URL'
  if (url.protocol !== 'https:') return 'is not an https URL'
  if (url.username !== '' || url.password !== '') return 'carries a user name or password'
  const labels = url.hostname.toLowerCase().split('.').toReversed()
  const isDomain = labels.length >= 2 && labels.every((label) => /^[a-z0-9_-]+$/.test(label)) && !/^[0-9]+$/.test(labels[0] ?? '')
  if (!isDomain || labels[0] === 'localhost') return 'is not at a domain name'
  const parts = name.split('.')
  return labels.every((label, index) => parts[index] === label) ? null : 'is at a host that the name does not start with'
}
