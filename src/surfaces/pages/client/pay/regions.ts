import { paymentsPiece } from './payments-list.ts'
import type { Piece } from './pieces.ts'
import type { PayRecord } from './record.ts'
import { noticesPiece, standingPiece } from './standing.ts'
import { stationsPiece, type Trace } from './stations.ts'

/** The parts of the page that change with the invoice, by the ids of their places. Null empties a place. */
export function regionsOf(record: PayRecord, trace: Trace | null): Readonly<Record<Region, Piece | null>> {
  return {
    standing: standingPiece(record),
    stations: stationsPiece(record, trace),
    notices: noticesPiece(record),
    payments: paymentsPiece(record),
  }
}

export const REGIONS = ['standing', 'stations', 'notices', 'payments'] as const
export type Region = (typeof REGIONS)[number]
