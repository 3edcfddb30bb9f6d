import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import {
  bytesToHex,
  bytesOfBase64,
  isSignedBy,
  readCheckpoint,
  readNote,
  readVerifierKey,
  type Checkpoint,
} from '../../src/pure/log/checkpoint.ts'
import { isConsistent } from '../../src/pure/log/tree.ts'
import { treeHash } from '../log/reference-tree.ts'

/** The receipts log as somebody sees it who keeps every checkpoint. */
export interface LogWatch {
  /** Distinct checkpoints so far. */
  kept(): number
  stop(): Promise<void>
  /** No two checkpoints contradict each other, and what the log holds in the end has the root of each. Returns the size of the log. */
  assertNeverForked(url: string): Promise<number>
}

/** A copy of the log as a mirror keeps it: entries are read as soon as a checkpoint covers them, and are never replaced. */
export interface LogMirror {
  /** Distinct checkpoints so far. */
  heads(): number
  /** Entries of the copy. */
  size(): number
  /** Each checkpoint whose root is not that of the copy at its size: two histories were signed. */
  forks(): string[]
  stop(): Promise<void>
}

const LOOK_MS = 200
const ENTRY_BYTES = 34
const BUNDLE = 256

export function watchLog(urls: () => string[]): LogWatch {
  const texts = new Set<string>()
  const stopping = new AbortController()

  async function look(url: string): Promise<void> {
    const response = await fetch(`${url}/log/checkpoint`)
    if (response.status === 200) texts.add(await response.text())
  }

  const looking = (async () => {
    while (!stopping.signal.aborted) {
      await Promise.all(urls().map((url) => look(url).catch(() => undefined)))
      await pause(LOOK_MS)
    }
  })()
  return {
    kept: () => texts.size,
    async stop() {
      stopping.abort()
      await looking
    },
    async assertNeverForked(url) {
      const key = readVerifierKey((await (await fetch(`${url}/log/key`)).text()).trim()) ?? assert.fail('no key of the log')
      const kept = [...texts].map((text) => {
        const note = readNote(text) ?? assert.fail(text)
        assert.ok(isSignedBy(note, key))
        return readCheckpoint(note.text) ?? assert.fail(text)
      })
      for (const one of kept) await assertProofFrom(url, one)
      const size = Math.max(...kept.map((one) => one.size))
      const entries = await entriesOf(url, size)
      for (const one of kept) assert.equal(hex(treeHash(entries.slice(0, one.size))), hex(one.root), `the root at ${one.size} entries`)
      return size
    },
  }
}

export function mirrorLog(urls: () => string[]): LogMirror {
  const entries: Uint8Array[] = []
  /** Sizes and roots of all checkpoints, in the order in which they were seen. */
  const seen = new Map<string, Checkpoint>()
  const stopping = new AbortController()

  async function look(url: string): Promise<void> {
    const response = await fetch(`${url}/log/checkpoint`)
    if (response.status !== 200) return
    const head = readCheckpoint(readNote(await response.text())?.text ?? '') ?? assert.fail('no checkpoint')
    seen.set(`${head.size} ${hex(head.root)}`, head)
    if (head.size > entries.length) entries.push(...(await entriesOf(url, head.size)).slice(entries.length))
  }

  const looking = (async () => {
    while (!stopping.signal.aborted) {
      // One after the other: two copies at the same time would add the same entries twice.
      for (const url of urls()) await look(url).catch(() => undefined)
      await pause(LOOK_MS)
    }
  })()
  return {
    heads: () => seen.size,
    size: () => entries.length,
    forks: () =>
      [...seen.values()]
        .filter(({ size, root }) => size <= entries.length && hex(treeHash(entries.slice(0, size))) !== hex(root))
        .map(({ size, root }) => `${size} entries with root ${hex(root)}, where the copy has ${hex(treeHash(entries.slice(0, size)))}`),
    async stop() {
      stopping.abort()
      await looking
    },
  }
}

/** What the service gives to witnesses: from the checkpoint that was kept to the newest one. */
async function assertProofFrom(url: string, kept: Checkpoint): Promise<void> {
  const response = await fetch(`${url}/log/consistency/${kept.size}`)
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const [proof = '', ...rest] = text.split('\n\n')
  const [first, ...hashes] = proof.split('\n')
  assert.equal(first, `old ${kept.size}`)
  const newest = readCheckpoint(readNote(rest.join('\n\n'))?.text ?? '') ?? assert.fail(text)
  const read = hashes.filter((line) => line !== '').map((line) => bytesOfBase64(line) ?? assert.fail(line))
  assert.ok(isConsistent(kept, newest, read), `from ${kept.size} to ${newest.size}`)
}

async function entriesOf(url: string, size: number): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = []
  for (let from = 0; from < size; from += BUNDLE) {
    const width = Math.min(BUNDLE, size - from)
    const path = `${String(from / BUNDLE).padStart(3, '0')}${width < BUNDLE ? `.p/${width}` : ''}`
    const response = await fetch(`${url}/log/tile/entries/${path}`)
    assert.equal(response.status, 200, path)
    const bytes = new Uint8Array(await response.arrayBuffer())
    for (let at = 0; at < width; at++) entries.push(bytes.subarray(at * ENTRY_BYTES + 2, (at + 1) * ENTRY_BYTES))
  }
  return entries
}

function hex(bytes: Uint8Array): string {
  return bytesToHex(bytes)
}
