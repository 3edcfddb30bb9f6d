import type { ChainRead, ChainReadResult } from '../../ports/chain.ts'
import { bytesTail, decodeUint, uintWord } from '../../pure/payments/abi.ts'
import { ChainUnavailableError } from './errors.ts'

/** GasPriceOracle, a predeploy of every OP chain (OP Stack specification, "Predeploys"). */
const ORACLE = '0x420000000000000000000000000000000000000f'
/** getL1FeeUpperBound(uint256), since Fjord; getL1Fee(bytes) before it. */
const UPPER_BOUND = '0xf1c7a58b'
const EXACT = '0x49948e0e'

/**
 * What an OP chain takes beside gas for publishing a transaction; zero, remembered, on a chain without the oracle. Errs high: the bound is
 * for what compresses worst, and counts the signature twice.
 */
export function dataFeeReader(read: (reads: readonly ChainRead[]) => Promise<ChainReadResult[]>): (raw: string) => Promise<bigint> {
  let absent = false
  return async (raw) => {
    if (absent) return 0n
    const length = BigInt((raw.length - 2) / 2)
    const [code, bound, exact] = await read([
      { kind: 'code', address: ORACLE },
      { kind: 'call', to: ORACLE, data: UPPER_BOUND + uintWord(length) },
      { kind: 'call', to: ORACLE, data: EXACT + uintWord(32n) + bytesTail(raw) },
    ])
    absent = code?.ok === true && code.data === '0x'
    if (absent) return 0n
    const fee = feeOf(bound) ?? feeOf(exact)
    if (fee === null) throw new ChainUnavailableError('The chain cannot be read: its oracle of data fees gives none.')
    return fee
  }
}

function feeOf(result: ChainReadResult | undefined): bigint | null {
  return result?.ok === true ? decodeUint(result.data) : null
}
