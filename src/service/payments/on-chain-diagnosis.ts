import type { Chain, ChainRead, ChainReadResult } from '../../ports/chain.ts'
import { bytes32Word, bytesTail, decodeString, uintWord } from '../../pure/payments/abi.ts'
import type { Authorization, SignedAuthorization } from '../../pure/payments/authorization.ts'
import { toHex } from '../../pure/receipts/crypto.ts'
import { decodeRevert, NAME_CALL, VERSION_CALL } from '../../pure/payments/token-calls.ts'
import { tokenSignature, type Sight } from './on-chain-reads.ts'
import { REFUSALS, type OnChainRefusal } from './on-chain-refusals.ts'

/** isValidSignature(bytes32,bytes) and what it returns for yes (EIP-1271, final). */
const IS_VALID_SIGNATURE = '0x1626ba7e'

export interface DiagnosisParts {
  chain: Pick<Chain, 'read'>
  token: { address: string; name: string; version: string }
  digest: (authorization: Authorization) => Uint8Array
  gas: bigint
}

/**
 * Why a simulated transfer failed, in the order in which @x402/evm 2.27.0 looks for it: signature of a wallet, token that is none, used
 * authorization, domain, balance; then what only FiatToken has, then the token's own words. Asks the chain once more.
 */
export async function diagnose(parts: DiagnosisParts, authorization: SignedAuthorization, sight: Sight): Promise<OnChainRefusal> {
  const [name, version, wallet] = await parts.chain.read(furtherReads(parts, authorization, sight))
  if (sight.payer_has_code && !isYes(wallet)) return REFUSALS.walletSignature
  if (sight.used === null) return REFUSALS.notSupported
  if (sight.used) return REFUSALS.used
  if (differs(name, parts.token.name)) return REFUSALS.tokenName
  if (differs(version, parts.token.version)) return REFUSALS.tokenVersion
  if (sight.balance_minor !== null && sight.balance_minor < authorization.value_minor) return REFUSALS.insufficient
  if (sight.payer_blocked === true) return REFUSALS.payerBlocked
  if (sight.paused === true) return REFUSALS.paused
  if (sight.recipient_blocked === true) return REFUSALS.recipientBlocked
  return fromWords(sight.simulation, sight.payer_has_code)
}

function furtherReads({ token, digest, gas }: DiagnosisParts, authorization: SignedAuthorization, sight: Sight): ChainRead[] {
  const reads: ChainRead[] = [
    { kind: 'call', to: token.address, data: NAME_CALL },
    { kind: 'call', to: token.address, data: VERSION_CALL },
  ]
  if (sight.payer_has_code) {
    const hash = toHex(digest(authorization))
    const data = IS_VALID_SIGNATURE + bytes32Word(hash) + uintWord(64n) + bytesTail(tokenSignature(authorization))
    reads.push({ kind: 'call', to: authorization.from, data, gas })
  }
  return reads
}

function isYes(result: ChainReadResult | undefined): boolean {
  return result?.ok === true && result.data.startsWith(IS_VALID_SIGNATURE)
}

/** A token that does not say who it is contradicts nothing. */
function differs(result: ChainReadResult | undefined, expected: string): boolean {
  const found = result?.ok === true ? decodeString(result.data) : null
  return found !== null && found !== expected
}

/** What tokens revert with, as texts of FiatToken and errors of OpenZeppelin. The words are read, never repeated. */
const WORDS: readonly (readonly [RegExp, OnChainRefusal])[] = [
  [/not yet valid/i, REFUSALS.notYetValid],
  [/expired/i, REFUSALS.expired],
  [/used or cancell?ed/i, REFUSALS.used],
  [/exceeds balance|insufficient balance/i, REFUSALS.insufficient],
]

function fromWords(simulation: ChainReadResult | null, payer_has_code: boolean): OnChainRefusal {
  if (simulation === null || simulation.ok) return REFUSALS.simulation
  const reason = decodeRevert(simulation.revert)
  if (reason.kind !== 'text') return REFUSALS.simulation
  if (/invalid signature/i.test(reason.text)) return payer_has_code ? REFUSALS.walletSignature : REFUSALS.accountSignature
  return WORDS.find(([words]) => words.test(reason.text))?.[1] ?? REFUSALS.simulationText
}
