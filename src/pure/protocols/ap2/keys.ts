import { PRIVATE_JWK_MEMBERS } from '../kit/keys.ts'
import type { Place } from '../place.ts'
import type { Mandate } from './mandates.ts'
import type { Ap2View } from './view.ts'

/** The key that a mandate is bound to. */
interface CnfKey {
  mandate: Mandate
  cnf: Place
  jwk: Place
  /** Members that only the holder of the key may know. */
  secrets: Place[]
}

export function cnfKeys({ mandates, disclosed }: Ap2View): CnfKey[] {
  return mandates.flatMap((mandate) => {
    const cnf = disclosed.get(mandate.claims, 'cnf')
    const jwk = cnf.get('jwk')
    const secrets = PRIVATE_JWK_MEMBERS.map((name) => jwk.get(name)).filter((place) => place.present && !place.redacted)
    return cnf.present ? [{ mandate, cnf, jwk, secrets }] : []
  })
}
