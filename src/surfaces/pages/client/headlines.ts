import type { Headline, HeadlineRule } from '../../../pure/headline.ts'
import { CHECK_HEADLINES, headlineReader } from '../../../service/catalogue/headlines.ts'
import { textOf, type Members } from './shapes.ts'

/** Tables of the tools that this page may show, by tool; a tool that is not among them has the headlines of a single check. */
let tables: Readonly<Record<string, readonly HeadlineRule[]>> | null = null

/** Returns the decision of a result, by the table of its tool that the server wrote into the answer pane. */
export function headlineOf(result: Members): Headline {
  tables ??= JSON.parse(document.getElementById('answer')?.dataset['headlines'] ?? '{}') as Readonly<
    Record<string, readonly HeadlineRule[]>
  >
  const tool = textOf(result['tool']) ?? ''
  const rules = Object.hasOwn(tables, tool) ? tables[tool] : undefined
  return headlineReader(rules ?? CHECK_HEADLINES)(result)
}
