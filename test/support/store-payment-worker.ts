/**
 * One process of several that take payments on one store. Says `ready`, waits for a line, then opens the store. Payments are numbered, and
 * what a number stands for is the same in every process. Either claims each once and prints what it was granted as JSON; or takes them
 * through all states, with a line `number state` for each state that the store has acknowledged, until it is killed.
 */
import { openSealed } from './store-drivers.ts'
import { writeSync } from 'node:fs'
import { once } from 'node:events'
import type { ClaimRequest } from '../../src/ports/payments.ts'
import { closing, EPOCH, NOW_MS, request, WALLET } from './store-payments.ts'

export interface PaymentOrder {
  target: string
  kind: 'claims' | 'cycles'
  payers: number
  payments: number
  /** What a payer holds; a payment is of 5,000. */
  balance_minor: number
  in_flight: number
  /** Dies by its own SIGKILL at the very moment of having acknowledged so many states; 0 for never. */
  die_after: number
}

export interface ClaimsReport {
  claimed: number[]
  over_reserved: number[]
  existing: number
  faults: string[]
}

/** The payment of this number. */
export function numbered(number: number, order: Pick<PaymentOrder, 'payers' | 'balance_minor'>): ClaimRequest {
  const hex = (value: number, bytes: number): string => `0x${value.toString(16).padStart(2 * bytes, '0')}`
  return request({
    payer: hex(1 + (number % order.payers), 20),
    nonce: hex(number, 32),
    token_hash: hex(number, 32),
    balance_minor: BigInt(order.balance_minor),
  })
}

const STDOUT = 1

async function main(order: PaymentOrder): Promise<void> {
  await Promise.all([import('../../src/adapters/store/sqlite.ts'), import('../../src/adapters/store/postgres.ts')])
  writeSync(STDOUT, 'ready\n')
  await once(process.stdin, 'data')
  process.stdin.unref()
  const store = await openSealed(order.target)
  const { payments } = store
  const report: ClaimsReport = { claimed: [], over_reserved: [], existing: 0, faults: [] }
  let next = 0
  let acknowledged = 0

  function acknowledge(number: number, state: string): void {
    writeSync(STDOUT, `${number} ${state}\n`)
    acknowledged += 1
    if (acknowledged === order.die_after) process.kill(process.pid, 'SIGKILL')
  }

  async function claimOne(number: number): Promise<void> {
    const { kind } = await payments.claim(numbered(number, order))
    if (kind === 'over_due' || kind === 'identifier_taken') throw new Error('no payment of this worker is for an invoice, or has an id')
    if (kind === 'exists') report.existing += 1
    else report[kind].push(number)
  }

  async function takeOne(number: number): Promise<void> {
    const asked = numbered(number, order)
    await payments.claim(asked)
    acknowledge(number, 'claimed')
    await payments.prepare(asked, 1, { sealed: `answer ${number}`, expires_ms: NOW_MS + 1 }, NOW_MS)
    acknowledge(number, 'prepared')
    await payments.begin_settling(asked, 1, { method: 'self', settler: WALLET }, NOW_MS)
    acknowledge(number, 'settling')
    await payments.apply_transitions([closing(asked, 'settled')], EPOCH, NOW_MS)
    acknowledge(number, 'settled')
  }

  async function caller(): Promise<void> {
    while (next < order.payments) {
      const number = next
      next += 1
      try {
        await (order.kind === 'claims' ? claimOne(number) : takeOne(number))
      } catch (error) {
        report.faults.push(error instanceof Error && 'code' in error ? String(error.code) : String(error))
      }
    }
  }

  await Promise.all(Array.from({ length: order.in_flight }, caller))
  await store.close()
  if (order.kind === 'claims') writeSync(STDOUT, `${JSON.stringify(report)}\n`)
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? ''))
