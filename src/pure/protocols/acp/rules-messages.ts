import { need, needText, oneOf, optional } from '../kit/expect.ts'
import { httpsUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { rule, type Say } from '../rule.ts'
import { follow } from './json-path.ts'
import { onlyObjects } from './rules-session.ts'
import { FIRST_LINKS, WARNING_CODES } from './shape.ts'
import { schemaSpec } from './spec.ts'
import { objects, type AcpView } from './view.ts'

const SESSION = ['checkout_session']
const MESSAGE = schemaSpec('MessageError')

/** Elements, comments and declarations of HTML as CommonMark 0.31 reads them; links in angle brackets are none. */
const RAW_HTML = /(?<!\\)<(?:\/?[a-z][a-z0-9-]*(?:\s[^<>]*)?\/?>|!--|!\[CDATA\[|![a-z]|\?)/i

/** ACP-024…028: what the buyer is told. */
export const MESSAGE_RULES = [
  rule<AcpView>(
    {
      code: 'ACP-024',
      severity: 'warning',
      types: SESSION,
      why: 'The agent acts on the status, and tells the buyer what the messages say: they should agree.',
      spec: MESSAGE,
      hint: 'Say in a message what is still needed, and drop errors that are mended.',
      good: { status: 'not_ready_for_payment', messages: [{ type: 'error', code: 'missing' }] },
      bad: { status: 'not_ready_for_payment', messages: [] },
    },
    ({ warning }, { body, status, messages }) => {
      const wrong = messages.find((message) => message.get('type').text() === 'error')
      if (status === 'ready_for_payment' && wrong !== undefined) warning(wrong, 'is an error, although the session can be paid')
      const list = body.get('messages')
      if (status === 'not_ready_for_payment' && list.kind === 'array' && list.items().length === 0)
        warning(list, 'is empty, so that nobody learns what is needed')
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-025',
      severity: 'both',
      types: SESSION,
      why: 'Agents tell messages apart by type and code, and render them by content_type.',
      spec: MESSAGE,
      hint: 'Send type, content_type and content, and with errors and warnings a code of the version, or of an extension that is declared.',
      good: { type: 'error', code: 'missing', content_type: 'plain', content: 'An address is needed.' },
      bad: { type: 'error', code: 'no_address', content: 'An address is needed.' },
    },
    ({ error, warning }, { body, messages, sets, added }) => {
      onlyObjects(error, body.get('messages'))
      for (const message of messages) {
        const type = needText(error, message.get('type')) === null ? null : oneOf(error, message.get('type'), sets.messages)
        const codes = type === 'error' ? sets.errors : type === 'warning' ? WARNING_CODES : []
        if (codes.length > 0 && need(error, message.get('code'), 'string'))
          oneOf(added.is_foreign ? warning : error, message.get('code'), codes)
        need(error, message.get('content'), 'string')
        optional(error, message.get('param'), 'string')
        if (need(error, message.get('content_type'), 'string')) oneOf(error, message.get('content_type'), ['plain', 'markdown'])
      }
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-026',
      severity: 'error',
      types: SESSION,
      why: 'Markup of a stranger in the page of an agent can show and do anything.',
      spec: schemaSpec('MessageInfo.content'),
      hint: 'Write CommonMark without HTML, or plain text.',
      good: { content_type: 'markdown', content: '**Sold out**' },
      bad: { content_type: 'markdown', content: '<b>Sold out</b>' },
    },
    ({ error }, { messages, lines }) => {
      const disclosures = lines.flatMap(({ place }) => objects(place.get('disclosures')))
      for (const one of [...messages, ...disclosures]) {
        const content = one.get('content')
        if (one.get('content_type').text() !== 'markdown' || content.text() === null) continue
        if (RAW_HTML.test((content.text() ?? '').replace(/`[^`]*`/g, '')))
          error(content, 'holds raw HTML', { expected: 'CommonMark without HTML' })
      }
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-027',
      severity: 'warning',
      types: SESSION,
      why: 'An agent finds what a message is about by this path.',
      spec: schemaSpec('MessageError.param'),
      hint: 'Write a JSONPath from the session, such as $.line_items[0].',
      good: { param: '$.line_items[0]' },
      bad: { param: 'line_items.0' },
    },
    ({ warning }, { body, messages }) => {
      for (const message of messages) {
        const param = message.get('param')
        if (param.text() === null) continue
        const outcome = follow(param.text() ?? '', body.value)
        if (outcome === 'malformed') warning(param, 'is not a JSONPath', { expected: 'a path that starts with $' })
        // What is missing cannot be found.
        if (outcome === 'nothing' && message.get('code').text() !== 'missing') warning(param, 'points to nothing in the session')
      }
    },
  ),
  rule<AcpView>(
    {
      code: 'ACP-028',
      severity: 'both',
      types: SESSION,
      why: 'The buyer must be able to read the terms before paying.',
      spec: schemaSpec('Link'),
      hint: 'Link at least terms_of_use or privacy_policy, each at an https address.',
      good: [{ type: 'terms_of_use', url: 'https://shop.example.com/terms' }],
      bad: [{ type: 'terms', url: '/terms' }],
    },
    ({ error, warning }, { body, links, sets }) => {
      onlyObjects(error, body.get('links'))
      for (const link of links) linkForm(error, link, sets.links)
      const isTold = links.some((link) => link.get('type').redacted || FIRST_LINKS.includes(link.get('type').text() ?? ''))
      if (body.get('links').kind === 'array' && !isTold) warning(body.get('links'), 'has neither terms nor privacy policy')
    },
  ),
]

function linkForm(error: Say, link: Place, types: readonly string[]): void {
  if (needText(error, link.get('type')) !== null) oneOf(error, link.get('type'), types)
  const url = link.get('url')
  if (url.present) httpsUrl(error, url)
  else error(url, 'is missing', { expected: 'an absolute https URL' })
}
