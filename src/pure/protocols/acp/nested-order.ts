import { known, boolean, closed, each, integer, list, object, oneOfTexts, text } from '../kit/shape.ts'
import { ADDRESS, TOTALS } from './nested-parts.ts'

/**
 * What became of a session: an order that stands alone, or in it; see nested-shapes.ts. The schema of 2026-04-17 was changed in place after its
 * release (pull request 232 of 2026-04-23): names and values of either revision are right.
 */

const ESTIMATE = closed(each(known, 'earliest', 'latest'))
const REFERENCES = list(closed({ id: text, quantity: integer(1n) }))

const ORDER_LINE = closed(
  { id: text, title: text, quantity: closed({ ordered: integer(1n) }, each(integer(0n), 'shipped', 'current', 'fulfilled')) },
  {
    ...each(text, 'product_id', 'description', 'image_url', 'url'),
    ...each(known, 'unit_price', 'subtotal'),
    totals: TOTALS,
    status: oneOfTexts('processing', 'partial', 'shipped', 'delivered', 'canceled', 'fulfilled', 'removed'),
  },
)

const ENDED = ['failed_attempt', 'returned', 'returned_to_sender', 'canceled', 'undeliverable'] as const

const ON_THE_WAY = ['shipped', 'in_transit', 'out_for_delivery', 'ready_for_pickup', 'delivered'] as const

const FULFILLMENT = closed(
  { id: text, type: oneOfTexts('shipping', 'pickup', 'digital') },
  {
    status: oneOfTexts('pending', 'processing', ...ON_THE_WAY, 'failed', 'canceled'),
    line_items: REFERENCES,
    ...each(text, 'carrier', 'tracking_number', 'tracking_url', 'description'),
    destination: ADDRESS,
    estimated_delivery: ESTIMATE,
    digital_delivery: object({}, each(text, 'access_url', 'license_key', 'expires_at')),
    events: list(
      closed(
        { id: text, type: oneOfTexts('processing', ...ON_THE_WAY, ...ENDED), occurred_at: known },
        each(text, 'description', 'location'),
      ),
    ),
  },
)

const FIRST_CHANGES = ['refund', 'partial_refund', 'store_credit', 'return', 'exchange', 'cancellation', 'dispute', 'chargeback'] as const
const CHANGES = [...FIRST_CHANGES, 'credit', 'price_adjustment'] as const

const ADJUSTMENT = closed(
  { id: text, type: oneOfTexts(...CHANGES), occurred_at: known, status: oneOfTexts('pending', 'completed', 'failed') },
  { line_items: REFERENCES, amount: known, ...each(text, 'currency', 'description', 'reason') },
)

export const ORDER_MEMBERS = {
  ...each(known, 'id', 'checkout_session_id', 'permalink_url'),
  ...each(text, 'order_number', 'client_reference_id'),
  type: oneOfTexts('order'),
  status: oneOfTexts('created', 'confirmed', 'manual_review', 'processing', 'shipped', 'delivered', 'completed', 'canceled'),
  estimated_delivery: ESTIMATE,
  confirmation: closed(
    {},
    { ...each(text, 'confirmation_number', 'receipt_url', 'invoice_number', 'order_notes'), confirmation_email_sent: boolean },
  ),
  support: closed({}, each(text, 'email', 'phone', 'hours', 'help_center_url')),
  line_items: list(ORDER_LINE),
  fulfillments: list(FULFILLMENT),
  adjustments: list(ADJUSTMENT),
}

const OLD_STATUSES = ['created', 'manual_review', 'confirmed', 'canceled', 'shipped', 'fulfilled'] as const

/** What events up to 2026-01-30 tell of an order, from the OpenAPI document of its webhooks, read 2026-11-22. */
export const EVENT_ORDER = closed(
  {
    ...each(known, 'type', 'checkout_session_id', 'permalink_url'),
    status: oneOfTexts(...OLD_STATUSES),
    refunds: list(closed({ type: oneOfTexts('store_credit', 'original_payment'), amount: integer(0n) })),
  },
  {},
)
