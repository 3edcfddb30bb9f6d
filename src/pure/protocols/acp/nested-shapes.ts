import {
  boolean,
  closed,
  each,
  email,
  form,
  integer,
  known,
  list,
  number,
  object,
  oneOfTexts,
  text,
  uri,
  within,
  type Shape,
} from '../kit/shape.ts'
import { isDate } from '../kit/dates.ts'
import { ORDER_MEMBERS } from './nested-order.ts'
import { ADDRESS, LEAST, TOTAL, TOTALS } from './nested-parts.ts'
import { OLD_LINE_AMOUNTS, type AcpType } from './shape.ts'

/**
 * Members inside the documents of ACP, from the schema of 2026-04-17, read 2026-11-22. What is `known`, and the inside of what is `within`, has
 * rules of its own. Names of older versions are known too, since those rules report them.
 */

const BUYER = within(
  closed(
    {},
    {
      email: known,
      ...each(text, 'first_name', 'last_name', 'full_name', 'phone_number', 'customer_id'),
      account_type: oneOfTexts('guest', 'registered', 'business'),
      authentication_status: oneOfTexts('authenticated', 'guest', 'requires_signin'),
      company: closed({ name: text }, each(text, 'tax_id', 'department', 'cost_center')),
      loyalty: closed({}, { tier: text, points_balance: integer(LEAST), member_since: text }),
      tax_exemption: closed(
        { certificate_id: text, certificate_type: oneOfTexts('resale', 'exempt_organization', 'government') },
        { exempt_regions: list(text), expires_at: text },
      ),
    },
  ),
)

const INTERVENTIONS = ['3ds', 'biometric', 'address_verification'] as const

const HANDLER = within(
  closed(
    {},
    {
      instrument_schemas: within(list(text)),
      ...each(
        known,
        'id',
        'name',
        'version',
        'spec',
        'requires_delegate_payment',
        'requires_pci_compliance',
        'psp',
        'config_schema',
        'config',
      ),
      display_name: text,
      display_order: integer(LEAST),
    },
  ),
)

const CAPABILITIES = within(
  closed(
    {},
    {
      payment: within(closed({}, { handlers: within(list(HANDLER)) })),
      interventions: closed(
        {},
        {
          supported: list(oneOfTexts(...INTERVENTIONS)),
          required: list(oneOfTexts('3ds', 'biometric')),
          enforcement: oneOfTexts('always', 'conditional', 'optional'),
          display_context: oneOfTexts('native', 'webview', 'modal', 'redirect'),
          redirect_context: oneOfTexts('in_app', 'external_browser', 'none'),
          max_redirects: integer(0n),
          max_interaction_depth: integer(1n),
        },
      ),
      extensions: list(known),
    },
  ),
)

/** An extension in a response; requests name it by a text alone. */
export const EXTENSION: Shape = closed({ name: text }, { extends: list(text), ...each(text, 'schema', 'spec') })

const DISCLOSURE = closed({ type: oneOfTexts('disclaimer'), content_type: oneOfTexts('plain', 'markdown'), content: text })

const LINE = within(
  closed(
    {},
    {
      ...each(known, 'id', 'quantity', 'unit_amount', 'fulfillable_on', ...OLD_LINE_AMOUNTS),
      item: within(closed({}, { ...each(known, 'id', 'unit_amount', 'quantity'), name: text })),
      ...each(text, 'name', 'description', 'product_id', 'sku', 'variant_id', 'category', 'tax_exemption_reason', 'parent_id'),
      images: list(uri),
      tags: list(text),
      tax_exempt: boolean,
      totals: TOTALS,
      disclosures: list(DISCLOSURE),
      custom_attributes: list(closed(each(text, 'display_name', 'value'))),
      marketplace_seller_details: closed({ name: text }),
      weight: closed({ value: number, unit: oneOfTexts('g', 'kg', 'oz', 'lb') }),
      dimensions: closed({ ...each(number, 'length', 'width', 'height'), unit: oneOfTexts('cm', 'in') }),
      availability_status: oneOfTexts('in_stock', 'low_stock', 'out_of_stock', 'backorder', 'pre_order'),
      available_quantity: integer(0n),
      max_quantity_per_order: integer(1n),
      variant_options: list(closed(each(text, 'name', 'value'))),
      discount_details: list(
        closed(
          { type: oneOfTexts('percentage', 'fixed', 'bogo', 'volume'), amount: known },
          { ...each(text, 'code', 'description'), source: oneOfTexts('coupon', 'automatic', 'loyalty') },
        ),
      ),
    },
  ),
)

const DETAILS = closed({}, { ...each(text, 'name', 'phone_number'), email, address: ADDRESS })

const OPTION = { ...each(known, 'type', 'id', 'title', 'subtotal', 'tax', 'total'), description: text, totals: TOTALS }

/** Ways of delivery, by their type. */
export const OPTIONS: ReadonlyMap<string, Shape> = new Map([
  ['shipping', closed({}, { ...OPTION, carrier: text, ...each(known, 'earliest_delivery_time', 'latest_delivery_time') })],
  ['digital', closed({}, OPTION)],
  [
    'pickup',
    closed(
      { location: closed({ name: text, address: ADDRESS }, each(text, 'phone', 'instructions')) },
      { ...OPTION, pickup_type: oneOfTexts('in_store', 'curbside', 'locker'), ...each(known, 'ready_by', 'pickup_by') },
    ),
  ],
  [
    'local_delivery',
    closed(
      {},
      {
        ...OPTION,
        delivery_window: closed(each(known, 'start', 'end')),
        service_area: closed({}, { radius_miles: number, center_postal_code: text }),
      },
    ),
  ],
])

const WAYS = ['shipping', 'digital', 'pickup', 'local_delivery'] as const

const SELECTED = within(
  closed(
    {},
    { ...each(known, 'type', 'option_id'), item_ids: within(list(text)), ...each(object({}, { item_ids: within(list(text)) }), ...WAYS) },
  ),
)

const GROUP = closed(
  { id: text, item_ids: list(text), destination_type: oneOfTexts(...WAYS) },
  { fulfillment_details: DETAILS, ...each(text, 'location_id', 'instructions') },
)

const MESSAGE = within(
  closed(
    {},
    {
      ...each(known, 'type', 'code', 'param', 'content_type', 'content'),
      severity: oneOfTexts('info', 'low', 'medium', 'high', 'critical'),
      resolution: oneOfTexts('recoverable', 'requires_buyer_input', 'requires_buyer_review'),
    },
  ),
)

const COUPON = within(
  closed(
    {},
    {
      ...each(known, 'id', 'name', 'percent_off', 'amount_off'),
      currency: text,
      duration: oneOfTexts('once', 'repeating', 'forever'),
      duration_in_months: integer(1n),
      max_redemptions: integer(1n),
      times_redeemed: integer(0n),
      metadata: object({}),
    },
  ),
)

const APPLIED = within(
  closed(
    {},
    {
      ...each(known, 'id', 'amount', 'start', 'end'),
      code: text,
      coupon: COUPON,
      automatic: boolean,
      method: oneOfTexts('each', 'across'),
      priority: integer(1n),
      allocations: list(within(closed({}, each(known, 'path', 'amount')))),
    },
  ),
)

const ACQUIRER = within(
  closed({}, { ...each(known, 'acquirer_bin', 'acquirer_country', 'acquirer_merchant_id', 'merchant_name'), requestor_id: text }),
)

const FLOW = closed(
  { type: oneOfTexts('challenge', 'frictionless') },
  { challenge: closed({}, { type: oneOfTexts('mandated', 'preferred') }), frictionless: closed({}, { type: oneOfTexts('low_risk') }) },
)

/** A card that is handed to its vault. */
const CARD = object(
  {},
  {
    ...each(text, 'type', 'card_number_type', 'number', 'exp_month', 'exp_year', 'name', 'cvc', 'cryptogram', 'eci_value', 'iin'),
    ...each(text, 'display_card_funding_type', 'display_wallet_type', 'display_brand', 'display_last4'),
    checks_performed: list(text),
    metadata: object({}),
    virtual: boolean,
  },
)

const day = form((found) => (isDate(found) ? null : 'is not a day of the calendar'), 'a day, such as 2026-04-17')
const lower_case_code = form(
  (found) => (/^[a-z]{3}$/.test(found) ? null : 'is not a currency code in lower case'),
  'three lower-case letters, such as usd',
)

/** Members of the product feed, from schema.feed.json of 2026-04-17. Currencies have a rule of their own. */
const description = closed({}, each(text, 'plain', 'html', 'markdown'))
const PRICE = closed({ amount: known }, { currency: known })
const MEDIA = closed({ type: text, url: uri }, { alt_text: text, ...each(integer(LEAST), 'width', 'height') })
const SELLER = closed({}, { name: text, links: list(closed({ type: text, url: uri }, { title: text })) })

const VARIANT = within(
  closed(
    {},
    {
      ...each(known, 'id', 'title'),
      description,
      url: uri,
      barcodes: list(closed(each(text, 'type', 'value'))),
      ...each(PRICE, 'price', 'list_price'),
      unit_price: closed(
        {
          amount: known,
          measure: closed({ value: number, unit: text }),
          reference: closed({ value: integer(LEAST), unit: text }),
        },
        { currency: known },
      ),
      availability: closed({}, { available: boolean, status: text }),
      categories: list(closed({ value: text }, { taxonomy: text })),
      condition: list(text),
      variant_options: list(closed(each(text, 'name', 'value'))),
      media: list(MEDIA),
      ...each(SELLER, 'seller', 'marketplace'),
    },
  ),
)

const FEED_PRODUCT = object({}, { title: text, description, url: uri, media: list(MEDIA), variants: within(list(VARIANT)) })

/** Members of whole documents; what else stands at their top, other rules know. */
export const DOCUMENTS: Readonly<Record<AcpType, Shape>> = {
  checkout_session: object(
    {},
    {
      protocol: closed({ version: known }),
      capabilities: CAPABILITIES,
      buyer: BUYER,
      ...each(text, 'locale', 'timezone', 'continue_url', 'quote_id'),
      line_items: within(list(LINE)),
      fulfillment_details: DETAILS,
      selected_fulfillment_options: within(list(SELECTED)),
      fulfillment_groups: within(list(GROUP)),
      totals: TOTALS,
      messages: within(list(MESSAGE)),
      links: within(list(within(closed({}, { ...each(known, 'type', 'url'), title: text })))),
      authentication_metadata: within(object({}, { acquirer_details: ACQUIRER, flow_preference: FLOW })),
      metadata: object({}),
      discounts: closed(
        {},
        {
          codes: list(text),
          applied: list(APPLIED),
          rejected: list(within(closed({}, { ...each(known, 'code', 'reason'), message: text }))),
        },
      ),
      marketing_consent_options: list(closed(each(text, 'channel', 'display_text', 'privacy_policy_url'), { is_subscribed: boolean })),
      order: within(closed({}, { ...ORDER_MEMBERS, totals: TOTALS })),
    },
  ),
  order: object({}, { ...ORDER_MEMBERS, totals: list(TOTAL) }),
  discovery: object(
    {},
    {
      protocol: within(closed({}, { ...each(known, 'name', 'version', 'supported_versions', 'merchant_id'), documentation_url: text })),
      capabilities: within(
        closed(
          {},
          {
            ...each(known, 'services', 'merchant_id'),
            extensions: list(closed({ name: text }, each(text, 'spec', 'schema'))),
            intervention_types: list(oneOfTexts(...INTERVENTIONS)),
            supported_currencies: list(lower_case_code),
            supported_locales: list(text),
          },
        ),
      ),
    },
  ),
  error: object({}, { param: text, supported_versions: list(day) }),
  allowance: object(
    {},
    {
      payment_method: CARD,
      risk_signals: list(object({}, { ...each(text, 'type', 'action'), score: integer(LEAST) })),
      metadata: object({}),
    },
  ),
  feed_product: FEED_PRODUCT,
}
