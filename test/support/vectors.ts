import { existsSync, readFileSync } from 'node:fs'
import type { Tool } from '../../src/service/catalogue/define.ts'

/** One case of a tool: input, what the result must hold, and who says so. */
interface Vector {
  name: string
  in: Record<string, unknown>
  out: Record<string, unknown>
  /** The standard, publisher or independent calculation that the expectation comes from. */
  origin: string
}

export interface VectorFile {
  tool: string
  cases: Vector[]
}

const FOLDER = new URL('../../vectors/', import.meta.url)

/** The vectors of a tool; null when there is no file. */
export function readVectors(tool: Pick<Tool, 'family' | 'id'>): VectorFile | null {
  const file = new URL(`${tool.family}/${tool.id}.json`, FOLDER)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as VectorFile) : null
}
