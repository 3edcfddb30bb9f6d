import {
  boolean,
  closed,
  each,
  email,
  integer,
  known,
  list,
  object,
  oneOfTexts,
  text,
  uri,
  within,
  type Members,
  type Shape,
} from '../kit/shape.ts'
import { LEAST } from './nested-parts.ts'
import { OLD_LINE_AMOUNTS, type AcpVersion } from './shape.ts'

/**
 * Sessions up to 2026-01-16, from the schemas of these versions, which are closed to their last member. Members of newer versions are `known`
 * here: ACP-007 and ACP-015 report them.
 */

const ADDRESS = within(closed({}, { ...each(known, 'name', 'line_one', 'city', 'state', 'country', 'postal_code'), line_two: text }))
const TOTAL = within(closed({}, { ...each(known, 'type', 'display_text', 'amount'), description: text }))
const TOTALS = within(list(TOTAL))
const DISCLOSURE = closed({ type: oneOfTexts('disclaimer'), content_type: oneOfTexts('plain', 'markdown'), content: text })

const LINE = within(
  closed(
    {},
    {
      ...each(known, 'id', 'quantity', 'totals', ...OLD_LINE_AMOUNTS),
      item: within(closed({}, each(known, 'id', 'quantity', 'name', 'unit_amount'))),
      ...each(text, 'name', 'description'),
      unit_amount: integer(LEAST),
      images: list(uri),
      disclosures: list(DISCLOSURE),
      custom_attributes: list(closed(each(text, 'display_name', 'value'))),
      marketplace_seller_details: closed({ name: text }),
    },
  ),
)

const OPTION: Members = {
  ...each(known, 'type', 'id', 'title', 'subtotal', 'tax', 'total'),
  ...each(text, 'subtitle', 'description', 'carrier'),
  ...each(known, 'earliest_delivery_time', 'latest_delivery_time'),
  totals: TOTALS,
}

const CHOICE = within(closed({}, { option_id: known, item_ids: within(list(text)) }))
const SELECTED = within(
  closed({}, { ...each(known, 'type', 'option_id'), item_ids: within(list(text)), ...each(CHOICE, 'shipping', 'digital') }),
)

const CARD = closed({
  type: oneOfTexts('card'),
  supported_card_networks: list(oneOfTexts('amex', 'discover', 'mastercard', 'visa')),
})

const BROWSER = closed(each(text, 'accept_header', 'ip_address', 'language', 'user_agent'), {
  ...each(boolean, 'javascript_enabled', 'java_enabled'),
  ...each(integer(LEAST), 'color_depth', 'screen_height', 'screen_width', 'timezone_offset'),
})

function oldSession(methods: Shape, provider: Members, more: Members = {}): Shape {
  return object(
    {},
    {
      buyer: within(closed({}, { ...each(text, 'first_name', 'last_name', 'phone_number'), email })),
      payment_provider: closed({ ...provider, supported_payment_methods: list(methods) }, more),
      authentication_provider: closed({
        provider: oneOfTexts('stripe', 'adyen'),
        merchant_id: text,
        supported_authentication_methods: list(oneOfTexts('3ds')),
      }),
      fulfillment_address: ADDRESS,
      fulfillment_option_id: text,
      fulfillment_details: closed({}, { ...each(text, 'name', 'phone_number'), email, address: ADDRESS }),
      line_items: within(list(LINE)),
      fulfillment_options: within(list(within(closed({}, OPTION)))),
      selected_fulfillment_options: within(list(SELECTED)),
      totals: TOTALS,
      messages: within(list(within(closed({}, each(known, 'type', 'code', 'param', 'content_type', 'content', 'severity', 'resolution'))))),
      links: within(list(within(closed({}, each(known, 'type', 'url', 'title'))))),
      authentication_metadata: within(object({}, { channel: closed({ type: oneOfTexts('browser'), browser: BROWSER }) })),
      order: within(closed({}, each(known, 'id', 'checkout_session_id', 'permalink_url'))),
    },
  )
}

/** Sessions by version. ACP-034 looks at the provider of 2026-01-16 more closely. */
export const OLD_SESSIONS: Readonly<Partial<Record<AcpVersion, Shape>>> = {
  '2025-09-29': oldSession(oneOfTexts('card'), { provider: oneOfTexts('stripe') }),
  '2025-12-12': oldSession(CARD, { provider: oneOfTexts('stripe') }),
  '2026-01-16': oldSession(CARD, {}, each(known, 'provider', 'merchant_id')),
}
