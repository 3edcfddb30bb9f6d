import { expectShape, type ShapeSays } from '../kit/shape.ts'
import type { Place } from '../place.ts'
import { rule, type Report } from '../rule.ts'
import { isEventOrder } from './detect.ts'
import { EVENT_ORDER } from './nested-order.ts'
import { DOCUMENTS, EXTENSION, OLD_SESSION, OPTIONS } from './nested-shapes.ts'
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
      good: { line_items: [{ id: 'li_1', name: 'Wool blanket', images: ['https://shop.example.com/1.png'] }] },
      bad: { line_items: [{ id: 'li_1', name: 7, images: 'https://shop.example.com/1.png' }] },
    },
    (report, view) => {
      const { body, context, is_old } = view
      const type = ACP_TYPES.find((one) => one === context.type)
      // An error in a wrapper is reported as such.
      if (type === undefined || (type === 'error' && body.get('error').kind === 'object')) return
      const says = saysOf(report, view)
      if (type === 'order' && isEventOrder(body)) expectShape(says, body, EVENT_ORDER)
      else if (type !== 'checkout_session') expectShape(says, body, DOCUMENTS[type])
      else if (is_old) expectShape(report.error, body, OLD_SESSION)
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

/** Closed sets are held against documents that are of the newest version for sure: those of the one before were others. */
function saysOf({ error, warning }: Report, { context, added }: AcpView): ShapeSays {
  const isSure = context.version === '2026-04-17' && context.version_source !== 'assumed'
  const say = isSure ? error : warning
  return {
    type: error,
    rule: say,
    stray: (member: Place) => {
      if (added.names.has(member.key)) return
      const sayStray = added.is_open ? warning : say
      sayStray(member, 'is a member that the schema does not have here')
    },
  }
}
