import schemas from '../../../../data/protocol-schemas/acp.json' with { type: 'json' }
import { isObject } from '../../is-object.ts'
import { reportBySchema, schemaRef, schemaSet, type PublishedSchemas } from '../kit/published-schemas.ts'
import type { RuleTable } from '../protocol.ts'
import { isEventOrder, type AcpView } from './view.ts'
import { schemaSpec } from './versions.ts'

const PUBLISHED: PublishedSchemas = schemas

const SET = schemaSet(PUBLISHED, [
  // The schema of orders was changed in place after its first revision, which counted no current and shipped pieces.
  { path: /\/quantity\/(?:current|shipped)$/ },
  // Orders came into sessions as an extra member before the schemas had them.
  { path: /^\/order$/, keyword: /Properties$/ },
  // ACP-007 reports options in the form of another version.
  { path: /^\/selected_fulfillment_options\/[0-9]+\/(?:option_id|item_ids|shipping)$/, keyword: /^required$|Properties$/ },
  // ACP-015 reports a quantity that is at the place of another version.
  { path: /^\/line_items\/[0-9]+\/quantity$/, keyword: /^required$/ },
])

/** The same for sessions with extensions, which add members at places that the extension names; ACP-047 checks these. */
const EXTENDED = schemaSet(PUBLISHED, [...SET.exemptions, { path: /^/, keyword: /Properties$/ }])

const CHECKOUT = 'schema.agentic_checkout.json'
const PAYMENT = 'schema.delegate_payment.json'

/** ACP-048: everything in the published schemas that no other rule reads. */
export const ACP_SCHEMA_RULES: RuleTable<AcpView> = {
  'ACP-048': {
    why: 'Clients that validate documents refuse what the published schema of the version refuses.',
    spec: schemaSpec('CheckoutSession'),
    hint: 'Compare this member with the schema of the version.',
    good: { authentication_metadata: { channel: { type: 'browser' } } },
    bad: { authentication_metadata: { channel: { type: 7 } } },
    check({ error }, view) {
      const [file, name] = definitionOf(view)
      const found = PUBLISHED[view.context.version]?.[file]
      const isDefined = isObject(found) && isObject(found['$defs']) && Object.hasOwn(found['$defs'], name)
      const isWrapped = isEventOrder(view.body) || (view.context.type === 'error' && view.body.has('error'))
      const set = view.added.is_foreign ? EXTENDED : SET
      if (isDefined && !isWrapped) reportBySchema(error, view.context, view.body, set, schemaRef(`${file}#/$defs/${name}`))
    },
  },
}

function definitionOf({ context, body }: AcpView): [file: string, name: string] {
  switch (context.type) {
    case 'order':
      return [CHECKOUT, 'Order']
    case 'discovery':
      return [CHECKOUT, 'DiscoveryResponse']
    case 'error':
      return [CHECKOUT, 'Error']
    case 'allowance':
      return [PAYMENT, body.has('allowance') ? 'DelegatePaymentRequest' : 'Allowance']
    case 'feed_product':
      return ['schema.feed.json', 'Product']
    default:
      return [CHECKOUT, body.has('order') ? 'CheckoutSessionWithOrder' : 'CheckoutSession']
  }
}
