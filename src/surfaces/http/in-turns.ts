/** Of an answer, what is written in the turn of the event loop that it waited for. */
const TURN_BYTES = 65_536

/** A long answer waits for as many turns as short ones of its length would: writing it takes as long as they do. */
export async function inTurns(response: Response, turn: () => Promise<unknown>): Promise<Response> {
  const bytes = Number(response.headers.get('content-length'))
  for (let written = TURN_BYTES; written < bytes; written += TURN_BYTES) await turn()
  return response
}
