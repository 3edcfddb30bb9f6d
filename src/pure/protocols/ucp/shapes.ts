import { boolean, each, list, number, object, oneOfTexts, text, text_or_null, type Shape } from '../kit/shape.ts'

/**
 * Types of members of responses, from the reference pages of the specification (ucp.dev, read 2026-11-21). Amounts, quantities, times,
 * states and messages are left out: rules of their own hold them.
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
    priority: number,
  },
)

const item = object(each(text, 'id', 'title'), { image_url: text })
const line = object({ item })

const LINK = object(each(text, 'type', 'url'), { title: text })

/** What every response with lines has. */
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

/** Responses that rules hold together; required members come first. */
export const RESPONSES: Readonly<Record<'checkout' | 'cart' | 'order', Shape>> = {
  checkout: object({ ...BASKET, status: text, links: list(LINK) }, EXTRAS),
  cart: object(BASKET, EXTRAS),
  order: object(
    { id: text, checkout_id: text, permalink_url: text, line_items: list(line), fulfillment: object({}), totals: list(object({})) },
    { messages: list(object({})), currency: text, label: text, adjustments: list(adjustment) },
  ),
}

/** What the newest version has of these, as far as its pages show it: types alone, and nothing is asked for. */
const newestInstrument = object({}, { ...each(text, 'id', 'handler_id', 'type'), selected: boolean, display: object({}) })
const newestDiscounts = object({}, { codes: list(text), applied: list(object({}, { ...each(text, 'title', 'code'), automatic: boolean })) })
const newestGroup = object({}, { ...each(text, 'id'), line_item_ids: list(text), options: list(object({}, each(text, 'id', 'title'))) })
const newestMethod = object(
  {},
  { ...each(text, 'id', 'type'), line_item_ids: list(text), destinations: list(object({})), groups: list(newestGroup) },
)
const newestMoves = list(object({}, { ...each(text, 'id', 'type', 'description'), line_items: list(object({}, { id: text })) }))

export const NEWEST_CHECKOUT_FULFILLMENT = object({}, { methods: list(newestMethod), available_methods: list(object({})) })
export const NEWEST_ORDER_FULFILLMENT = object({}, { expectations: newestMoves, events: newestMoves })

const NEWEST = {
  messages: list(object({})),
  buyer,
  context: object({}),
  payment: object({}, { instruments: list(newestInstrument) }),
  discounts: newestDiscounts,
}

/** The same with the members alone whose form has been the same in every version; of the newest, not everything was known. */
export const NEWEST_RESPONSES: typeof RESPONSES = {
  checkout: object({ ...BASKET, status: text, links: list(LINK) }, NEWEST),
  cart: object(BASKET, { ...NEWEST, links: list(LINK) }),
  order: RESPONSES.order,
}

const times = { carrier: text, description: text }
const option = object({ id: text, title: text, totals: list(object({})) }, times)
const group = object({ id: text, line_item_ids: list(text) }, { options: list(option), selected_option_id: text_or_null })
const destination = object({ id: text }, { ...each(text, ...ADDRESS_NAMES, 'name'), address })
const method = object(
  { id: text, line_item_ids: list(text), type: oneOfTexts('shipping', 'pickup') },
  { destinations: list(destination), groups: list(group), selected_destination_id: text_or_null },
)
const availableMethod = object(
  { line_item_ids: list(text), type: oneOfTexts('shipping', 'pickup') },
  { description: text, fulfillable_on: text_or_null },
)

export const CHECKOUT_FULFILLMENT = object({}, { methods: list(method), available_methods: list(availableMethod) })

const expectation = object(
  { id: text, line_items: list(movedLine), method_type: oneOfTexts('shipping', 'pickup', 'digital'), destination: address },
  { description: text, fulfillable_on: text },
)
const event = object({ id: text, type: text, line_items: list(movedLine) }, { ...times, tracking_number: text, tracking_url: text })

export const ORDER_FULFILLMENT = object({}, { expectations: list(expectation), events: list(event) })
