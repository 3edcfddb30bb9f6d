import { anyValue, boolean, closed, contentsOf, each, email, integer, list, number } from '../kit/shape.ts'
import { object, oneOfTexts, text, textWith, uri, type JsonShape, type ShapeMembers } from '../kit/shape.ts'
import { isDate } from '../kit/dates.ts'
import { OLD_LINE_AMOUNTS, type AcpType, type AcpVersion } from './versions.ts'

/**
 * Members inside the documents of ACP, from the schema of 2026-04-17, read 2026-11-22. Other rules check members that are `anyValue` here, and the
 * array or object itself where its contents are `contentsOf`. Names of older versions are `anyValue` too: ACP-007 and ACP-015 report them.
 */

/** Smallest integer that a member without a minimum may have. */
const LEAST = -(2n ** 53n)

const ADDRESS = contentsOf(
  closed({}, { ...each(anyValue, 'name', 'line_one', 'city', 'state', 'country', 'postal_code'), ...each(text, 'line_two', 'company') }),
)

const TOTAL = contentsOf(
  closed(
    {},
    {
      ...each(anyValue, 'type', 'display_text', 'amount', 'presentment_amount'),
      description: text,
      breakdown: list(closed({ jurisdiction: text, rate: number, amount: anyValue })),
    },
  ),
)
const TOTALS = contentsOf(list(TOTAL))

// Orders: the schema of 2026-04-17 was changed in place after its release (pull request 232 of 2026-04-23); both revisions are accepted.
const ESTIMATE = closed(each(anyValue, 'earliest', 'latest'))
const REFERENCES = list(closed({ id: text, quantity: integer(1n) }))

const ORDER_LINE = closed(
  { id: text, title: text, quantity: closed({ ordered: integer(1n) }, each(integer(0n), 'shipped', 'current', 'fulfilled')) },
  {
    ...each(text, 'product_id', 'description', 'image_url', 'url'),
    ...each(anyValue, 'unit_price', 'subtotal'),
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
        { id: text, type: oneOfTexts('processing', ...ON_THE_WAY, ...ENDED), occurred_at: anyValue },
        each(text, 'description', 'location'),
      ),
    ),
  },
)

const FIRST_CHANGES = ['refund', 'partial_refund', 'store_credit', 'return', 'exchange', 'cancellation', 'dispute', 'chargeback'] as const
const CHANGES = [...FIRST_CHANGES, 'credit', 'price_adjustment'] as const

const ADJUSTMENT = closed(
  { id: text, type: oneOfTexts(...CHANGES), occurred_at: anyValue, status: oneOfTexts('pending', 'completed', 'failed') },
  { line_items: REFERENCES, amount: anyValue, ...each(text, 'currency', 'description', 'reason') },
)

const ORDER_MEMBERS = {
  ...each(anyValue, 'id', 'checkout_session_id', 'permalink_url'),
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

/** Orders in webhook events up to 2026-01-30, from the OpenAPI document of the webhooks, read 2026-11-22. */
export const EVENT_ORDER = closed(
  {
    ...each(anyValue, 'type', 'checkout_session_id', 'permalink_url'),
    status: oneOfTexts(...OLD_STATUSES),
    refunds: list(closed({ type: oneOfTexts('store_credit', 'original_payment'), amount: integer(0n) })),
  },
  {},
)

const BUYER = contentsOf(
  closed(
    {},
    {
      email: anyValue,
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

const HANDLER = contentsOf(
  closed(
    {},
    {
      instrument_schemas: contentsOf(list(text)),
      ...each(
        anyValue,
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

const CAPABILITIES = contentsOf(
  closed(
    {},
    {
      payment: contentsOf(closed({}, { handlers: contentsOf(list(HANDLER)) })),
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
      extensions: list(anyValue),
    },
  ),
)

/** An extension in a response; requests name it by a text alone. */
export const EXTENSION: JsonShape = closed({ name: text }, { extends: list(text), ...each(text, 'schema', 'spec') })

const DISCLOSURE = closed({ type: oneOfTexts('disclaimer'), content_type: oneOfTexts('plain', 'markdown'), content: text })

const LINE = contentsOf(
  closed(
    {},
    {
      ...each(anyValue, 'id', 'quantity', 'unit_amount', 'fulfillable_on', ...OLD_LINE_AMOUNTS),
      item: contentsOf(closed({}, { ...each(anyValue, 'id', 'unit_amount', 'quantity'), name: text })),
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
          { type: oneOfTexts('percentage', 'fixed', 'bogo', 'volume'), amount: anyValue },
          { ...each(text, 'code', 'description'), source: oneOfTexts('coupon', 'automatic', 'loyalty') },
        ),
      ),
    },
  ),
)

const DETAILS = closed({}, { ...each(text, 'name', 'phone_number'), email, address: ADDRESS })

const OPTION = { ...each(anyValue, 'type', 'id', 'title', 'subtotal', 'tax', 'total'), description: text, totals: TOTALS }

/** Ways of delivery, by their type. */
export const OPTIONS: ReadonlyMap<string, JsonShape> = new Map([
  ['shipping', closed({}, { ...OPTION, carrier: text, ...each(anyValue, 'earliest_delivery_time', 'latest_delivery_time') })],
  ['digital', closed({}, OPTION)],
  [
    'pickup',
    closed(
      { location: closed({ name: text, address: ADDRESS }, each(text, 'phone', 'instructions')) },
      { ...OPTION, pickup_type: oneOfTexts('in_store', 'curbside', 'locker'), ...each(anyValue, 'ready_by', 'pickup_by') },
    ),
  ],
  [
    'local_delivery',
    closed(
      {},
      {
        ...OPTION,
        delivery_window: closed(each(anyValue, 'start', 'end')),
        service_area: closed({}, { radius_miles: number, center_postal_code: text }),
      },
    ),
  ],
])

const WAYS = ['shipping', 'digital', 'pickup', 'local_delivery'] as const

const SELECTED = contentsOf(
  closed(
    {},
    {
      ...each(anyValue, 'type', 'option_id'),
      item_ids: contentsOf(list(text)),
      ...each(object({}, { item_ids: contentsOf(list(text)) }), ...WAYS),
    },
  ),
)

const GROUP = closed(
  { id: text, item_ids: list(text), destination_type: oneOfTexts(...WAYS) },
  { fulfillment_details: DETAILS, ...each(text, 'location_id', 'instructions') },
)

const MESSAGE = contentsOf(
  closed(
    {},
    {
      ...each(anyValue, 'type', 'code', 'param', 'content_type', 'content'),
      severity: oneOfTexts('info', 'low', 'medium', 'high', 'critical'),
      resolution: oneOfTexts('recoverable', 'requires_buyer_input', 'requires_buyer_review'),
    },
  ),
)

const COUPON = contentsOf(
  closed(
    {},
    {
      ...each(anyValue, 'id', 'name', 'percent_off', 'amount_off'),
      currency: text,
      duration: oneOfTexts('once', 'repeating', 'forever'),
      duration_in_months: integer(1n),
      max_redemptions: integer(1n),
      times_redeemed: integer(0n),
      metadata: object({}),
    },
  ),
)

const APPLIED = contentsOf(
  closed(
    {},
    {
      ...each(anyValue, 'id', 'amount', 'start', 'end'),
      code: text,
      coupon: COUPON,
      automatic: boolean,
      method: oneOfTexts('each', 'across'),
      priority: integer(1n),
      allocations: list(contentsOf(closed({}, each(anyValue, 'path', 'amount')))),
    },
  ),
)

const ACQUIRER = contentsOf(
  closed({}, { ...each(anyValue, 'acquirer_bin', 'acquirer_country', 'acquirer_merchant_id', 'merchant_name'), requestor_id: text }),
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

const day = textWith((found) => (isDate(found) ? null : 'is not a day of the calendar'), 'a day, such as 2026-04-17')
const lower_case_code = textWith(
  (found) => (/^[a-z]{3}$/.test(found) ? null : 'is not a currency code in lower case'),
  'three lower-case letters, such as usd',
)

/** Members of the product feed, from schema.feed.json of 2026-04-17. ACP-005 checks the currencies. */
const description = closed({}, each(text, 'plain', 'html', 'markdown'))
const PRICE = closed({ amount: anyValue }, { currency: anyValue })
const MEDIA = closed({ type: text, url: uri }, { alt_text: text, ...each(integer(LEAST), 'width', 'height') })
const SELLER = closed({}, { name: text, links: list(closed({ type: text, url: uri }, { title: text })) })

const VARIANT = contentsOf(
  closed(
    {},
    {
      ...each(anyValue, 'id', 'title'),
      description,
      url: uri,
      barcodes: list(closed(each(text, 'type', 'value'))),
      ...each(PRICE, 'price', 'list_price'),
      unit_price: closed(
        {
          amount: anyValue,
          measure: closed({ value: number, unit: text }),
          reference: closed({ value: integer(LEAST), unit: text }),
        },
        { currency: anyValue },
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

const FEED_PRODUCT = object({}, { title: text, description, url: uri, media: list(MEDIA), variants: contentsOf(list(VARIANT)) })

/** Members of whole documents; ACP-006 reports unknown members at the top level. */
export const DOCUMENTS: Readonly<Record<AcpType, JsonShape>> = {
  checkout_session: object(
    {},
    {
      protocol: closed({ version: anyValue }),
      capabilities: CAPABILITIES,
      buyer: BUYER,
      ...each(text, 'locale', 'timezone', 'continue_url', 'quote_id'),
      line_items: contentsOf(list(LINE)),
      fulfillment_details: DETAILS,
      selected_fulfillment_options: contentsOf(list(SELECTED)),
      fulfillment_groups: contentsOf(list(GROUP)),
      totals: TOTALS,
      messages: contentsOf(list(MESSAGE)),
      links: contentsOf(list(contentsOf(closed({}, { ...each(anyValue, 'type', 'url'), title: text })))),
      authentication_metadata: contentsOf(object({}, { acquirer_details: ACQUIRER, flow_preference: FLOW })),
      metadata: object({}),
      discounts: closed(
        {},
        {
          codes: list(text),
          applied: list(APPLIED),
          rejected: list(contentsOf(closed({}, { ...each(anyValue, 'code', 'reason'), message: text }))),
        },
      ),
      marketing_consent_options: list(closed(each(text, 'channel', 'display_text', 'privacy_policy_url'), { is_subscribed: boolean })),
      order: contentsOf(closed({}, { ...ORDER_MEMBERS, totals: TOTALS })),
    },
  ),
  order: object({}, { ...ORDER_MEMBERS, totals: list(TOTAL) }),
  discovery: object(
    {},
    {
      protocol: contentsOf(
        closed({}, { ...each(anyValue, 'name', 'version', 'supported_versions', 'merchant_id'), documentation_url: text }),
      ),
      capabilities: contentsOf(
        closed(
          {},
          {
            ...each(anyValue, 'services', 'merchant_id'),
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

// Sessions up to 2026-01-16; the schemas of these versions are closed throughout.
const OLD_ADDRESS = contentsOf(
  closed({}, { ...each(anyValue, 'name', 'line_one', 'city', 'state', 'country', 'postal_code'), line_two: text }),
)
const OLD_TOTAL = contentsOf(closed({}, { ...each(anyValue, 'type', 'display_text', 'amount'), description: text }))
const OLD_TOTALS = contentsOf(list(OLD_TOTAL))

const OLD_LINE = contentsOf(
  closed(
    {},
    {
      ...each(anyValue, 'id', 'quantity', 'totals', ...OLD_LINE_AMOUNTS),
      item: contentsOf(closed({}, each(anyValue, 'id', 'quantity', 'name', 'unit_amount'))),
      ...each(text, 'name', 'description'),
      unit_amount: integer(LEAST),
      images: list(uri),
      disclosures: list(DISCLOSURE),
      custom_attributes: list(closed(each(text, 'display_name', 'value'))),
      marketplace_seller_details: closed({ name: text }),
    },
  ),
)

const OLD_OPTION: ShapeMembers = {
  ...each(anyValue, 'type', 'id', 'title', 'subtotal', 'tax', 'total'),
  ...each(text, 'subtitle', 'description', 'carrier'),
  ...each(anyValue, 'earliest_delivery_time', 'latest_delivery_time'),
  totals: OLD_TOTALS,
}

const CHOICE = contentsOf(closed({}, { option_id: anyValue, item_ids: contentsOf(list(text)) }))
const OLD_SELECTED = contentsOf(
  closed({}, { ...each(anyValue, 'type', 'option_id'), item_ids: contentsOf(list(text)), ...each(CHOICE, 'shipping', 'digital') }),
)

const OLD_CARD = closed({
  type: oneOfTexts('card'),
  supported_card_networks: list(oneOfTexts('amex', 'discover', 'mastercard', 'visa')),
})

const BROWSER = closed(each(text, 'accept_header', 'ip_address', 'language', 'user_agent'), {
  ...each(boolean, 'javascript_enabled', 'java_enabled'),
  ...each(integer(LEAST), 'color_depth', 'screen_height', 'screen_width', 'timezone_offset'),
})

function oldSessionShape(methods: JsonShape, provider: ShapeMembers, more: ShapeMembers = {}): JsonShape {
  return object(
    {},
    {
      buyer: contentsOf(closed({}, { ...each(text, 'first_name', 'last_name', 'phone_number'), email })),
      payment_provider: closed({ ...provider, supported_payment_methods: list(methods) }, more),
      authentication_provider: closed({
        provider: oneOfTexts('stripe', 'adyen'),
        merchant_id: text,
        supported_authentication_methods: list(oneOfTexts('3ds')),
      }),
      fulfillment_address: OLD_ADDRESS,
      fulfillment_option_id: text,
      fulfillment_details: closed({}, { ...each(text, 'name', 'phone_number'), email, address: OLD_ADDRESS }),
      line_items: contentsOf(list(OLD_LINE)),
      fulfillment_options: contentsOf(list(contentsOf(closed({}, OLD_OPTION)))),
      selected_fulfillment_options: contentsOf(list(OLD_SELECTED)),
      totals: OLD_TOTALS,
      messages: contentsOf(
        list(contentsOf(closed({}, each(anyValue, 'type', 'code', 'param', 'content_type', 'content', 'severity', 'resolution')))),
      ),
      links: contentsOf(list(contentsOf(closed({}, each(anyValue, 'type', 'url', 'title'))))),
      authentication_metadata: contentsOf(object({}, { channel: closed({ type: oneOfTexts('browser'), browser: BROWSER }) })),
      order: contentsOf(closed({}, each(anyValue, 'id', 'checkout_session_id', 'permalink_url'))),
    },
  )
}

/** Sessions by version. ACP-034 looks at the provider of 2026-01-16 more closely. */
export const OLD_SESSIONS: Readonly<Partial<Record<AcpVersion, JsonShape>>> = {
  '2025-09-29': oldSessionShape(oneOfTexts('card'), { provider: oneOfTexts('stripe') }),
  '2025-12-12': oldSessionShape(OLD_CARD, { provider: oneOfTexts('stripe') }),
  '2026-01-16': oldSessionShape(OLD_CARD, {}, each(anyValue, 'provider', 'merchant_id')),
}
