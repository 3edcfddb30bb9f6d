import { once } from '../once.ts'
import { snapshotHash, type Snapshot } from './definition.ts'
import { dataDate, datasetDate, type DatedTable } from './table.ts'

/** Table that changes with releases only: a check reads it from the code or from `data/`, and no snapshot of the store replaces it. */
export interface ReleaseTable<Id extends string = string> extends DatedTable<Id> {
  bundled(): Snapshot
  /** SHA-256 of the canonical text, as `/v1/datasets` lists it. */
  sha256(): string
}

/** Names a table that changes with releases only. The snapshot is made, and hashed, when a first answer needs its date. */
export function releaseTable<const Id extends string>(id: Id, snapshot: () => Snapshot): ReleaseTable<Id> {
  const bundled = once(snapshot)
  const sha256 = once(() => snapshotHash(bundled()))
  return {
    definition: { id },
    bundled,
    sha256,
    date: once(() => datasetDate(dataDate(bundled()), sha256())),
    // It never changes.
    follow: () => undefined,
  }
}
