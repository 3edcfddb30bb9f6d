import { known, boolean, each, list, number, object, text, uri } from '../kit/shape.ts'

/** Products and their variants, from the schemas of the catalogue (ucp.dev, read 2026-11-22). Amounts have a rule of their own. */

const description = object({}, each(text, 'plain', 'html', 'markdown'))
const PRICE = object({ amount: known, currency: text })
const RANGE = object({ min: PRICE, max: PRICE })

const SHOWN = {
  handle: text,
  url: uri,
  categories: list(object({}, each(text, 'value', 'taxonomy'))),
  media: list(object({}, { ...each(text, 'type', 'alt_text'), url: uri })),
  rating: object({}, { ...each(number, 'value', 'scale_max', 'count') }),
  tags: list(text),
  metadata: object({}),
}

const variant = object(
  { ...each(text, 'id', 'title'), description, price: PRICE },
  {
    ...SHOWN,
    sku: text,
    list_price: PRICE,
    barcodes: list(object(each(text, 'type', 'value'))),
    condition: known,
    unit_price: object({}, { amount: known, currency: text }),
    availability: object({}, { available: boolean, status: text }),
    options: list(object({}, each(text, 'name', 'label'))),
    seller: object({}, { name: text, links: list(object({})) }),
  },
)

const product = object(
  { ...each(text, 'id', 'title'), description, price_range: RANGE, variants: list(variant) },
  {
    ...SHOWN,
    brand: text,
    list_price_range: RANGE,
    options: list(object({}, { name: text, values: list(object({}, { label: text, available: boolean, exists: boolean })) })),
  },
)

export const CATALOG = object(
  {},
  {
    products: list(product),
    product,
    pagination: object({}, { ...each(number, 'total_count'), has_next_page: boolean }),
  },
)
