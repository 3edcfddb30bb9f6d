import type { Hono } from 'hono'
import { BUNDLE_ENDPOINTS } from './bundle.ts'
import { CATALOGUE_ENDPOINTS } from './catalogue.ts'
import { CREDIT_ENDPOINTS } from './credits/endpoints.ts'
import type { AppDeps } from './deps.ts'
import { type DescribedEndpoint, mountEndpoints, type Endpoint, type Mounting } from './endpoint.ts'
import { DATASET_ENDPOINTS } from './datasets/endpoints.ts'
import { HEALTH_ENDPOINTS } from './health.ts'
import type { Env } from './http/reply.ts'
import { INSURANCE_ENDPOINTS } from './insurance/endpoints.ts'
import { INVOICE_ENDPOINTS } from './invoices/endpoints.ts'
import { LOG_ENDPOINTS } from './log/endpoints.ts'
import { CHANNEL_ENDPOINTS, PAYMENT_ENDPOINTS } from './payment-endpoints.ts'
import type { PaymentRenderer } from './payment.ts'
import { PREFLIGHT_ENDPOINTS, preflightRoom } from './preflight/endpoints.ts'
import type { PreflightService } from './preflight/serve.ts'
import { SANDBOX_ENDPOINTS } from './sandbox/endpoints.ts'
import { SIGNING_ENDPOINTS } from './signing.ts'
import { WEBHOOK_ENDPOINTS } from './webhooks/endpoints.ts'

interface EndpointGroupParts {
  deps: AppDeps
  words: PaymentRenderer
  preflight: PreflightService
  caller: Mounting['caller']
}

/** Endpoints with a common dependency. */
interface EndpointGroup {
  endpoints: readonly DescribedEndpoint[]
  mount(app: Hono<Env>, parts: EndpointGroupParts): void
}

/** `make` returns null if the deployment lacks the feature; its endpoints are then not served. */
function endpointGroup<Shared>(
  surface: string,
  endpoints: readonly Endpoint<Shared>[],
  make: (parts: EndpointGroupParts) => Shared | null,
  more: Pick<Mounting, 'charged'> = {},
): EndpointGroup {
  return {
    endpoints,
    mount(app, parts) {
      const shared = make(parts)
      if (shared !== null) mountEndpoints(app, shared, endpoints, { deps: parts.deps, caller: parts.caller, surface, ...more })
    },
  }
}

/** All endpoints except tool calls. The routes and the OpenAPI document are derived from this list. */
export const ENDPOINT_GROUPS: readonly EndpointGroup[] = [
  endpointGroup('catalogue', CATALOGUE_ENDPOINTS, ({ deps }) => deps),
  endpointGroup('signing', SIGNING_ENDPOINTS, ({ deps }) => deps),
  endpointGroup('bundle', BUNDLE_ENDPOINTS, ({ deps }) => deps),
  endpointGroup('datasets', DATASET_ENDPOINTS, ({ deps }) => deps),
  endpointGroup('payments', PAYMENT_ENDPOINTS, ({ deps, words }) => ({ deps, words }), { charged: 'unknown' }),
  endpointGroup(
    'channels',
    CHANNEL_ENDPOINTS,
    ({ deps, words }) => ((deps.call.payments?.refunds ?? null) === null ? null : { deps, words }),
    { charged: 'unknown' },
  ),
  endpointGroup('preflight', PREFLIGHT_ENDPOINTS, ({ deps, preflight }) => preflightRoom(deps, preflight)),
  endpointGroup('invoices', INVOICE_ENDPOINTS, ({ deps, words }) => ({ deps, words }), { charged: 'unknown' }),
  endpointGroup('webhooks', WEBHOOK_ENDPOINTS, ({ deps }) => deps.webhooks),
  endpointGroup('insurance', INSURANCE_ENDPOINTS, ({ deps }) => deps.insurance),
  endpointGroup('credits', CREDIT_ENDPOINTS, ({ deps }) => deps.credits),
  endpointGroup('log', LOG_ENDPOINTS, ({ deps }) => (deps.log === null ? null : { log: deps.log, deps })),
  endpointGroup('sandbox', SANDBOX_ENDPOINTS, ({ deps }) => deps),
  endpointGroup('health', HEALTH_ENDPOINTS, ({ deps }) => deps),
]
