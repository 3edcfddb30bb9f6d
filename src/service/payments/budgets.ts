import type { AllowanceGrant, AllowanceRequest, Store } from '../../ports/store.ts'

/** Units taken from several budgets: one of each, or none. */
export interface TakenBudgets {
  granted: boolean
  /** Answers of the store in the order of the budgets; when `granted` is false the last one is the refusal. */
  grants: readonly AllowanceGrant[]
  /** Returns every unit that is still taken; a second call returns nothing more. */
  give_back(): Promise<void>
}

/**
 * Takes one unit of each budget in turn. A refusal or a store error at any of them returns the units of those before it, so that a request
 * that was not served uses up nothing.
 */
export async function takeEach(store: Pick<Store, 'take' | 'give_back'>, budgets: readonly AllowanceRequest[]): Promise<TakenBudgets> {
  const taken: AllowanceRequest[] = []
  const grants: AllowanceGrant[] = []
  const give_back = async () => void (await Promise.all(taken.splice(0).map((budget) => store.give_back(budget))))
  try {
    for (const budget of budgets) {
      const grant = await store.take(budget)
      grants.push(grant)
      if (!grant.granted) break
      taken.push(budget)
    }
  } catch (error) {
    // The caller gets the first error; a store that cannot take units may not be able to return them either.
    await give_back().catch(() => undefined)
    throw error
  }
  const granted = taken.length === budgets.length
  if (!granted) await give_back()
  return { granted, grants, give_back }
}
