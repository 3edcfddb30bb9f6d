import { globSync } from 'node:fs'
import { PROTOCOL_IDS, type ProtocolId } from '../../src/pure/protocols/protocol.ts'
import type { CleanDocument } from './harness.ts'

export interface Known {
  protocol: ProtocolId
  name: string
  clean: CleanDocument
}

/** The clean documents of every protocol, from the files beside this one whose names begin with that of the protocol. */
export async function cleanDocuments(): Promise<Known[]> {
  const paths = globSync('*-{clean,cases}*.ts', { cwd: import.meta.dirname }).toSorted()
  const modules = await Promise.all(paths.map(async (path) => ({ path, exported: (await import(`./${path}`)) as Record<string, unknown> })))
  return modules.flatMap(({ path, exported }) => {
    const protocol = PROTOCOL_IDS.find((id) => path.startsWith(`${id}-`))
    return protocol === undefined ? [] : Object.values(exported).flatMap((found) => documentsIn(protocol, found))
  })
}

function documentsIn(protocol: ProtocolId, exported: unknown): Known[] {
  if (typeof exported !== 'object' || exported === null || Array.isArray(exported)) return []
  return Object.entries(exported).flatMap(([name, clean]: [string, unknown]) => (isClean(clean) ? [{ protocol, name, clean }] : []))
}

function isClean(value: unknown): value is CleanDocument {
  return typeof value === 'object' && value !== null && 'document' in value && 'version_source' in value
}
