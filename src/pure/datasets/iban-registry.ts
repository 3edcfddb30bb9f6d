import type { IbanRow } from '../checks/iban.ts'

/** The text file of the IBAN registry as SWIFT publishes it. */

/** Cells of tab-separated lines; a quoted cell may contain line breaks. Null for a text that ends within a line. */
function tabbedLines(text: string): string[][] | null {
  const lines: string[][] = [[]]
  let [cell, quoted] = ['', false]
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? ''
    if (character === '"' && (quoted || cell === '')) {
      if (quoted && text[index + 1] === '"') cell += text[++index] ?? ''
      else quoted = !quoted
    } else if (quoted || (character !== '\t' && character !== '\n')) cell += character
    else {
      lines.at(-1)?.push(cell.trim())
      cell = ''
      if (character === '\n') lines.push([])
    }
  }
  return quoted || cell !== '' || lines.at(-1)?.length !== 0 ? null : lines
}

/** Country of the IBAN registry, with the places of bank and branch in the BBAN from 0. */
export interface RegistryColumn extends Omit<IbanRow, 'parts' | 'registry'> {
  bank: [start: number, end: number] | null
  branch: [start: number, end: number] | null
}

/** Columns of the text file of SWIFT (tab-separated, Latin-1): a line for each fact, a column for each country. A text says why it is refused. */
export function registryColumns(text: string): RegistryColumn[] | string {
  const lines = tabbedLines(text)
  if (lines === null) return 'The registry does not end with a line break: it is truncated.'
  const facts = {
    country: 'IBAN prefix country code (ISO 3166)',
    territories: 'Country code includes other countries/territories',
    structure: 'BBAN structure',
    bank: 'Bank identifier position within the BBAN',
    branch: 'Branch identifier position within the BBAN',
    length: 'IBAN length',
    example: 'IBAN electronic format example',
  } as const
  const found = Object.entries(facts).map(([fact, label]) => [fact, lines.find(([first]) => first === label)?.slice(1)] as const)
  const missing = found.find(([, cells]) => cells === undefined)?.[0]
  if (missing !== undefined) return `The registry has no line "${facts[missing as keyof typeof facts]}".`
  const cells = Object.fromEntries(found) as Record<keyof typeof facts, string[]>
  const place = (cell = ''): [number, number] | null => {
    const [, first, last] = /^(\d{1,2})\s?-\s?(\d{1,2})$/.exec(cell) ?? []
    return first === undefined || last === undefined ? null : [Number.parseInt(first, 10) - 1, Number.parseInt(last, 10)]
  }
  return cells.country.map((country, column) => ({
    country,
    structure: cells.structure[column] ?? '',
    length: Number.parseInt(cells.length[column] ?? '', 10),
    territories: cells.territories[column]?.match(/\b[A-Z]{2}\b/g) ?? [],
    example: cells.example[column] ?? '',
    bank: place(cells.bank[column]),
    branch: place(cells.branch[column]),
  }))
}

/** Bank, branch and account, if they follow each other from the first character; else the account alone. */
export function plainParts({ length, bank, branch }: RegistryColumn): string {
  const places = [bank, branch].filter((place) => place !== null)
  const end = places.at(-1)?.[1] ?? 0
  const joined = bank !== null && bank[0] === 0 && (branch === null || branch[0] === bank[1]) && end < length - 4
  if (!joined) return `account:${length - 4}`
  const parts = [`bank:${bank[1]}`, ...(branch === null ? [] : [`branch:${branch[1] - branch[0]}`]), `account:${length - 4 - end}`]
  return parts.join(' ')
}

/** Returns whether the part with this label is at this place of the BBAN; true for null. */
export function hasPart(parts: string, label: string, place: [number, number] | null): boolean {
  let end = 0
  return (
    place === null ||
    parts.split(' ').some((part) => {
      const [name = '', size = '0'] = part.split(':')
      const start = end
      end += Number.parseInt(size, 10)
      return name === label && start === place[0] && end === place[1]
    })
  )
}
