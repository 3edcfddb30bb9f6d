import { isObject, objectsIn, textOf } from '../../../pure/is-object.ts'
import { requestObject } from './json-request.ts'
import { requestAccount, type Wallet } from './wallets.ts'

/** Balance of a wallet's account after a request to the faucet, or why there is none; `message` is null if the service gave no reason. */
export type TestMoney =
  | { ok: true; address: string; balance: string; funded: boolean }
  | { ok: false; kind: 'no_account' | 'declined' | 'refused'; message: string | null }

/** Asks the faucet of the sandbox for test money for the account of a wallet. */
export async function getTestMoney(wallet: Wallet): Promise<TestMoney> {
  const address = await requestAccount(wallet).catch(() => undefined)
  if (address === undefined) return { ok: false, kind: 'declined', message: null }
  if (address === null) return { ok: false, kind: 'no_account', message: null }
  const reply = await requestObject('/v1/sandbox/fund', { address })
  if (reply === null || !reply.ok) return { ok: false, kind: 'refused', message: textOf(reply?.body['detail']) }
  const usdc = objectsIn(reply.body['balances']).find((one) => isObject(one) && one['token'] === 'usdc')
  return { ok: true, address, balance: textOf(usdc?.['amount']) ?? '0', funded: reply.body['funded'] === true }
}
