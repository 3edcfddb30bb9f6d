import type { Log } from '../../ports/log.ts'
import type { ReceiptsLogStore } from '../../ports/receipts-log.ts'
import type { WitnessClient } from '../../ports/witnesses.ts'
import { readNote, readSignatureLine, readVerifierKey, signedTime, type VerifierKey } from '../../pure/log/note.ts'
import type { LogBook } from './book.ts'

export interface CosignatureParts {
  store: ReceiptsLogStore
  book: LogBook
  witnesses: readonly WitnessClient[]
  log: Log
}

/** Brings the newest checkpoint to every witness and keeps what they sign. A witness that fails is asked again with the next one. */
export async function gatherCosignatures({ store, book, witnesses, log }: CosignatureParts): Promise<void> {
  const head = await store.head()
  if (head === null || head.size === 0 || witnesses.length === 0) return
  const have = await store.cosignatures(head.size)
  await Promise.all(
    witnesses.map(async (witness) => {
      const key = readVerifierKey(witness.verifier_key)
      if (key === null || have.some((line) => readSignatureLine(line)?.id === key.id)) return
      try {
        const line = await cosignatureOf(book, witness, key)
        if (line !== null) await store.cosign(line.size, `${key.name} ${key.id}`, line.text)
      } catch (error) {
        log.warn({ witness: key.name, error: String(error) }, 'a witness did not sign the checkpoint')
      }
    }),
  )
}

/** Asks from the size that the witness last signed, which it tells when the guess is wrong. */
async function cosignatureOf(book: LogBook, witness: WitnessClient, key: VerifierKey) {
  let old_size = 0
  for (let attempt = 0; attempt < 2; attempt++) {
    const body = await book.consistency(old_size)
    if (body === null) throw new Error(`it stands at ${old_size}, where this log never was`)
    const { status, text } = await witness.addCheckpoint(body)
    if (status === 200) return checked(body, text, key)
    const size = /^(?:0|[1-9]\d{0,15})\n$/.test(text) ? Number(text.trim()) : null
    if (status !== 409 || size === null) throw new Error(`it answered with status ${status}`)
    old_size = size
  }
  throw new Error('it stands at another size each time')
}

function checked(body: string, answer: string, key: VerifierKey): { size: number; text: string } {
  const note = readNote(body.slice(body.indexOf('\n\n') + 2))
  const text = answer.split('\n').find((line) => {
    const read = readSignatureLine(line)
    return read !== null && note !== null && read.name === key.name && read.id === key.id && signedTime(note.text, key, read.bytes) !== null
  })
  if (text === undefined || note === null) throw new Error('its signature does not hold')
  return { size: Number(note.text.split('\n')[1]), text }
}
