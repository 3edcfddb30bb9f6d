import { nearest } from '../service/nearest.ts'
import type { Invocation } from './arguments.ts'
import { CliError, type Exit } from './exit-codes.ts'

const ACTIONS = ['reconcile'] as const

/** `assay invoice reconcile`: what bank statements report of invoices. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [word] = invocation.words
  const action = ACTIONS.find((known) => known === word)
  if (action === undefined) {
    const near = word === undefined ? null : nearest(word, ACTIONS)
    throw new CliError('usage', `invoice takes reconcile${near === null ? '' : `; did you mean ${near}`}.`)
  }
  return (await import('./invoice-reconcile.ts')).reconcileInvoices(invocation)
}
