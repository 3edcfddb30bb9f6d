import type { Page } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem'

/** What the wallet was asked, in order. */
export interface TestWallet {
  asked: string[]
  /** The typed data of the last request to sign. */
  typed(): TypedData
}

interface TypedData {
  domain: { name: string; version: string; chainId: number; verifyingContract: `0x${string}` }
  types: Record<string, { name: string; type: string }[]>
  primaryType: string
  message: Record<string, string>
}

export interface WalletOptions {
  name?: string
  account: PrivateKeyAccount
  chain_id: number
  /** Whose key signs, when it is not the account that the wallet names. */
  signer?: PrivateKeyAccount
  /** Refuses this method with this code. */
  refuses?: { method: string; code: number }
  /** Waited for before it signs. */
  beforeSigning?: () => Promise<unknown>
}

interface Answer {
  result?: unknown
  code?: number
}

/**
 * Puts a wallet into the page, as extensions do (EIP-6963, EIP-1193): it announces itself when asked, and its key stays outside of the page, with
 * viem. Call it before the page is opened.
 */
export async function putWallet(page: Page, options: WalletOptions): Promise<TestWallet> {
  const { name = 'Test Wallet', account, signer = account, refuses, beforeSigning } = options
  const asked: string[] = []
  let typed: TypedData | null = null
  let chain_id = options.chain_id
  const answer = async (method: string, params: unknown[]): Promise<Answer> => {
    asked.push(method)
    if (refuses?.method === method) return { code: refuses.code }
    switch (method) {
      case 'eth_requestAccounts':
        return { result: [account.address] }
      case 'eth_chainId':
        return { result: `0x${chain_id.toString(16)}` }
      case 'wallet_switchEthereumChain':
        chain_id = Number((params[0] as { chainId: string }).chainId)
        return { result: null }
      case 'eth_signTypedData_v4': {
        typed = JSON.parse(String(params[1])) as TypedData
        await beforeSigning?.()
        const { EIP712Domain: _, ...types } = typed.types
        return { result: await signer.signTypedData({ ...typed, types }) }
      }
      default:
        return { code: 4200 }
    }
  }
  const channel = `wallet_${name.replace(/\W/g, '_')}`
  await page.exposeFunction(channel, answer)
  await page.addInitScript(announce, { name, channel })
  return {
    asked,
    typed() {
      if (typed === null) throw new Error('the wallet was not asked to sign')
      return typed
    },
  }
}

/** Runs in the page, before its own scripts. */
function announce({ name, channel }: { name: string; channel: string }): void {
  const provider = {
    async request({ method, params = [] }: { method: string; params?: unknown[] }): Promise<unknown> {
      const ask = (
        window as unknown as Record<string, (method: string, params: unknown[]) => Promise<{ result?: unknown; code?: number }>>
      )[channel]
      const { result, code } = (await ask?.(method, params)) ?? {}
      if (code !== undefined) throw Object.assign(new Error('refused by the test'), { code })
      return result
    },
  }
  const info = { uuid: `uuid of ${name}`, name, icon: 'data:image/svg+xml,<svg/>', rdns: 'test.wallet' }
  const tell = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
  window.addEventListener('eip6963:requestProvider', tell)
  tell()
}
