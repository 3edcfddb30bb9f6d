import { readUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import type { Context, ProtocolId } from '../rule.ts'
import { objects } from './view.ts'

/** Extensions by which a card speaks of payments. */

type PaymentExtension = 'ap2' | 'ucp' | 'x402'

/** Which payment protocol an extension is about, by its URI; null for every other extension. */
export function extensionKind(extension: Place): PaymentExtension | null {
  const text = extension.get('uri').text()
  const url = readUrl(text)
  if (url === null) return null
  const path = url.pathname.toLowerCase()
  if (url.hostname === 'ucp.dev' || url.hostname.endsWith('.ucp.dev')) return 'ucp'
  if (url.hostname === 'github.com' && /^\/[^/]+\/a2a-x402(?:\/|$)/.test(path)) return 'x402'
  if (url.hostname === 'ap2-protocol.org' || (url.hostname === 'github.com' && /^\/[^/]+\/ap2(?:\/|$)/.test(path))) return 'ap2'
  return null
}

interface HandedOn {
  protocol: ProtocolId
  place: Place
}

/** Documents of another protocol in the parameters of an extension, where it takes them: a challenge or terms of x402, a body of UCP. */
export function handedOn({ takes }: Context, extension: Place): HandedOn[] {
  return candidates(extension).filter(({ protocol, place }) => takes(protocol, place))
}

function candidates(extension: Place): HandedOn[] {
  const kind = extensionKind(extension)
  const params = extension.get('params')
  if (params.kind !== 'object' || kind === null) return []
  if (kind === 'ucp') return params.has('ucp') ? [{ protocol: 'ucp', place: params }] : []
  if (params.has('x402Version')) return [{ protocol: 'x402', place: params }]
  return [params, ...offersIn(params)].filter((place) => place.has('payTo')).map((place) => ({ protocol: 'x402', place }))
}

/** Offers that stand in lists beside other terms. */
export function offersIn(params: Place): Place[] {
  return ['accepts', 'paymentRequirements'].flatMap((name) => objects(params.get(name)))
}
