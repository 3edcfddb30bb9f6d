import type { BodyAccount } from '../../service/admission/bodies.ts'

/** Facts about a request that it does not carry itself. */
export interface Env {
  Bindings: {
    /** Address of the socket's other end. */
    peer: string
    request_id: string
    /** Memory that its body may hold; absent where it has none, or did not come over a connection. */
    body_account?: BodyAccount | undefined
  }
}
