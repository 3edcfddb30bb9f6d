/** What a request brings that is not in it. */
export interface Env {
  Bindings: {
    /** Address of the socket's other end. */
    peer: string
    request_id: string
  }
}
