import { quotaClient } from '../clients.ts'
import type { Tool } from '../catalogue/define.ts'
import type { CreditUseKey } from '../../ports/credits.ts'
import type { CreditDesk } from '../credits/desk.ts'
import type { CreditGiven } from '../credits/given.ts'
import type { BoundRequest, Claim, PaymentEnd } from '../payments/desk.ts'
import { marketOf, priceOf } from '../payments/price.ts'
import type { PriceBook } from '../payments/price-book.ts'
import { problem } from '../problems.ts'
import type { ReadCall } from './asked.ts'

/** Where credits are debited, and how much a call costs one. */
export interface Credits {
  desk: CreditDesk
  prices: PriceBook
}

/** A credit whose code and key have the right form. */
export interface CarriedCredit {
  kind: 'credit'
  key: CreditUseKey
  credits: Credits
}

/** Reads the credit of a request; one of the wrong form ends the call, even while free calls remain. */
export async function readCredit(
  credits: Credits | null,
  { address }: ReadCall,
  given: CreditGiven,
): Promise<CarriedCredit | { kind: 'refused'; end: PaymentEnd }> {
  if (credits === null) return { kind: 'refused', end: notKept() }
  const read = await credits.desk.read(given, quotaClient(address))
  return read.ok ? { kind: 'credit', key: read.key, credits } : { kind: 'refused', end: read.end }
}

function notKept(): PaymentEnd {
  const found = problem('NOT_CONFIGURED', 'Prepaid credits are not kept here. The credit was left untouched.')
  return { kind: 'refused', problem: found, x402_reason: null }
}

export function replayCredit({ key, credits }: CarriedCredit, request: BoundRequest): Promise<PaymentEnd | null> {
  return credits.desk.replay(request, key)
}

/** Reserves the price of now: nobody has quoted another to a credit. */
export async function admitCredit(
  { key, credits }: CarriedCredit,
  tool: Tool,
  input: Record<string, unknown> | null,
  request: BoundRequest,
): Promise<{ kind: 'claimed'; claim: Claim } | PaymentEnd> {
  if (marketOf(tool.price) === null) throw new Error('a credit came as far as its debit where nothing is to be paid')
  const { amount_minor } = priceOf(tool.price, input, await credits.prices.prices())
  return credits.desk.admit(request, key, amount_minor)
}
