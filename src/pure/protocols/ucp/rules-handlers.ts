import { isDate } from '../kit/dates.ts'
import { need, needItems, needText, optional, optionalText, unique } from '../kit/expect.ts'
import { httpsFault, httpsUrl } from '../kit/url.ts'
import { rule } from '../rule.ts'
import { ucpSpec } from './spec.ts'
import { isCapability, type UcpView } from './view.ts'
import { expectShape, list, object, text, uri } from '../kit/shape.ts'

const HANDLERS = ucpSpec('overview', 'Payment Architecture')

/** What 2026-01-11 asks of a handler besides its name and version, which other rules hold. */
const FIRST_HANDLER = object({ spec: text, config_schema: uri, instrument_schemas: list(uri), config: object({}) })

/** UCP-019…021 and 026: payment handlers, older versions, and where orders are reported to. */
export const HANDLER_RULES = [
  rule<UcpView>(
    {
      code: 'UCP-019',
      severity: 'both',
      why: 'Payment instruments say by this id which handler made them.',
      spec: HANDLERS,
      hint: 'Give each handler an id of its own, and in 2026-01-11 spec, config_schema, instrument_schemas and config.',
      hint_by_case: true,
      good: { payment_handlers: { 'com.google.pay': [{ id: 'gpay', version: '2026-04-08' }] } },
      bad: { payment_handlers: { 'com.google.pay': [{ version: '2026-04-08' }] } },
    },
    ({ error, warning }, { entities, first }) => {
      const handlers = entities.filter(({ registry }) => registry === 'payment_handlers')
      for (const { place } of handlers) {
        needText(error, place.get('id'))
        if (first) {
          expectShape(error, place, FIRST_HANDLER)
          optionalText(error, place.get('spec'))
        } else {
          optional(error, place.get('config'), 'object')
          for (const name of ['schema', 'spec']) optionalText(error, place.get(name))
        }
      }
      unique(
        warning,
        handlers.map(({ place }) => place.get('id')),
        'the id of another handler',
      )
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-020',
      severity: 'error',
      since: '2026-04-08',
      why: 'An empty list says that a handler takes nothing, which nobody means.',
      spec: HANDLERS,
      hint: 'List at least one instrument with its type, or leave the member out.',
      good: { available_instruments: [{ type: 'card', constraints: { brands: ['visa'] } }] },
      bad: { available_instruments: [] },
    },
    ({ error }, { entities }) => {
      for (const { registry, place } of entities) {
        const instruments = place.get('available_instruments')
        if (registry !== 'payment_handlers' || !instruments.present) continue
        for (const item of needItems(error, instruments)) {
          if (!optional(error, item, 'object') || item.redacted) continue
          needText(error, item.get('type'))
          const constraints = item.get('constraints')
          if (optional(error, constraints, 'object') && constraints.kind === 'object' && constraints.members().length === 0)
            error(constraints, 'is empty', { expected: 'at least one constraint, or no such member' })
        }
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-021',
      severity: 'both',
      since: '2026-04-08',
      why: 'Platforms of an older version find their profile there.',
      spec: ucpSpec('overview', 'Protocol Version'),
      hint: 'Map each older version to the https URL of its profile.',
      good: { supported_versions: { '2026-01-23': 'https://shop.example.com/.well-known/ucp/2026-01-23' } },
      bad: { supported_versions: { '1.0': '/old' } },
    },
    ({ error, warning }, { ucp }) => {
      const versions = ucp.get('supported_versions')
      optional(error, versions, 'object')
      for (const member of versions.members()) {
        if (!isDate(member.key)) error(member, 'has a name that is no date', { expected: 'a version as YYYY-MM-DD' })
        else if (member.key === ucp.get('version').text()) warning(member, 'is the version of this document itself')
        httpsUrl(error, member)
      }
    },
  ),
  rule<UcpView>(
    {
      code: 'UCP-026',
      severity: 'warning',
      types: ['platform_profile'],
      why: 'Businesses report the fate of an order to this URL.',
      spec: ucpSpec('order', 'Webhook URL Configuration'),
      hint: 'Add config.webhook_url to the order capability, with an https URL.',
      good: { 'dev.ucp.shopping.order': [{ config: { webhook_url: 'https://agent.example.com/orders' } }] },
      bad: { 'dev.ucp.shopping.order': [{}] },
    },
    ({ warning }, { entities }) => {
      for (const { place, name } of entities.filter(isCapability)) {
        if (name !== 'dev.ucp.shopping.order') continue
        const url = place.down('config', 'webhook_url')
        if (!need(warning, url, 'string')) continue
        const said = url.text()
        const fault = said === null ? null : httpsFault(said)
        if (fault !== null) warning(url, fault, { expected: 'an absolute https URL' })
      }
    },
  ),
]
