import { need, oneOf, optional } from '../kit/expect.ts'
import { minorUnits } from '../kit/money.ts'
import { hostOf, httpsUrl, isWithin } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Report } from '../rule.ts'
import { above, microAst, type CatalogueView } from './view.ts'

const AVAILABILITY = ['in_stock', 'low_stock', 'out_of_stock', 'preorder', 'discontinued'] as const
const ACTIONS = ['view', 'quote', 'checkout'] as const
const PROTOCOLS = ['ucp', 'acp', 'mcp', 'a2a', 'x402'] as const

/** MAST-011…014, 016, 019 and 020: what it costs, whether it can be had, and where. */
export const OFFER_RULES = [
  rule<CatalogueView>(
    {
      code: 'MAST-011',
      severity: 'error',
      why: 'What has no price cannot be bought; what is not for sale has none.',
      spec: microAst('Price'),
      hint: 'Price the product, or one of its variants or offers; take prices off categories and policies.',
      good: [{ id: 'p1', type: 'product', price: { amount: 1999 } }],
      bad: [{ id: 'p1', type: 'product' }],
    },
    ({ error }, view) => {
      const priced = above(view, ({ type, place }) => (type === 'variant' || type === 'offer') && place.has('price'))
      for (const { place, type, id } of view.nodes) {
        const price = place.get('price')
        if ((type === 'category' || type === 'policy') && price.present) error(price, 'stands where nothing is sold')
        if (view.whole && type === 'product' && !price.present && !(id !== null && priced.has(id)))
          error(place, 'has no price, and none below it')
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-012',
      severity: 'both',
      why: 'Prices are compared and charged exactly.',
      spec: microAst('Price'),
      hint: 'Send an integer of minor units: 19.99 USD is 1999.',
      good: { price: { amount: 1999 } },
      bad: { price: { amount: 19.99 } },
    },
    ({ error, warning }, { nodes }) => {
      for (const { place } of nodes) {
        const price = place.get('price')
        if (!optional(error, price, 'object') || price.redacted) continue
        const amount = price.get('amount')
        if (!amount.present) error(amount, 'is missing', { expected: 'an integer of minor units' })
        if (minorUnits(error, amount, { min: 0n }) === 0n) warning(amount, 'is zero')
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-013',
      severity: 'error',
      why: 'A catalogue has one currency, so that prices can be compared.',
      spec: microAst('Price'),
      hint: 'Leave it out, or repeat that of the catalogue.',
      good: { currency: 'USD', nodes: [{ price: { amount: 1, currency: 'USD' } }] },
      bad: { currency: 'USD', nodes: [{ price: { amount: 1, currency: 'EUR' } }] },
    },
    ({ error }, { document, nodes }) => {
      const root = document.get('currency').text()
      for (const { place } of nodes) {
        const currency = place.down('price', 'currency')
        if (!optional(error, currency, 'string') || root === null) continue
        if (currency.text() !== null && currency.text() !== root) error(currency, 'is not the currency of the catalogue')
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-014',
      severity: 'both',
      why: 'An agent must not start to buy what cannot be had.',
      spec: microAst('Node'),
      hint: 'Use the five values, and take the checkout action away while nothing is in stock.',
      good: { availability: 'in_stock' },
      bad: { availability: 'yes' },
    },
    ({ error, warning }, { nodes, actions }) => {
      for (const { place } of nodes) oneOf(error, place.get('availability'), AVAILABILITY)
      for (const { place, node } of actions) {
        const isGone = node.place.get('availability').text() === 'out_of_stock'
        if (isGone && place.get('type').text() === 'checkout') warning(place, 'leads to a checkout of what is out of stock')
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-016',
      severity: 'both',
      why: 'An address outside the domain of the merchant leads to somebody else.',
      spec: microAst('Node'),
      hint: 'Use https addresses of the merchant itself, without a user name.',
      good: { url: 'https://shop.example/p1' },
      bad: { url: 'http://shop.example/p1' },
    },
    (report, view) => {
      for (const { place } of view.nodes) address(report, place.get('url'), view.merchant_host)
      for (const { place } of view.actions) {
        // Whose checkout it is, is for the rule about checkouts to say.
        const isCheckout = place.get('type').text() === 'checkout'
        address(report, place.get('href'), isCheckout ? null : view.merchant_host)
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-019',
      severity: 'error',
      why: 'An agent follows an action by its type, protocol and address.',
      spec: microAst('Actions'),
      hint: 'Give type, href, and the protocol that is spoken there.',
      good: { actions: [{ type: 'checkout', protocol: 'ucp', href: 'https://shop.example/ucp' }] },
      bad: { actions: [{ type: 'buy' }] },
    },
    ({ error }, { nodes, actions }) => {
      for (const { place } of nodes) {
        const list = place.get('actions')
        if (optional(error, list, 'array')) for (const action of list.items()) optional(error, action, 'object')
      }
      for (const { place } of actions) {
        if (need(error, place.get('type'), 'string')) oneOf(error, place.get('type'), ACTIONS)
        oneOf(error, place.get('protocol'), PROTOCOLS)
        need(error, place.get('href'), 'string')
      }
    },
  ),
  rule<CatalogueView>(
    {
      code: 'MAST-020',
      severity: 'warning',
      why: 'An agent pays where the checkout leads.',
      spec: microAst('Actions'),
      hint: 'Name the protocol of the checkout, and let it lead to the merchant.',
      good: { actions: [{ type: 'checkout', protocol: 'ucp', href: 'https://shop.example/ucp' }] },
      bad: { actions: [{ type: 'checkout', href: 'https://other.example' }] },
    },
    ({ warning }, { actions, merchant_host }) => {
      for (const { place } of actions) {
        if (place.get('type').text() !== 'checkout') continue
        const host = hostOf(place.get('href').text())
        if (!place.has('protocol')) warning(place, 'is a checkout that names no protocol')
        else if (merchant_host !== null && host !== null && !isWithin(host, merchant_host))
          warning(place.get('href'), 'leads away from the merchant')
      }
    },
  ),
]

function address({ error, warning }: Report, place: Place, merchant_host: string | null): void {
  const url = httpsUrl(error, place)
  const host = url === null ? null : hostOf(url.href)
  if (host !== null && merchant_host !== null && !isWithin(host, merchant_host)) warning(place, 'leads away from the merchant')
}
