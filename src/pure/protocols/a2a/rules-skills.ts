import { optional, unique } from '../kit/expect.ts'
import type { Place } from '../place.ts'
import { rule } from '../rule.ts'
import { at, CAMEL } from './names.ts'
import { saysSomething } from './rules-card.ts'
import { a2aSpec } from './spec.ts'
import type { A2aView } from './view.ts'

const SKILL = a2aSpec('4.4.5. AgentSkill')
const TEXTS = ['id', 'name', 'description'] as const

/** A2A-019…023: skills. */
export const SKILL_RULES = [
  rule<A2aView>(
    {
      code: 'A2A-019',
      severity: 'both',
      why: 'Clients choose an agent by its skills; the test kit refuses a card without any.',
      spec: SKILL,
      hint: 'List at least one skill.',
      good: { skills: [{ id: 'forecast', name: 'Forecast', description: 'Tells the weather', tags: ['weather'] }] },
      bad: { skills: [] },
    },
    ({ error, warning }, { card }) => {
      const list = card.get('skills')
      if (list.kind === 'null' || !optional(error, list, 'array')) return
      for (const item of list.items()) optional(error, item, 'object')
      if (list.kind === 'array' && list.items().length === 0) warning(list, 'is empty', { expected: 'at least one skill' })
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-020',
      severity: 'both',
      why: 'These members are required; registries index skills by their tags.',
      spec: SKILL,
      hint: 'Send id, name, description and a list of tags.',
      good: { id: 'forecast', name: 'Forecast', description: 'Tells the weather', tags: ['weather'] },
      bad: { id: 'forecast', name: 'Forecast' },
    },
    ({ error, warning }, { skills }) => {
      for (const skill of skills) {
        for (const name of TEXTS) {
          if (!skill.has(name)) error(skill.get(name), 'is missing')
          saysSomething(error, skill.get(name))
        }
        const tags = skill.get('tags')
        if (!tags.present) error(tags, 'is missing', { expected: 'a list of tags' })
        if (tags.kind === 'null' || !optional(error, tags, 'array')) continue
        for (const tag of tags.items()) optional(error, tag, 'string')
        if (tags.kind === 'array' && tags.items().length === 0) warning(tags, 'is empty', { expected: 'at least one tag' })
      }
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-021',
      severity: 'both',
      why: 'A skill is asked for by its id, and told from others by its name.',
      spec: SKILL,
      hint: 'Give each skill an id and a name of its own.',
      good: [
        { id: 'forecast', name: 'Forecast' },
        { id: 'history', name: 'History' },
      ],
      bad: [
        { id: 'weather', name: 'Weather' },
        { id: 'weather', name: 'Weather' },
      ],
    },
    ({ error, warning }, { skills }) => {
      const of = (name: string) => skills.map((skill) => skill.get(name))
      unique(error, of('id'), 'the id of another skill')
      unique(warning, of('name'), 'the name of another skill')
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-022',
      severity: 'warning',
      why: 'Nobody reads other members, and strict readers refuse them.',
      spec: SKILL,
      hint: 'Leave the member out, or put it into an extension.',
      good: { id: 'forecast', name: 'Forecast', description: 'Tells the weather', tags: ['weather'] },
      bad: { id: 'forecast', name: 'Forecast', description: 'Tells the weather', tags: ['weather'], parameters: {} },
    },
    ({ warning }, { skills, is_new }) => {
      const known = new Set([...TEXTS, 'tags', 'examples', 'inputModes', 'outputModes', is_new ? 'securityRequirements' : 'security'])
      for (const skill of skills)
        for (const member of skill.members())
          if (!known.has(CAMEL.get(member.key) ?? member.key)) warning(member, 'is no member of a skill')
    },
  ),
  rule<A2aView>(
    {
      code: 'A2A-023',
      severity: 'warning',
      why: 'Modes of a skill replace those of the card: an empty list accepts nothing, and the same list says nothing.',
      spec: SKILL,
      hint: 'Leave the list out where the modes of the card hold.',
      good: { defaultInputModes: ['text/plain'], skills: [{ inputModes: ['image/png'] }] },
      bad: { defaultInputModes: ['text/plain'], skills: [{ inputModes: ['text/plain'] }] },
    },
    ({ warning }, { card, skills }) => {
      for (const [name, general] of MODES) {
        const defaults = modesIn(at(card, general))
        for (const skill of skills) {
          const list = at(skill, name)
          if (list.kind !== 'array') continue
          if (list.items().length === 0) warning(list, 'is empty')
          else if (defaults !== '' && modesIn(list) === defaults) warning(list, 'repeats the modes of the card')
        }
      }
    },
  ),
]

const MODES = [
  ['inputModes', 'defaultInputModes'],
  ['outputModes', 'defaultOutputModes'],
] as const

/** The modes in any order, as one text; empty where one of them is no text. */
function modesIn(list: Place): string {
  const items = list.items()
  const texts = items.map((item) => item.text()).filter((text) => text !== null)
  if (texts.length === 0 || texts.length < items.length) return ''
  return JSON.stringify([...new Set(texts)].toSorted())
}
