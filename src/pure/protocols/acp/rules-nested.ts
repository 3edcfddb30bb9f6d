import { expectShape, type ShapeSays } from '../kit/shape.ts'
import type { Place } from '../place.ts'
import { rule, type Report } from '../rule.ts'
import { isEventOrder } from './detect.ts'
import { EVENT_ORDER } from './nested-order.ts'
import { OLD_SESSIONS } from './nested-old.ts'
import { DOCUMENTS, EXTENSION, OPTIONS } from './nested-shapes.ts'
import { ACP_TYPES } from './shape.ts'
import { schemaSpec } from './spec.ts'
import type { AcpView } from './view.ts'

/** ACP-047: whatever stands deeper in a document than the rules of its parts look. */
export const NESTED_RULES = [
  rule<AcpView>(
    {
      code: 'ACP-047',
      severity: 'both',
      why: 'The schemas are closed to their last member: a strict reader refuses the whole document for one of another type.',
      spec: schemaSpec('CheckoutSessionBase'),
      hint: 'Send members of the type, and with the values, that the schema of the version has; declare what an extension adds.',
      hint_by_case: true,
      good: { line_items: [{ id: 'li_1', name: 'Wool blanket', images: ['https://shop.example.com/1.png'] }] },
      bad: { line_items: [{ id: 'li_1', name: 7, images: 'https://shop.example.com/1.png' }] },
    },
    (report, view) => {
      const { body, context, version } = view
      const old = OLD_SESSIONS[version]
      const isGuessed = context.version_source === 'assumed'
      const type = ACP_TYPES.find((one) => one === context.type)
      // An error in a wrapper is reported as such.
      if (type === undefined || (type === 'error' && body.get('error').kind === 'object')) return
      const says = saysOf(report, view)
      if (type === 'order' && isEventOrder(body)) expectShape(says, body, EVENT_ORDER)
      else if (type !== 'checkout_session') expectShape(says, body, DOCUMENTS[type])
      else if (old !== undefined) expectShape({ ...says, rule: isGuessed ? report.warning : report.error }, body, old)
      else session(says, view)
    },
  ),
]

function session(says: ShapeSays, { body, options }: AcpView): void {
  expectShape(says, body, DOCUMENTS.checkout_session)
  for (const option of options) {
    const shape = OPTIONS.get(option.get('type').text() ?? '')
    if (shape !== undefined) expectShape(says, option, shape)
  }
  for (const extension of body.down('capabilities', 'extensions').items())
    if (extension.kind !== 'string') expectShape(says, extension, EXTENSION)
}

const SURE: ReadonlySet<string> = new Set(['checkout_session', 'feed_product', 'discovery'])

/**
 * No version knows a stray member, so it is an error whichever version the document is of. Closed sets and required members of sessions are
 * the same since 2026-01-30, and only the newest version has feeds and discovery; those of other documents are held against the newest version alone, where the document is of it for sure.
 */
function saysOf({ error, warning }: Report, { context, added }: AcpView): ShapeSays {
  const isSure = SURE.has(context.type) || (context.version === '2026-04-17' && context.version_source !== 'assumed')
  return {
    type: error,
    rule: isSure ? error : warning,
    stray: (member: Place) => {
      if (added.names.has(member.key)) return
      const sayStray = added.is_open ? warning : error
      sayStray(member, 'is a member that the schema does not have here')
    },
  }
}
