// Written by scripts/generate-client-types.ts from the schemas of the tools: change those.

import type { Scope } from '../shapes.ts'

/** Check many values at once. */
export interface BatchValidateInput {
  /** The checks to run, each {tool, value}, both texts. */
  items: readonly { tool?: unknown; value?: unknown }[]
}

export interface BatchValidateOutput {
  /** Number of items. */
  count: number
  /** Items whose result says valid: true. */
  valid_count: number
  /** Items whose result says valid: false. */
  invalid_count: number
  /** Items that could not be checked. */
  error_count: number
  /** One answer an item, in the order of the items. */
  results: readonly {
    index: number
    tool: string | null
    ok: boolean
    result: Readonly<Record<string, unknown>> | null
    error: { code: string; message: string } | null
  }[]
  /** The reach of this answer. */
  scope: Scope
  /** The tool that answered. */
  tool: 'batch-validate'
}
