import { nobleSigner } from '../../src/adapters/signer/noble.ts'
import type { Registrar } from '../../src/ports/signer.ts'

/** Receipt key of the deployment that tests without a server stand for. */
const REGISTRAR_KEY = Uint8Array.from({ length: 32 }, (_, index) => (index === 31 ? 0xa5 : 0))

/** That deployment, at https://assay.test; it owns this key alone, and always did. */
export function fixedRegistrar(): Registrar {
  const signer = nobleSigner(REGISTRAR_KEY)
  return {
    origin: 'https://assay.test',
    chain_id: 84_532,
    address: signer.address,
    sign: (digest) => signer.sign(digest),
    owns: (asked) => asked.toLowerCase() === signer.address,
  }
}
