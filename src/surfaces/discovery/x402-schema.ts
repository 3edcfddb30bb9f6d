import { JSON_SCHEMA_DIALECT, paymentRequiredSchema } from '../../service/catalogue/wire-schemas.ts'
import type { AppDeps } from '../deps.ts'

/** `/.well-known/x402-schema.json`: JSON Schema of the body of a 402, as this version sends it. */
export function x402Schema(deps: AppDeps) {
  return {
    $schema: JSON_SCHEMA_DIALECT,
    $id: `${deps.origins.api_url}/.well-known/x402-schema.json`,
    title: 'The body of a 402 answer',
    ...paymentRequiredSchema(deps.takes_payments),
  }
}
