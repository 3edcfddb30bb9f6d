/** Bytes of a response that count as one turn in the queue. */
const TURN_BYTES = 65_536

/** Waits in the queue in proportion to the length of the response, because writing a long one takes as long as several short ones. */
export async function afterTurns(response: Response, turn: () => Promise<unknown>): Promise<Response> {
  const bytes = Number(response.headers.get('content-length'))
  for (let written = TURN_BYTES; written < bytes; written += TURN_BYTES) await turn()
  return response
}
