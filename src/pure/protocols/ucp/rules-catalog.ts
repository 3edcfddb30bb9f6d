import { textForm } from '../kit/expect.ts'
import { expectShape } from '../kit/shape.ts'
import type { Place } from '../place.ts'
import { rule } from '../rule.ts'
import { CATALOG } from './shapes-catalog.ts'
import { objects, type UcpView } from './view.ts'

/** UCP-046: what a catalogue lists. */
export const CATALOG_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-046',
      severity: 'both',
      types: ['catalog'],
      since: '2026-04-08',
      why: 'Platforms show products by these members, and buy a variant by its id at its price.',
      spec: { url: 'https://ucp.dev/2026-04-08/specification/catalog/', section: 'Product' },
      hint: 'Send id, title, description, price_range and at least one variant with each product; prices with amount and currency.',
      hint_by_case: true,
      good: { products: [{ id: 'prod_1', variants: [{ id: 'sku_1', price: { amount: 1250, currency: 'USD' } }] }] },
      bad: { products: [{ id: 'prod_1', variants: [] }] },
    },
    ({ error, warning }, { body }) => {
      expectShape(error, body, CATALOG)
      for (const product of [...objects(body.get('products')), body.get('product')]) {
        const variants = product.get('variants')
        for (const place of [product, ...objects(variants)].map((one) => one.get('description')))
          if (place.kind === 'object' && place.members().length === 0) error(place, 'is empty', { expected: 'plain, html or markdown' })
        if (variants.kind === 'array' && variants.items().length === 0) error(variants, 'is empty', { expected: 'at least one variant' })
        const prices = [...rangesOf(product).flat(), ...objects(variants).flatMap((one) => [one.get('price'), one.get('list_price')])]
        for (const price of prices)
          textForm(error, price.get('currency'), { pattern: /^[A-Z]{3}$/, expected: 'an ISO 4217 code such as USD' })
        for (const [min, max] of rangesOf(product)) {
          const [least, most] = [min.get('amount').integer(), max.get('amount').integer()]
          if (least !== null && most !== null && least > most) warning(min, 'is more than max')
        }
      }
    },
  ),
]

function rangesOf(product: Place): [Place, Place][] {
  return ['price_range', 'list_price_range'].map((name) => [product.down(name, 'min'), product.down(name, 'max')])
}
