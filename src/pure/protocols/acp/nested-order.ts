import { known, boolean, closed, each, integer, list, object, oneOfTexts, text } from '../kit/shape.ts'
import { ADDRESS, TOTALS } from './nested-parts.ts'

/** What became of a session: an order that stands alone, or in it; see nested-shapes.ts. */

const ESTIMATE = closed(each(known, 'earliest', 'latest'))
const REFERENCES = list(closed({ id: text, quantity: integer(1n) }))

const ORDER_LINE = closed(
  { id: text, title: text, quantity: closed({ ordered: integer(1n) }, { shipped: integer(0n) }) },
  {
    ...each(text, 'product_id', 'description', 'image_url', 'url'),
    ...each(known, 'unit_price', 'subtotal'),
    totals: TOTALS,
    status: oneOfTexts('processing', 'partial', 'shipped', 'delivered', 'canceled'),
  },
)

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
        { id: text, type: oneOfTexts('processing', ...ON_THE_WAY, 'failed_attempt', 'returned'), occurred_at: known },
        each(text, 'description', 'location'),
      ),
    ),
  },
)

const CHANGES = ['refund', 'partial_refund', 'store_credit', 'return', 'exchange', 'cancellation', 'dispute', 'chargeback'] as const

const ADJUSTMENT = closed(
  { id: text, type: oneOfTexts(...CHANGES), occurred_at: known, status: oneOfTexts('pending', 'completed', 'failed') },
  { line_items: REFERENCES, amount: known, ...each(text, 'currency', 'description', 'reason') },
)

export const ORDER_MEMBERS = {
  ...each(known, 'id', 'checkout_session_id', 'permalink_url'),
  ...each(text, 'order_number', 'client_reference_id'),
  type: oneOfTexts('order'),
  status: oneOfTexts('created', 'confirmed', 'manual_review', 'processing', 'shipped', 'delivered', 'canceled'),
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
