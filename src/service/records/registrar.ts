import type { Registrar } from '../../ports/registrar.ts'
import type { Signer } from '../../ports/signer.ts'
import { judgeKey, type KeyList } from '../../pure/receipts/keys.ts'

/** The registrar of a deployment: its receipt key, its published keys, and its origin, which is known once the server listens. */
export function createRegistrar(signer: Signer, keys: KeyList, origins: { readonly base_url: string }, chain_id: number): Registrar {
  return {
    get origin() {
      return origins.base_url
    },
    chain_id,
    address: signer.address,
    sign: (digest) => signer.sign(digest),
    owns: (address, ts) => judgeKey(keys, address, ts).signer_valid_at_ts,
  }
}
