/** Somebody else who signs what they saw of our log. */
export interface WitnessClient {
  /** The key under which its lines are known, in the text form of verifier keys. */
  readonly verifier_key: string
  /** Sends a request of tlog-witness; status and body as they came. Rejects when nothing came in time. */
  addCheckpoint(body: string): Promise<{ status: number; text: string }>
}
