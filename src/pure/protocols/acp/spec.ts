import type { SpecReference } from '../rule.ts'

const REPOSITORY = 'https://github.com/agentic-commerce-protocol/agentic-commerce-protocol/blob/main'

/** A definition in the JSON Schema of checkout, version 2026-04-17. */
export function schemaSpec(definition: string): SpecReference {
  return { url: `${REPOSITORY}/spec/2026-04-17/json-schema/schema.agentic_checkout.json`, section: definition }
}

/** A schema in the OpenAPI document of checkout, version 2026-01-16, the last one with amounts and a provider of the old form. */
export function oldSpec(definition: string): SpecReference {
  return { url: `${REPOSITORY}/spec/2026-01-16/openapi/openapi.agentic_checkout.yaml`, section: definition }
}

/** A section of one of the project's proposals, such as `rfc.discovery.md`. */
export function rfcSpec(name: string, section: string): SpecReference {
  return { url: `${REPOSITORY}/rfcs/rfc.${name}.md`, section }
}

export const ALLOWANCE_SPEC: SpecReference = {
  url: `${REPOSITORY}/spec/2026-04-17/openapi/openapi.delegate_payment.yaml`,
  section: 'Allowance',
}

/** The same file of another version; definitions keep their names. Feeds and discovery came with 2026-04-17. */
export function acpSpecAt({ url, section }: SpecReference, version: string): SpecReference {
  return { url: url.replace(/\/spec\/[0-9-]{10}\//, `/spec/${version}/`), section }
}
