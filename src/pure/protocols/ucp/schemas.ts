import { boolean, each, integer, list, object, oneOfTexts, text, uri, type JsonShape, anyValue, number } from '../kit/shape.ts'

const textOrNull: JsonShape = { kind: 'text_or_null' }

/**
 * Types of members of responses, from the reference pages of the specification (ucp.dev, read 2026-11-21). Amounts, quantities, times,
 * states and messages are not listed: separate rules check them.
 */

const ADDRESS_NAMES = [
  'address_country',
  'address_locality',
  'address_region',
  'extended_address',
  'first_name',
  'last_name',
  'phone_number',
  'postal_code',
  'street_address',
]
const address = object({}, each(text, ...ADDRESS_NAMES))

const consent = object({}, each(boolean, 'analytics', 'marketing', 'preferences', 'sale_of_data'))
const buyer = object({}, { ...each(text, 'email', 'first_name', 'last_name', 'phone_number'), consent })
const context = object(
  {},
  { ...each(text, 'address_country', 'address_region', 'currency', 'intent', 'language', 'postal_code'), eligibility: list(text) },
)
const instrument = object(each(text, 'id', 'handler_id', 'type'), {
  billing_address: address,
  credential: object({ type: text }),
  display: object({}),
  selected: boolean,
})
const allocation = object({ path: text })
const discount = object(
  { title: text },
  {
    allocations: list(allocation),
    ...each(boolean, 'automatic', 'provisional'),
    ...each(text, 'code', 'eligibility'),
    method: oneOfTexts('across', 'each'),
    priority: integer(1n),
  },
)

const item = object(each(text, 'id', 'title'), { image_url: uri })
const line = object({ item })

const LINK = object({ type: text, url: uri }, { title: text })

/** Members of every response with lines. */
const BASKET = { id: text, line_items: list(line), currency: text, totals: list(object({})) }

const EXTRAS = {
  messages: list(object({})),
  links: list(LINK),
  buyer,
  context,
  signals: object({}, each(text, 'dev.ucp.buyer_ip', 'dev.ucp.user_agent')),
  discounts: object({}, { applied: list(discount), codes: list(text) }),
  payment: object({}, { instruments: list(instrument) }),
}

const movedLine = object({ id: text })
const adjustment = object(
  { id: text, type: text, status: oneOfTexts('completed', 'failed', 'pending') },
  { description: text, line_items: list(movedLine), totals: list(object({})) },
)

const order = object(
  { id: text, checkout_id: text, permalink_url: uri, line_items: list(line), fulfillment: object({}), totals: list(object({})) },
  { messages: list(object({})), currency: text, label: text, adjustments: list(adjustment) },
)

// The newest version, from the schemas of three days before its release. Open sets, such as delivery methods, are open here.
const newestInstrument = object(each(text, 'id', 'handler_id', 'type'), {
  billing_address: address,
  credential: object({ type: text }),
  selected: boolean,
  display: object({}, { ...each(text, 'brand', 'last_digits', 'description'), card_art: uri }),
})
const newestOption = object({ id: text, title: text, totals: list(object({})) }, { carrier: text, description: anyValue })
/** Its schema asks for an object, and its published examples have a text. */
export const OPTION_DESCRIPTION = object({}, each(text, 'plain', 'html', 'markdown'))
const newestGroup = object({ id: text, line_item_ids: list(text) }, { options: list(newestOption), selected_option_id: textOrNull })
const newestDestination = object({ id: text, type: text }, each(text, ...ADDRESS_NAMES))
const newestMethod = object(
  { id: text, type: text, line_item_ids: list(text) },
  { destinations: list(newestDestination), groups: list(newestGroup), selected_destination_id: textOrNull },
)
const newestAvailable = object({ type: text, line_item_ids: list(text) }, { description: text, fulfillable_on: textOrNull })

const newestContext = object(
  {},
  {
    ...each(text, 'address_country', 'address_region', 'postal_code', 'location', 'intent', 'language', 'currency'),
    eligibility: list(text),
  },
)

const NEWEST = {
  messages: list(object({})),
  buyer,
  context: newestContext,
  payment: object({}, { instruments: list(newestInstrument) }),
  discounts: object({}, { codes: list(text), applied: list(discount) }),
}

const times = { carrier: text, description: text }
const option = object({ id: text, title: text, totals: list(object({})) }, times)
const group = object({ id: text, line_item_ids: list(text) }, { options: list(option), selected_option_id: textOrNull })
const destination = object({ id: text }, { ...each(text, ...ADDRESS_NAMES, 'name'), address })
const method = object(
  { id: text, line_item_ids: list(text), type: oneOfTexts('shipping', 'pickup') },
  { destinations: list(destination), groups: list(group), selected_destination_id: textOrNull },
)
const availableMethod = object(
  { line_item_ids: list(text), type: oneOfTexts('shipping', 'pickup') },
  { description: text, fulfillable_on: textOrNull },
)

const expectation = object(
  { id: text, line_items: list(movedLine), method_type: oneOfTexts('shipping', 'pickup', 'digital'), destination: address },
  { description: text, fulfillable_on: text },
)
const event = object({ id: text, type: text, line_items: list(movedLine) }, { ...times, tracking_number: text, tracking_url: uri })

/** The newest version leaves the ways of delivery open, so any text names one. */
const newestExpectation = object(
  { id: text, line_items: list(movedLine), method_type: text, destination: address },
  { description: text, fulfillable_on: text },
)

/** Shapes of responses and of `fulfillment` in them; required members come first. */
interface ResponseShapes {
  checkout: JsonShape
  cart: JsonShape
  order: JsonShape
  checkout_fulfillment: JsonShape
  order_fulfillment: JsonShape
}

const EARLIER_SHAPES: ResponseShapes = {
  checkout: object({ ...BASKET, status: text, links: list(LINK) }, EXTRAS),
  cart: object(BASKET, EXTRAS),
  order,
  checkout_fulfillment: object({}, { methods: list(method), available_methods: list(availableMethod) }),
  order_fulfillment: object({}, { expectations: list(expectation), events: list(event) }),
}

const NEWEST_SHAPES: ResponseShapes = {
  checkout: object({ ...BASKET, status: text, links: list(LINK) }, NEWEST),
  cart: object(BASKET, { ...NEWEST, links: list(LINK) }),
  order,
  checkout_fulfillment: object({}, { methods: list(newestMethod), available_methods: list(newestAvailable) }),
  order_fulfillment: object({}, { expectations: list(newestExpectation), events: list(event) }),
}

export function responseShapes(is_newest_version: boolean): ResponseShapes {
  return is_newest_version ? NEWEST_SHAPES : EARLIER_SHAPES
}

/** Products and variants, from the catalogue schemas (ucp.dev, read 2026-11-22). UCP-030 checks the amounts. */

const description = object({}, each(text, 'plain', 'html', 'markdown'))
const CATALOG_PRICE = object({ amount: anyValue, currency: text })
const RANGE = object({ min: CATALOG_PRICE, max: CATALOG_PRICE })

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
  { ...each(text, 'id', 'title'), description, price: CATALOG_PRICE },
  {
    ...SHOWN,
    sku: text,
    list_price: CATALOG_PRICE,
    barcodes: list(object(each(text, 'type', 'value'))),
    condition: anyValue,
    unit_price: object({}, { amount: anyValue, currency: text }),
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
