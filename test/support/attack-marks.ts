import { readFileSync } from 'node:fs'

/** A defended attack, as the tests mark it. */
export interface Attack {
  attack: string
  section: string
  asset: string
  attacker: string
  defence: string
  /** Tests that show the defence; without a title, the whole file does. */
  shown: { file: string; title: string | null }[]
}

const FIELDS = ['in', 'asset', 'attacker', 'defence'] as const

/**
 * Attacks that comments of these files mark. A mark is `// attack: …` before a test, or at the top for a whole file; one of the marks of an attack
 * has the fields `in`, `asset`, `attacker` and `defence` as well. Continued lines are indented. Throws for an attack that is described never or twice.
 */
export function attackMarks(files: readonly string[]): Attack[] {
  const attacks = new Map<string, Attack>()
  for (const file of files) for (const mark of marksOf(file)) add(attacks, mark)
  const found = [...attacks.values()]
  const incomplete = found.find(({ defence }) => defence === '')
  if (incomplete !== undefined) throw new Error(`No mark describes the attack "${incomplete.attack}".`)
  return found.toSorted((one, other) => (one.section < other.section ? -1 : Number(one.section > other.section)))
}

type Mark = Record<(typeof FIELDS)[number] | 'attack', string> & { shown: Attack['shown'][number] }

function add(attacks: Map<string, Attack>, { attack, in: section, asset, attacker, defence, shown }: Mark): void {
  const known = attacks.get(attack) ?? { attack, section: '', asset: '', attacker: '', defence: '', shown: [] }
  if (known.defence !== '' && defence !== '') throw new Error(`The attack "${attack}" is described twice.`)
  const described = defence === '' ? known : { ...known, section, asset, attacker, defence }
  attacks.set(attack, { ...described, shown: [...known.shown, shown] })
}

function* marksOf(file: string): Generator<Mark> {
  const lines = readFileSync(file, 'utf8').split('\n')
  for (let at = 0; at < lines.length; at++) {
    if (!/^\s*\/\/ attack: /.test(lines[at] ?? '')) continue
    const fields: Record<string, string> = {}
    let name = ''
    for (let next = at; ; next++) {
      const line = lines[next] ?? ''
      const [, field, text = ''] = /^\s*\/\/ (attack|in|asset|attacker|defence): (.*)$/.exec(line) ?? []
      const [, more] = /^\s*\/\/   (.*)$/.exec(line) ?? []
      if (field === undefined && more === undefined) break
      if (field === 'attack' && next > at) break
      if (field !== undefined) fields[(name = field)] = text
      else fields[name] += ` ${more}`
    }
    const [attack = '', section = '', asset = '', attacker = '', defence = ''] = ['attack', ...FIELDS].map((one) => fields[one])
    yield { attack, in: section, asset, attacker, defence, shown: { file, title: titleAfter(lines, at) } }
  }
}

/** Title of the test that begins after the marks; null where they end before something else. */
function titleAfter(lines: readonly string[], at: number): string | null {
  const rest = lines.slice(at)
  const begin = rest.findIndex((line) => !/^\s*\/\//.test(line))
  const code = rest.slice(begin, begin + 3).join('\n')
  const [, plain, template] = /^\s*test\(\s*(?:'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`)/.exec(code) ?? []
  return plain ?? template ?? null
}
