import { address, total } from './acp-clean-parts.ts'

/** Right orders of ACP. */

export const order = {
  type: 'order',
  id: 'o_1',
  checkout_session_id: 'cs_1',
  permalink_url: 'https://shop.example.com/orders/o_1',
  status: 'shipped',
  line_items: [{ id: 'li_1', title: 'Wool blanket', quantity: { ordered: 2, shipped: 2 }, unit_price: 2000, subtotal: 4000 }],
  fulfillments: [
    {
      id: 'f_1',
      type: 'shipping',
      status: 'in_transit',
      line_items: [{ id: 'li_1', quantity: 2 }],
      destination: address,
      estimated_delivery: { earliest: '2026-11-24T00:00:00Z', latest: '2026-11-26T00:00:00Z' },
      events: [{ id: 'e_1', type: 'shipped', occurred_at: '2026-11-22T09:00:00Z' }],
    },
  ],
  adjustments: [{ id: 'a_1', type: 'refund', occurred_at: '2026-11-28T09:00:00Z', status: 'completed', amount: 500, currency: 'usd' }],
  totals: [total('subtotal', 4000), total('tax', 320), total('total', 4320), total('amount_refunded', 500)],
}
/** Names and values that pull request 232 put into the schema of 2026-04-17. */
export const revised_order = {
  ...order,
  status: 'completed',
  line_items: [{ id: 'li_1', title: 'Wool blanket', quantity: { ordered: 2, current: 1, fulfilled: 1 }, status: 'fulfilled' }],
  fulfillments: [{ id: 'f_1', type: 'pickup', events: [{ id: 'e_1', type: 'undeliverable', occurred_at: '2026-11-22T09:00:00Z' }] }],
  adjustments: [{ id: 'a_1', type: 'price_adjustment', occurred_at: '2026-11-28T09:00:00Z', status: 'completed' }],
}
/** What an event up to 2026-01-30 tells. */
export const event_order = {
  type: 'order',
  checkout_session_id: 'cs_1',
  permalink_url: 'https://shop.example.com/orders/o_1',
  status: 'fulfilled',
  refunds: [{ type: 'store_credit', amount: 500 }],
}
