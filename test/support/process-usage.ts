import { readFileSync } from 'node:fs'

/** USER_HZ of Linux on every architecture that Node runs on (proc(5)). */
const TICKS_PER_S = 100

/** User and system time of a process and all its threads, or of its ended children; null where there is no /proc. */
export function cpuSeconds(pid: number, whose: 'own' | 'children' = 'own'): number | null {
  const stat = readProc(pid, 'stat')
  if (stat === null) return null
  // The name stands in parentheses and may hold spaces. Fields 14 and 15 of all are utime and stime, 16 and 17 those of the children.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const first = whose === 'own' ? 11 : 13
  return (Number(fields[first]) + Number(fields[first + 1])) / TICKS_PER_S
}

/** The most memory that the process ever had resident, in MB (2^20 bytes); null where there is no /proc. */
export function peakRssMb(pid: number): number | null {
  return statusMb(pid, 'VmHWM')
}

/** What it has resident now. */
export function residentMb(pid: number): number | null {
  return statusMb(pid, 'VmRSS')
}

function statusMb(pid: number, field: 'VmHWM' | 'VmRSS'): number | null {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readProc(pid, 'status') ?? '')?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) / 1024
}

function readProc(pid: number, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return null
  }
}
