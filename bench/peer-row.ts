import { figures } from './report.ts'

/** One line of the table of peers: what is done, by whom else, and how the two compare. */
export interface PeerRow {
  work: string
  peer: string
  /** Unit that is counted per second. */
  unit: string
  ours_per_s: number
  theirs_per_s: number
  /** Processor time of a piece of work; null where it cannot be read. */
  ours_cpu_us: number | null
  theirs_cpu_us: number | null
  /** Null if no client waits for an answer. */
  p99_ms: { ours: number; theirs: number } | null
}

export const PEER_HEADER = [
  'work',
  'peer',
  'a second',
  'assay',
  'peer',
  'ratio',
  'CPU µs',
  'CPU µs, peer',
  'CPU ratio',
  'p99 ms',
  'p99 ms, peer',
]

/** Ratios say how many times as much the service does, or how many times as much processor time the peer needs. */
export function peerCells({ work, peer, unit, ours_per_s, theirs_per_s, ours_cpu_us, theirs_cpu_us, p99_ms }: PeerRow): string[] {
  const cpu_ratio = ours_cpu_us === null || theirs_cpu_us === null ? null : theirs_cpu_us / ours_cpu_us
  return [
    work,
    peer,
    unit,
    figures(ours_per_s),
    figures(theirs_per_s),
    figures(ours_per_s / theirs_per_s),
    figures(ours_cpu_us),
    figures(theirs_cpu_us),
    figures(cpu_ratio),
    figures(p99_ms?.ours ?? null),
    figures(p99_ms?.theirs ?? null),
  ]
}
