/** Screening of names by an engine that the operator runs: moov watchman or yente. The project matches no names itself. */

export type ScreeningEngine = 'watchman' | 'yente'

/** List that the engine searched. */
export interface EngineList {
  name: string
  /** Day on which the engine loaded or indexed it, YYYY-MM-DD; null if the engine does not state it. */
  date: string | null
  entries: number | null
}

/** Entry whose name is like the given one. */
export interface EngineMatch {
  name: string
  /** 0 to 1, as the engine scores. */
  score: number
  list: string
  id: string
  programmes: string[]
  /** Birth dates of the entry, as the engine states them. */
  birth_dates: string[]
  /** Page of the entry; null if it has none. */
  url: string | null
}

/** `unreadable`: not the engine's format, or too long. `no_lists`: the engine has loaded no list. `refused`: it refused the request. */
export type EngineFault = 'timeout' | 'down' | 'refused' | 'unreadable' | 'no_lists'

export type EngineAnswer =
  | { kind: 'screened'; engine_version: string | null; lists: EngineList[]; matches: EngineMatch[] }
  | { kind: 'not_reached'; fault: EngineFault }

export interface NameScreening {
  readonly engine: ScreeningEngine
  /** Least score of a possible match. */
  readonly threshold: number
  /** Searches one name, within the time of the signal. Never rejects. */
  search(name: string, signal: AbortSignal): Promise<EngineAnswer>
}
