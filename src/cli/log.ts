import {
  bytesToHex,
  isSignedBy,
  readCheckpoint,
  readNote,
  readVerifierKey,
  type VerifierKey,
  verifyLogProof,
} from '../pure/log/checkpoint.ts'
import { verifyReceipt } from '../pure/receipts/verify.ts'
import type { Invocation } from './commands.ts'
import { CliError, type Exit, printable, unknownName } from './errors.ts'
import { readJsonFile, readReceipt } from './input.ts'
import { requestService, serviceUrl } from './remote.ts'
import { outcomeMark, say, table, wantsJson } from './terminal.ts'
import { receiptEntry } from './verify.ts'

const ACTIONS = ['checkpoint', 'proof', 'resume'] as const

/** `assay log checkpoint | proof`: reads the public log of a service and verifies what it answers. `resume` acts on the log of this deployment. */
export async function run(invocation: Invocation): Promise<Exit> {
  const [word, file] = invocation.words
  const action = ACTIONS.find((known) => known === word)
  if (word === undefined)
    throw new CliError('usage', 'Give an action: assay log checkpoint, assay log proof <receipt.json>, or assay log resume.')
  if (action === undefined) throw unknownName('action', word, ACTIONS, 'The actions are checkpoint, proof and resume.')
  if (action === 'resume') return (await import('./log-resume.ts')).resume(invocation)
  if (invocation.text('accept') !== null || invocation.text('reason') !== null)
    throw new CliError('usage', '--accept and --reason go with resume.')
  const url = serviceUrl(invocation)
  const key = await logKey(url, invocation)
  if (action === 'checkpoint') return showCheckpoint(url, key, invocation)
  if (file === undefined) throw new CliError('usage', 'Give the receipt: assay log proof <receipt.json> --url https://…')
  return showProof(url, key, file, invocation)
}

/** The key of a saved key list, or else the one that the service publishes. */
async function logKey(url: string, invocation: Invocation): Promise<VerifierKey> {
  const file = invocation.text('keys')
  const list = file === null ? (await requestService(url, '/.well-known/xdr-1.json')).body : await readJsonFile(file)
  const log = typeof list === 'object' && list !== null && 'log' in list ? list.log : null
  const text = typeof log === 'object' && log !== null && 'verifier_key' in log ? log.verifier_key : null
  const key = typeof text === 'string' ? readVerifierKey(text) : null
  if (key?.type === 'log') return key
  throw new CliError('unavailable', 'The key list contains no key of a log: this service keeps none.')
}

async function showCheckpoint(url: string, key: VerifierKey, invocation: Invocation): Promise<Exit> {
  const { status, text } = await requestService(url, '/log/checkpoint')
  const note = status === 200 ? readNote(text) : null
  const checkpoint = note === null ? null : readCheckpoint(note.text)
  if (note === null || checkpoint === null) throw new CliError('unavailable', 'The service answered with no checkpoint of a log.')
  const valid = isSignedBy(note, key)
  const { origin, size, root } = checkpoint
  const report = { valid, origin, size, root: bytesToHex(root), checkpoint: text }
  const rows = [
    ['Log', printable(origin)],
    ['Entries', String(size)],
    ['Root', report.root],
  ]
  const word = valid ? 'signed by the key of the log' : 'not signed by the key of the log'
  say(wantsJson(invocation) ? JSON.stringify(report) : [outcomeMark(valid, word), ...table(rows), '', text.trimEnd()].join('\n'))
  return valid ? 'ok' : 'negative'
}

async function showProof(url: string, key: VerifierKey, file: string, invocation: Invocation): Promise<Exit> {
  const { receipt } = await readReceipt(file)
  const entry = receiptEntry(verifyReceipt(receipt).digest, receipt)
  if (entry === null) throw new CliError('data', 'The file contains no receipt whose signature can be read.')
  const { status, text, body } = await requestService(url, `/log/proof/${bytesToHex(entry)}`)
  if (status !== 200) {
    const detail = typeof body === 'object' && body !== null && 'detail' in body ? String(body.detail) : `status ${status}`
    throw new CliError('unavailable', `The log has no proof of this receipt: ${printable(detail)}`)
  }
  const verdict = verifyLogProof(text, entry, key)
  const { valid, reason, index, checkpoint } = verdict
  const rows = [
    ['Entry', bytesToHex(entry)],
    ['Position', String(index)],
    ['Checkpoint', checkpoint === null ? 'none' : `${printable(checkpoint.origin)}, ${checkpoint.size} entries`],
  ]
  if (wantsJson(invocation))
    say(JSON.stringify({ valid, code: verdict.code, reason, entry: bytesToHex(entry), index, checkpoint, proof: text }))
  else say([outcomeMark(valid, valid ? 'in the log' : 'proof not valid'), reason, ...table(rows), '', text.trimEnd()].join('\n'))
  return valid ? 'ok' : 'negative'
}
