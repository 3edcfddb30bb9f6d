import { holdsPan } from './pan.ts'

/**
 * Kinds of registration by shape, as in the patterns that GSTN publishes for its returns interface. `regular` stands for normal,
 * composite and casual taxpayers.
 */
export type GstinKind = 'regular' | 'tcs_collector' | 'tds_deductor' | 'government' | 'uin' | 'non_resident' | 'oidar'

const [C, D, J, N, O, R, S, U, Z] = [12, 13, 19, 23, 24, 27, 28, 30, 35]

/** The kind whose shape the 15 values have, or null. A PAN or TAN inside is not judged any further. */
export function gstinKind(read: Uint8Array): GstinKind | null {
  if (!allDigits(read, 0, 2)) return null
  return (read[2] ?? 0) < 10 ? kindWithoutPan(read) : kindWithPan(read)
}

/** Two digits for the year, three letters, five digits, and two letters that name the kind. */
function kindWithoutPan(read: Uint8Array): GstinKind | null {
  if (!allDigits(read, 2, 4) || !allLetters(read, 4, 7) || !allDigits(read, 7, 12)) return null
  const [first, second] = [read[12], read[13]]
  if ((first === U || first === O) && second === N) return 'uin'
  if (first === N && second === R) return 'non_resident'
  return first === O && second === S && read[0] === 9 && read[1] === 9 ? 'oidar' : null
}

/** PAN (or, for deductors and departments, TAN), number of the registration, and a letter that names the kind. */
function kindWithPan(read: Uint8Array): GstinKind | null {
  if (!allLetters(read, 2, 6) || !allDigits(read, 7, 11) || !allLetters(read, 11, 12)) return null
  const entity = read[12] ?? 0
  const marker = read[13] ?? 0
  if (marker === D) return entity > 0 ? 'tds_deductor' : null
  if ((read[6] ?? 0) < 10) return marker === Z && entity < 10 ? 'government' : null
  if (entity === 0) return null
  if (marker === C) return 'tcs_collector'
  return marker === Z || (marker >= 1 && marker <= J) ? 'regular' : null
}

/** Whether a PAN stands in characters 3–12: everywhere but in kinds without one, and in those that hold a TAN instead. */
export function carriesPan(kind: GstinKind, read: Uint8Array): boolean {
  return kind === 'regular' || kind === 'tcs_collector' || (kind === 'tds_deductor' && (read[6] ?? 0) >= 10)
}

export function panFits(kind: GstinKind, read: Uint8Array): boolean {
  return !carriesPan(kind, read) || holdsPan(read, 2)
}

function allDigits(read: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if ((read[index] ?? 0) > 9) return false
  return true
}

function allLetters(read: Uint8Array, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if ((read[index] ?? 0) < 10) return false
  return true
}
