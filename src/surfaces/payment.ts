import { isObject } from '../pure/is-object.ts'
import type { Catalogue } from '../service/catalogue/load.ts'
import { callUrl } from '../service/catalogue/text.ts'
import type { PaymentRequired } from '../service/calls/outcome.ts'
import type { PaymentRefusal } from '../service/payments/payment-refusals.ts'
import type { CreditSettlement, Settlement } from '../service/payments/settlement.ts'
import { challengeOf, createChallenges, paymentResponseHeaders, v2PaymentResponse } from '../service/payments/terms.ts'
import type { AppDeps } from './deps.ts'
import type { Challenge, PaymentPlace } from '../service/payments/terms.ts'

/** What a surface says of payment, in the words of x402. */
export interface PaymentWords {
  /** The terms of a 402; null where nothing can be paid. `resource` names the tool as this surface does. */
  challenge(outcome: PaymentRequired): Challenge | null
  /** The headers of a settled payment; none for a credit, of which x402 knows nothing. */
  responseHeaders(settlement: Settlement | CreditSettlement): Record<string, string>
  /** The headers of a refusal; none where no settlement was tried. */
  failureHeaders(refusal: Pick<PaymentRefusal, 'x402_reason' | 'payer'>): Record<string, string>
  /** The same for `_meta`. */
  response(settlement: Settlement | CreditSettlement): Record<string, unknown> | null
}

const UNPAID = 'payment required'
/** The reason that x402 has for a settlement that failed for none of its others. */
const UNSAID = 'unexpected_settle_error'
const NOTHING_MOVED = { success: false, transaction: '' } as const

/** The words of REST, where the resource of a tool is the address of its calls. */
export function restWords({ call, origins, place, schemas }: Pick<AppDeps, 'call' | 'origins' | 'place' | 'schemas'>): PaymentWords {
  const address = (tool: string) => callUrl({ origins }, { id: tool })
  return createPaymentWords(place, call.catalogue, address, (tool) => httpSchema(schemas.get(tool)?.input))
}

/**
 * A call over HTTP as x402 version 1 describes it in `outputSchema`, which catalogues of paid resources read: method, names and types of the
 * body, and the answer. The whole schemas are in x402.json.
 */
export function httpSchema(input_schema: Record<string, unknown> | undefined): Record<string, unknown> {
  const properties = isObject(input_schema?.['properties']) ? input_schema['properties'] : {}
  const required = Array.isArray(input_schema?.['required']) ? input_schema['required'] : []
  const fields = Object.entries(properties).map(([name, schema]) => {
    const type = isObject(schema) && typeof schema['type'] === 'string' ? { type: schema['type'] } : {}
    return [name, { ...type, required: required.includes(name) }]
  })
  const input = { type: 'object', required: true, properties: Object.fromEntries(fields) as Record<string, unknown> }
  return {
    input: { type: 'http', method: 'POST', discoverable: true, bodyType: 'json', bodyFields: { input } },
    output: { type: 'object', properties: { result: { type: 'object' }, receipt: { type: 'object' } } },
  }
}

/** Terms are the same bytes for a tool and an amount, whoever asks; only a refusal puts its own reason into them. */
export function createPaymentWords(
  place: PaymentPlace,
  catalogue: Catalogue,
  resourceOf: (tool: string) => string,
  schemaOf: (tool: string) => Record<string, unknown> | undefined = () => undefined,
): PaymentWords {
  const ready = createChallenges(place, UNPAID)
  const endOf = (settlement: Settlement) => ({
    ...place,
    success: true,
    transaction: settlement.transaction,
    payer: settlement.payer,
    amount_minor: BigInt(settlement.amount_minor),
  })
  return {
    challenge({ tool, amount_minor, x402_reason }) {
      if (amount_minor === null) return null
      const offer = {
        resource: resourceOf(tool),
        description: catalogue.find(tool)?.description ?? '',
        amount_minor,
        output_schema: schemaOf(tool),
      }
      return x402_reason === null ? ready(offer) : challengeOf({ ...place, ...offer }, x402_reason)
    },
    failureHeaders: ({ x402_reason, payer }) =>
      payer === undefined ? {} : paymentResponseHeaders({ ...place, ...NOTHING_MOVED, payer, error_reason: x402_reason ?? UNSAID }),
    responseHeaders: (settlement) => (settlement.method === 'credit' ? {} : paymentResponseHeaders(endOf(settlement))),
    response: (settlement) => (settlement.method === 'credit' ? null : v2PaymentResponse(endOf(settlement))),
  }
}
