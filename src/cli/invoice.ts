import type { Invocation } from './arguments.ts'
import { CliError, type Exit } from './exit-codes.ts'
import { unknownName } from './unknown-name.ts'

const ACTIONS = ['reconcile'] as const

/** `assay invoice reconcile`: what bank statements report of invoices. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [word] = invocation.words
  const action = ACTIONS.find((known) => known === word)
  if (word === undefined) throw new CliError('usage', 'Give an action: assay invoice reconcile --statement <camt.053>.')
  if (action === undefined) throw unknownName('action', word, ACTIONS, 'The action is reconcile.')
  return (await import('./invoice-reconcile.ts')).reconcileInvoices(invocation)
}
