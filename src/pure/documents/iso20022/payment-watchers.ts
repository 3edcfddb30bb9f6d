/** Rules that pain.001 and pacs.008 share, each under its own codes: the header around the message, instructions, names of agents. */
import type { MessageKind } from './rule.ts'
import type { RuleContext, Watcher } from './rule-engine.ts'
import type { RuleCode } from './rule-table.ts'

export interface HeaderRules {
  kind: MessageKind
  /** The header announces another message definition. */
  definition: RuleCode
  /** BizMsgIdr and MsgId differ. */
  message_id: RuleCode
  /** The business service is none that carries this message under CBPR+. */
  service: RuleCode
  /** Business services of CBPR+ that carry this message. */
  services: RegExp
}

/** Whether the header announces this very message. */
export function headerWatcher(context: RuleContext, rules: HeaderRules): Watcher {
  const { header } = context
  return {
    open: {
      '': () => {
        checkDefinition(context, rules)
        const service = header.business_service
        if (service === null || rules.services.test(service)) return
        context.report(rules.service, { found: service, expected: 'swift.cbprplus and two digits, such as swift.cbprplus.04' })
      },
    },
    text: {
      'GrpHdr/MsgId': (text) => {
        const stated = header.message_id
        if (stated !== null && stated !== text.trim()) context.report(rules.message_id, { found: text, expected: stated })
      },
    },
  }
}

function checkDefinition(context: RuleContext, { kind, definition }: HeaderRules): void {
  const stated = context.header.message_definition
  const expected = `${kind}.001.${String(context.version).padStart(2, '0')}`
  if (stated === null || stated === expected) return
  // Communities have numbers of their own in the third place.
  const community = stated.length === expected.length && stated.startsWith(`${kind}.`) && stated.endsWith(expected.slice(-3))
  if (!community) context.report(definition, { found: stated, expected })
}

/** More than any bank would send; what follows is not remembered. */
const CODES_REMEMBERED = 64
const CONTRADICTIONS: ReadonlyMap<string, string> = new Map([
  ['HOLD', 'CHQB'],
  ['CHQB', 'HOLD'],
  ['TELB', 'PHOB'],
  ['PHOB', 'TELB'],
])

/** Instructions to the creditor agent that contradict or repeat each other, within one transaction. */
export function instructionWatcher(context: RuleContext, transaction: string, rule: RuleCode): Watcher {
  const codes = new Set<string>()
  return {
    open: {
      [transaction]: () => {
        if (codes.size > 0) codes.clear()
      },
    },
    text: {
      [`${transaction}/InstrForCdtrAgt/Cd`]: (text) => {
        const contrary = CONTRADICTIONS.get(text)
        if (codes.has(text)) context.report(rule, { found: text, message: 'An instruction to the creditor agent is repeated.' })
        else if (contrary !== undefined && codes.has(contrary)) context.report(rule, { found: `${contrary} and ${text}` })
        if (codes.size < CODES_REMEMBERED) codes.add(text)
      },
    },
  }
}

/** An agent with a name and no address, or the other way round. */
export function agentNameWatcher(context: RuleContext, rule: RuleCode): Watcher {
  return {
    close: {
      ':Institution': () => {
        const named = context.has('Nm')
        if (named === context.has('PstlAdr')) return
        context.report(rule, { found: named ? 'Nm' : 'PstlAdr', expected: 'Nm and PstlAdr' })
      },
    },
  }
}
