import { readFileSync } from 'node:fs'
import { encodeDeployData, type Abi, type Hex } from 'viem'
import { createChainFacts } from '../../src/adapters/chain/facts.ts'
import { Pool } from '../../src/adapters/chain/pool.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { ChainFacts } from '../../src/ports/chain-facts.ts'
import tool from '../../src/tools/chain/token-contract-risk.ts'
import type { Sources } from '../../src/service/catalogue/define.ts'
import { startAnvil, type Anvil } from './anvil.ts'

/** What token-contract-risk answers, as its tests look at it. */
export interface TokenAnswer {
  is_contract: boolean
  account: Record<string, unknown>
  erc20: Record<string, unknown>
  proxy: Record<string, unknown> & { slots_checked: Record<string, unknown>[] }
  owner: Record<string, unknown>
  privileged_selectors: { signature: string; category: string; where: string; evidence: string }[]
  opcodes: { name: string; count: number; where: string }[]
  flags: { id: string; severity: string; facts: string[] }[]
  flag_counts: Record<string, number>
  block: Record<string, unknown>
}

/** A chain with tokens on it, and the tool that looks at them. */
export interface TokenWorld {
  anvil: Anvil
  /** Deploys creation code and returns the address in lower case. */
  deploy(creation: Hex): Promise<string>
  codeAt(address: string): Promise<string>
  setSlot(address: string, slot: string, word: string): Promise<void>
  look(address: string): Promise<TokenAnswer>
  /** Batches of reads that the last look took, by their sizes. */
  batches: number[]
}

export async function startTokenWorld(): Promise<TokenWorld> {
  const anvil = await startAnvil()
  const { chain_id, rpc, rpc_url } = anvil
  const pool = new Pool([rpc_url], chain_id, systemClock)
  // Nothing can lag behind one node: it is read at its newest block.
  const facts = createChainFacts({ pool, chain_id, clock: systemClock, beforeRead: async () => undefined })
  const batches: number[] = []
  return {
    anvil,
    batches,
    async deploy(data) {
      const hash = await rpc('eth_sendTransaction', [{ from: anvil.owner, data, gas: '0x4c4b40' }])
      await rpc('evm_mine')
      const receipt = (await rpc('eth_getTransactionReceipt', [hash])) as { status: string; contractAddress: string }
      if (receipt.status !== '0x1') throw new Error('the deployment reverted')
      return receipt.contractAddress.toLowerCase()
    },
    codeAt: async (address) => String(await rpc('eth_getCode', [address, 'latest'])),
    setSlot: async (address, slot, word) => {
      await rpc('anvil_setStorageAt', [address, slot, word])
      await rpc('evm_mine')
    },
    async look(address) {
      batches.length = 0
      const sources = { chain: counted(facts, batches), clock: systemClock } as Sources
      return (await tool.execute({ address }, sources)) as unknown as TokenAnswer
    },
  }
}

function counted(facts: ChainFacts, batches: number[]): ChainFacts {
  return {
    ...facts,
    atOneBlock: (work) =>
      facts.atOneBlock((at) => {
        const read: typeof at.read = (reads) => {
          batches.push(reads.length)
          return at.read(reads)
        }
        return work({ header: at.header, read })
      }),
  }
}

/** Creation code of a sample, with the words of its constructor's arguments. */
export function sample(name: string, ...words: string[]): Hex {
  const { creation_code } = JSON.parse(readFileSync(`test/chain/samples/${name}.json`, 'utf8')) as { creation_code: Hex }
  return `${creation_code}${words.join('')}`
}

/** A contract of OpenZeppelin's package as its publisher compiled it. */
export function published(name: string, args: readonly unknown[]): Hex {
  const file = `node_modules/@openzeppelin/contracts/build/contracts/${name}.json`
  const { abi, bytecode } = JSON.parse(readFileSync(file, 'utf8')) as { abi: Abi; bytecode: Hex }
  return encodeDeployData({ abi, bytecode, args })
}
