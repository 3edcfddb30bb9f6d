import { isMembers, type Members } from '../shapes.ts'

/** What came of a call, before it is shown. */
export type Reply =
  | { kind: 'answer'; body: Members; text: string }
  | { kind: 'payment'; problem: Members; wait_s: number | null }
  | { kind: 'problem'; problem: Members }
  /** Nothing came, or nothing of this service's own. */
  | { kind: 'nothing'; words: string }

export async function send(tool: string, body: string): Promise<Reply> {
  const reply = await posted(`/v1/tools/${tool}/call`, body)
  if (reply === null) {
    const words = 'The service could not be reached. It may be stopped, or this device may be offline.'
    return { kind: 'nothing', words }
  }
  const { response, text } = reply
  const read = parsed(text)
  if (read === null) return { kind: 'nothing', words: `The service answered with status ${response.status} and no JSON.` }
  if (response.status === 402) {
    const wait = response.headers.get('retry-after')
    return { kind: 'payment', problem: read, wait_s: wait === null ? null : Number(wait) }
  }
  if (response.ok && isMembers(read['result']) && isMembers(read['receipt'])) return { kind: 'answer', body: read, text }
  return { kind: 'problem', problem: read }
}

/** The response and its text; null when none came, or not to its end. */
async function posted(path: string, body: string): Promise<{ response: Response; text: string } | null> {
  try {
    const response = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return { response, text: await response.text() }
  } catch {
    return null
  }
}

function parsed(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text)
    return isMembers(value) ? value : null
  } catch {
    return null
  }
}
