const last = new Map<string, Promise<unknown>>()

/**
 * Runs what sends for an account after all that was begun before for the same one. The node chooses the nonce of what it sends for others:
 * two at once may get the same, and the second is then refused as an underpriced replacement.
 */
export function inTurn<Value>(account: string, send: () => Promise<Value>): Promise<Value> {
  const sent = (last.get(account) ?? Promise.resolve()).then(send)
  last.set(
    account,
    sent.catch(() => undefined),
  )
  return sent
}
