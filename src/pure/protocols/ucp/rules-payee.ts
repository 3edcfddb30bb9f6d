import { sameAccount } from '../kit/addresses.ts'
import { hostOf, isWithin } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule } from '../rule.ts'
import { ucpSpec } from './spec.ts'
import { objects, type UcpView } from './view.ts'

/** Names under which handlers keep the account of the business. */
const ID_NAMES: ReadonlySet<string> = new Set([
  'merchant_id',
  'merchantid',
  'business_id',
  'shop_id',
  'seller_id',
  'payee',
  'payto',
  'pay_to',
])

/** UCP-045: who is paid. */
export const PAYEE_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-045',
      severity: 'both',
      why: 'A document of somebody else looks just like one of the business that is meant to be paid.',
      spec: ucpSpec('overview', 'Payment Architecture'),
      hint: 'Compare the business with whom you meant to pay before any payment is made.',
      good: { config: { merchant_id: 'the expected payee' } },
      bad: { config: { merchant_id: 'somebody else' } },
    },
    ({ error, warning }, view) => {
      const expected = view.context.expected_payee
      if (expected === null) return
      const ids = merchantIds(view)
      const others = ids.filter((id) => !sameAccount(id.text() ?? '', expected))
      if (others.length < ids.length) {
        for (const id of others) warning(id, 'is another payee than the expected one')
        return
      }
      const host = expectedHost(expected)
      if (host === null && ids.length > 0) for (const id of ids) error(id, 'is not the expected payee')
      if (host === null && ids.length > 0) return
      const hosts = host === null ? [] : hostPlaces(view)
      const strangers = hosts.filter((place) => !isWithin(hostOf(place.text()) ?? '', host ?? ''))
      for (const place of strangers) warning(place, 'is at another host than the expected payee')
      if (hosts.length === 0) warning(view.body, 'holds nothing that the expected payee could be compared with')
    },
  ),
]

/** Accounts of the business in the settings of handlers, at any depth: settings nest as each handler likes. */
function merchantIds({ entities }: UcpView): Place[] {
  const found: Place[] = []
  const open = entities.filter(({ registry }) => registry === 'payment_handlers').map(({ place }) => place.get('config'))
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.text() !== null && ID_NAMES.has(place.key.toLowerCase())) found.push(place)
    open.push(...(place.kind === 'array' ? place.items() : place.members()))
  }
  return found
}

/** The host that is expected, when the payee is told as a URL or a domain name. */
function expectedHost(expected: string): string | null {
  const url = hostOf(expected)
  if (url !== null) return url
  return /^(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}$/i.test(expected) ? hostOf(`https://${expected}`) : null
}

/** URLs of the business itself: endpoints of a profile, and where a response leads the buyer. */
function hostPlaces({ body, bindings, is_platform }: UcpView): Place[] {
  const places = [
    ...(is_platform ? [] : bindings.map(({ place }) => place.get('endpoint'))),
    body.get('continue_url'),
    body.get('permalink_url'),
    body.down('order', 'permalink_url'),
    ...objects(body.get('products')).map((product) => product.get('url')),
  ]
  return places.filter((place) => hostOf(place.text()) !== null)
}
