import { createChain } from '../adapters/chain/rpc.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { DEPOSIT_FACTORY } from '../pure/contracts/deposit-factory.ts'
import { DETERMINISTIC_DEPLOYER } from '../pure/contracts/deployment.ts'
import type { Invocation } from './commands.ts'
import { markMode, readEnvironment } from './deployment.ts'
import type { Exit } from './errors.ts'
import { say, wantsJson } from './terminal.ts'

/** `assay invoice factory`: whether the live chain has the factory of deposit addresses, and the transaction that deploys it. Sends nothing. */
export async function showFactory(invocation: Invocation): Promise<Exit> {
  const settings = readEnvironment()
  markMode(settings)
  const { ASSAY_MODE, ASSAY_CHAIN_ID, ASSAY_RPC_URLS } = settings
  const { address, deploy_calldata } = DEPOSIT_FACTORY
  const transaction = { to: DETERMINISTIC_DEPLOYER, data: deploy_calldata }
  // The sandbox deploys it at its start.
  const deployed = ASSAY_MODE === 'sandbox' || (await hasCode(ASSAY_RPC_URLS, ASSAY_CHAIN_ID, address))
  if (wantsJson(invocation)) say(JSON.stringify({ chain_id: ASSAY_CHAIN_ID, factory: address, deployed, transaction }))
  else if (deployed) say(`The factory of deposit addresses is at ${address} on chain ${ASSAY_CHAIN_ID}.`)
  else {
    say(`Chain ${ASSAY_CHAIN_ID} has no factory of deposit addresses at ${address}. To deploy it, send this transaction without value`)
    say('from any account but the gas wallet, whose account nonces the service counts; about 720,000 gas:\n')
    say(`to    ${transaction.to}\ndata  ${transaction.data}`)
  }
  return deployed ? 'ok' : 'negative'
}

async function hasCode(urls: readonly string[], chain_id: number, address: string): Promise<boolean> {
  const [code] = await createChain({ urls, chain_id, clock: systemClock }).read([{ kind: 'code', address }])
  return code?.ok === true && code.data !== '0x'
}
