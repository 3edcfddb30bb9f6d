import type { LogHead, ReceiptsLogStore } from '../../ports/receipts-log.ts'
import { base64Of, bytesToHex, concatBytes, hexToBytes } from '../../pure/log/bytes.ts'
import { consistencySpans, inclusionSpans } from '../../pure/log/merkle.ts'
import { proofText } from '../../pure/log/proof.ts'
import { tileWidth, type TileRequest } from '../../pure/log/tiles.ts'
import { cut, TreeReader } from './tree.ts'

/** What anybody may read of the log. All of it is derived from what the store holds now. */
export interface LogBook {
  /** The newest checkpoint with the lines of its witnesses; null before the first. */
  checkpoint(): Promise<string | null>
  /** The bytes of a tile or of a bundle of entries; null when the log does not have it. */
  tile(request: TileRequest): Promise<Uint8Array<ArrayBuffer> | null>
  /** Whether and where an entry is; `proof` is text that verifies offline. */
  proof(entry: Uint8Array): Promise<{ kind: 'included'; text: string } | { kind: 'waiting' } | { kind: 'unknown' }>
  /** That the newest tree continues the one of `old_size`, as a witness takes it; null when the log never was so small or is not so large. */
  consistency(old_size: number): Promise<string | null>
}

export function createLogBook(store: ReceiptsLogStore): LogBook {
  return {
    checkpoint: async () => {
      const head = await store.head()
      return head === null ? null : signed(store, head)
    },
    tile: (request) => tileBytes(store, request),
    proof: (entry) => proofOf(store, entry),
    consistency: async (old_size) => {
      const head = await store.head()
      if (head === null || old_size > head.size) return null
      const hashes = await new TreeReader(store).spans(consistencySpans(old_size, head.size))
      return [`old ${old_size}`, ...hashes.map(base64Of), '', head.checkpoint].join('\n')
    },
  }
}

async function signed(store: ReceiptsLogStore, head: LogHead): Promise<string> {
  const lines = await store.cosignatures(head.size)
  return head.checkpoint + lines.map((line) => `${line}\n`).join('')
}

/** Only tiles that a published checkpoint needs are served, at any width up to the one of now. */
async function tileBytes(store: ReceiptsLogStore, { kind, level, index, width }: TileRequest): Promise<Uint8Array<ArrayBuffer> | null> {
  const head = await store.head()
  if (head === null || tileWidth({ level, index }, head.size) < width) return null
  if (kind === 'hashes') {
    const hashes = await store.tile(level, index)
    const bytes = hashes === null ? null : cut(hashes, width)
    return bytes === null ? null : new Uint8Array(bytes)
  }
  const entries = await store.entries(index * 256, width)
  return new Uint8Array(concatBytes(...entries.flatMap((entry) => [ENTRY_LENGTH, hexToBytes(entry)])))
}

/** Each entry is 32 bytes long, said in two. */
const ENTRY_LENGTH = new Uint8Array([0, 32])

async function proofOf(store: ReceiptsLogStore, entry: Uint8Array) {
  const hex = bytesToHex(entry)
  // The position first: whatever has one is in every head read after it.
  const index = (await store.positions([hex])).get(hex)
  if (index === undefined) return (await store.is_waiting(hex)) ? ({ kind: 'waiting' } as const) : ({ kind: 'unknown' } as const)
  const head = await store.head()
  if (head === null) throw new Error('the receipts log has entries and no head')
  const hashes = await new TreeReader(store).spans(inclusionSpans(index, head.size))
  return { kind: 'included', text: proofText({ index, hashes, checkpoint: await signed(store, head) }) } as const
}
