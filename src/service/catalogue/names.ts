import type { z } from 'zod'
import type { NAMES_ANSWER } from './schemas.ts'

/** Names of parties as tools see them. Without a screening engine, names are not screened, and every answer says so. */

export type NamesAnswer = NonNullable<z.output<typeof NAMES_ANSWER>>

/** Party as it was given. The birth date is compared with those of a match and never clears one. */
export interface NameQuery {
  name: string
  birth_date: string | null
}

export interface NameSource {
  /** Returns whether an engine is asked. */
  readonly screens: boolean
  /** Throws `SourceDown` when the engine does not answer, so that the call is not charged. */
  screen(query: NameQuery, now_ms: number): Promise<NamesAnswer> | NamesAnswer
}

/** Sentence of an answer whose name was not screened. */
export const NOT_SCREENED = 'The name was not screened.'

const NOT_SCREENED_ANSWER: NamesAnswer = {
  status: 'not_screened',
  reason: `${NOT_SCREENED} This service has no screening engine.`,
  engine: null,
  engine_version: null,
  threshold: null,
  lists: [],
  matches: [],
}

/** Answer for a name without letters: a given value that could not be read, so that a person must look. */
export const UNREAD_ANSWER: NamesAnswer = { ...NOT_SCREENED_ANSWER, reason: 'The name has no letters and could not be read.' }

/** Returns whether a name was given that could not be read. */
export function isUnreadName({ status, reason }: NamesAnswer): boolean {
  return status === 'not_screened' && reason === UNREAD_ANSWER.reason
}

export const isUnread = (name: string) => !/\p{L}/u.test(name)

/** Source without an engine. */
export const noNameScreening: NameSource = {
  screens: false,
  screen: ({ name }) => (isUnread(name) ? UNREAD_ANSWER : NOT_SCREENED_ANSWER),
}

/** Source that returns a stated answer, for a replay. */
export function statedNames(answer: NamesAnswer): NameSource {
  return { screens: false, screen: () => answer }
}
