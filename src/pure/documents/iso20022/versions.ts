import type { MessageKind } from './rule.ts'

/** Versions of each message that are known, with the year of the release that brought their shared types. */
export const MESSAGE_VERSIONS: Readonly<Record<MessageKind, ReadonlyMap<number, number>>> = {
  'pain.001': new Map([
    [3, 9],
    [9, 19],
    [11, 19],
    [12, 23],
  ]),
  'pacs.008': new Map([
    [2, 9],
    [8, 19],
    [10, 19],
    [12, 23],
    [13, 23],
  ]),
  'camt.053': new Map([
    [2, 9],
    [4, 13],
    [8, 19],
    [10, 19],
    [13, 23],
  ]),
}

/** Known messages as type and version: pain.001.001.03 and so on. */
export const KNOWN_MESSAGES: readonly string[] = Object.entries(MESSAGE_VERSIONS).flatMap(([kind, versions]) =>
  [...versions.keys()].map((version) => `${kind}.001.${String(version).padStart(2, '0')}`),
)

/** The known versions of one message, for a finding. */
export function knownVersions(message: MessageKind): string {
  return KNOWN_MESSAGES.filter((known) => known.startsWith(message)).join(', ')
}
