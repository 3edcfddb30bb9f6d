import { nobleCrypto } from '../receipts/crypto.ts'
import type { CodeScan, SelectorEvidence, WatchedOpcode } from './code-scan.ts'

/** Power over holders of a token that a function of this kind gives to its caller. */
export const SELECTOR_CATEGORIES = [
  'mint',
  'burn_others',
  'pause_freeze',
  'blacklist',
  'fees',
  'exemptions',
  'limits',
  'trading',
  'upgrade',
  'ownership',
  'lock',
  'roles',
  'rescue',
  'balances',
] as const

export type SelectorCategory = (typeof SELECTOR_CATEGORIES)[number]

interface PrivilegedSelector {
  category: SelectorCategory
  signature: string
  /** First four bytes of keccak-256 of the signature, 0x-prefixed. */
  selector: string
}

/**
 * Functions that tokens on EVM chains are known to keep for their operators, by their Solidity signatures: OpenZeppelin 4 and 5, Circle's
 * FiatToken, Tether, ERC-2535, ERC-7802, and the templates that most launch tokens are copied from (collected November 2026). The list is
 * finite: a function under another name is not found, and a name says nothing about who may call it.
 */
export const PRIVILEGED_SIGNATURES: Readonly<Record<SelectorCategory, readonly string[]>> = {
  mint: [
    'mint(address,uint256)',
    'mint(uint256)',
    'mintTo(address,uint256)',
    'configureMinter(address,uint256)',
    'addMinter(address)',
    'setMinter(address)',
    'issue(uint256)',
    'updateMasterMinter(address)',
    'crosschainMint(address,uint256)',
  ],
  burn_others: ['burn(address,uint256)', 'burnBlackFunds(address)', 'destroyBlackFunds(address)', 'wipeFrozenAddress(address)'],
  pause_freeze: ['pause()', 'unpause()', 'setPaused(bool)', 'freeze(address)', 'unfreeze(address)'],
  blacklist: [
    'blacklist(address)',
    'unBlacklist(address)',
    'blacklist(address,bool)',
    'updateBlacklister(address)',
    'addBlackList(address)',
    'removeBlackList(address)',
    'setBlacklist(address,bool)',
    'blacklistAddress(address,bool)',
    'setBots(address[],bool)',
    'addBots(address[])',
    'delBots(address[])',
    'setBot(address,bool)',
    'blockBots(address[])',
  ],
  fees: [
    'setFee(uint256)',
    'setFees(uint256,uint256)',
    'setTax(uint256)',
    'setTaxes(uint256,uint256)',
    'setBuyFee(uint256)',
    'setSellFee(uint256)',
    'updateFees(uint256,uint256)',
    'updateBuyFees(uint256,uint256,uint256)',
    'updateSellFees(uint256,uint256,uint256)',
    'reduceFee(uint256)',
    'setTaxFeePercent(uint256)',
    'setLiquidityFeePercent(uint256)',
    'setMarketingWallet(address)',
    'setParams(uint256,uint256)',
  ],
  exemptions: [
    'excludeFromFees(address,bool)',
    'excludeFromFee(address)',
    'includeInFee(address)',
    'setIsFeeExempt(address,bool)',
    'excludeFromMaxTransaction(address,bool)',
    'setIsTxLimitExempt(address,bool)',
  ],
  limits: [
    'setMaxTx(uint256)',
    'setMaxTxAmount(uint256)',
    'setMaxTxPercent(uint256)',
    'updateMaxTxnAmount(uint256)',
    'setMaxWallet(uint256)',
    'setMaxWalletAmount(uint256)',
    'updateMaxWalletAmount(uint256)',
    'removeLimits()',
    'setCooldownEnabled(bool)',
  ],
  trading: [
    'enableTrading()',
    'openTrading()',
    'setTrading(bool)',
    'setTradingEnabled(bool)',
    'launch()',
    'startTrading()',
    'setAutomatedMarketMakerPair(address,bool)',
    'setSwapEnabled(bool)',
    'updateSwapEnabled(bool)',
  ],
  upgrade: [
    'upgradeTo(address)',
    'upgradeToAndCall(address,bytes)',
    'changeAdmin(address)',
    'setImplementation(address)',
    'upgrade(address,address)',
    'upgradeAndCall(address,address,bytes)',
    'diamondCut((address,uint8,bytes4[])[],address,bytes)',
    'proxiableUUID()',
  ],
  ownership: [
    'owner()',
    'getOwner()',
    'transferOwnership(address)',
    'renounceOwnership()',
    'acceptOwnership()',
    'pendingOwner()',
    'setOwner(address)',
    'setAuthority(address)',
  ],
  lock: ['lock(uint256)', 'unlock()'],
  roles: [
    'grantRole(bytes32,address)',
    'revokeRole(bytes32,address)',
    'renounceRole(bytes32,address)',
    'setOperator(address)',
    'addAdmin(address)',
    'beginDefaultAdminTransfer(address)',
  ],
  rescue: [
    'rescueERC20(address,address,uint256)',
    'rescueTokens(address,uint256)',
    'recoverERC20(address,uint256)',
    'withdraw()',
    'withdrawToken(address)',
    'sweep(address)',
    'withdrawStuckETH()',
    'clearStuckBalance(uint256)',
    'emergencyWithdraw()',
  ],
  balances: ['setBalance(address,uint256)', 'rebase(uint256,int256)', 'execute(address,uint256,bytes)'],
}

let by_number: ReadonlyMap<number, PrivilegedSelector> | null = null

/** The list by selector, as numbers of 32 bits, in the order of the list; hashed when it is first asked for. */
export function privilegedSelectors(): ReadonlyMap<number, PrivilegedSelector> {
  by_number ??= new Map(
    SELECTOR_CATEGORIES.flatMap((category) =>
      PRIVILEGED_SIGNATURES[category].map((signature): [number, PrivilegedSelector] => {
        const selector = nobleCrypto.keccak256Hex(signature).slice(0, 10)
        return [Number.parseInt(selector, 16), { category, signature, selector }]
      }),
    ),
  )
  return by_number
}

/** Origin of the code: the address itself, its delegation target, or the facets that a diamond's loupe lists. */
type Place = 'contract' | 'implementation' | 'facet'

export interface PrivilegedFact extends PrivilegedSelector {
  where: Place
  evidence: SelectorEvidence | 'loupe'
}

/** The known functions that occur, in the order of the list. */
export function privilegedFacts(own: CodeScan | null, implementation: CodeScan | null, facets: ReadonlySet<number>): PrivilegedFact[] {
  const found: PrivilegedFact[] = []
  for (const [where, scan] of [['contract', own] as const, ['implementation', implementation] as const]) {
    for (const [number, known] of privilegedSelectors()) {
      const evidence = scan?.selectors.get(number)
      if (evidence !== undefined) found.push({ ...known, where, evidence })
    }
  }
  for (const [number, known] of privilegedSelectors()) if (facets.has(number)) found.push({ ...known, where: 'facet', evidence: 'loupe' })
  return found
}

export interface OpcodeFact {
  name: WatchedOpcode
  count: number
  where: Place
  /** Present in the code; it may never run. */
  evidence: 'linear_sweep'
  note: string | null
}

const NOTES: Partial<Record<WatchedOpcode, string>> = {
  SELFDESTRUCT: 'Since EIP-6780 it deletes code only in the transaction that created it; it still sends away the balance.',
  ORIGIN: 'Distinguishes the signer of a transaction from contracts in between.',
}

/** Opcodes that occur. SSTORE is always that of the contract itself: without it nothing can be stored. */
export function opcodeFacts(own: CodeScan | null, implementation: CodeScan | null): OpcodeFact[] {
  return [['contract', own] as const, ['implementation', implementation] as const].flatMap(([where, scan]) =>
    Object.entries(scan?.opcodes ?? {}).flatMap(([opcode, count]) => {
      const name = opcode as WatchedOpcode
      if (count === 0 && (name !== 'SSTORE' || where !== 'contract')) return []
      return [{ name, count, where, evidence: 'linear_sweep' as const, note: NOTES[name] ?? null }]
    }),
  )
}
