import { join } from 'node:path'
import { noChain } from '../adapters/chain/no-chain.ts'
import { Pool } from '../adapters/chain/pool.ts'
import { freshener } from '../adapters/chain/sandbox-freshness.ts'
import { readRecord, sandboxFiles } from '../adapters/chain/sandbox-files.ts'
import { rpcRequest } from '../adapters/chain/sandbox-rpc.ts'
import { createChainFacts } from '../adapters/chain/facts.ts'
import { createTransfers } from '../adapters/chain/history.ts'
import { systemClock } from '../adapters/clock/system.ts'
import type { ChainFacts, StretchStore, Transfers } from '../ports/chain-facts.ts'
import type { Settings } from '../service/config.ts'

/** The chain that facts are read from on the command line: that of the settings, or that of a sandbox that runs here now. */
export function chainHere(settings: Settings): { chain: ChainFacts; transfers: Transfers } {
  const chain_id = settings.ASSAY_CHAIN_ID
  if (settings.ASSAY_MODE === 'live') return over(settings.ASSAY_RPC_URLS, chain_id)
  const record = readRecord(sandboxFiles(join(settings.ASSAY_DATA_DIR, 'sandbox')).record)
  if (record?.chain_id !== chain_id) return noChain(chain_id)
  return over([record.rpc_url], chain_id, freshener(rpcRequest(record.rpc_url), systemClock))
}

function over(urls: readonly string[], chain_id: number, beforeRead?: () => Promise<void>): { chain: ChainFacts; transfers: Transfers } {
  const options = { pool: new Pool(urls, chain_id, systemClock), chain_id, clock: systemClock, beforeRead }
  return { chain: createChainFacts(options), transfers: createTransfers({ ...options, store: FORGETFUL }) }
}

/** A command line runs once: what it read is of no use to the next. */
const FORGETFUL: StretchStore = {
  stretches: () => Promise.resolve([]),
  keep_stretches: () => Promise.resolve(),
  purge_stretches: () => Promise.resolve(0),
}
