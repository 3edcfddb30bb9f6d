import type { Invocation } from './commands.ts'
import { CliError, type Exit, unknownName } from './errors.ts'

const ACTIONS = ['reconcile', 'factory'] as const

/** `assay invoice reconcile | factory`: what bank statements report of invoices; the factory of deposit addresses. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [word] = invocation.words
  const action = ACTIONS.find((known) => known === word)
  if (word === undefined)
    throw new CliError('usage', 'Give an action: assay invoice reconcile --statement <camt.053>, or assay invoice factory.')
  if (action === undefined) throw unknownName('action', word, ACTIONS, 'The actions are reconcile and factory.')
  if (action === 'factory') return (await import('./invoice-factory.ts')).showFactory(invocation)
  return (await import('./invoice-reconcile.ts')).reconcileInvoices(invocation)
}
