import { need, needText, oneOf, optional, unique } from '../kit/expect.ts'
import { readDateTime } from '../kit/dates.ts'
import { readUrl } from '../kit/url.ts'
import type { Place } from '../place.ts'
import { integer } from '../kit/money.ts'
import { rule, type Report, type Say } from '../rule.ts'
import { entryNames, iconHolders } from './rules-tools.ts'
import { mcpSpec } from './spec.ts'
import { isUri, isUriTemplate } from './uris.ts'
import { objects, type McpView } from './view.ts'

/** MCP-038, 039, 042: resources, prompts, metadata, icons and annotations. */
export const DATA_RULES = [
  rule<McpView>(
    {
      code: 'MCP-038',
      severity: 'error',
      why: 'Resources are read by their URI, templates are filled in, and arguments go by name.',
      spec: mcpSpec('server/resources', 'Data Types'),
      hint: 'Send absolute URIs and names, each once; templates as RFC 6570 has them; messages of user and assistant.',
      hint_by_case: true,
      good: { resources: [{ uri: 'file:///readme.md', name: 'readme' }] },
      bad: { resources: [{ uri: 'readme.md', name: 'readme' }] },
    },
    ({ error }, view) => {
      const { results, resources, templates, prompts, prompt_messages } = view
      for (const result of results) lists(error, result)
      entryNames(error, [...resources, ...templates])
      for (const resource of resources) {
        uri(error, resource.get('uri'))
        integer(error, resource.get('size'))
      }
      for (const result of results) {
        const own = objects(result.get('resources')).map((resource) => resource.get('uri'))
        unique(error, own, 'the URI of another resource')
      }
      for (const template of templates) {
        const place = template.get('uriTemplate')
        if (need(error, place, 'string') && !place.redacted && !isUriTemplate(place.text() ?? ''))
          error(place, 'is no URI template', { expected: 'a template of RFC 6570' })
      }
      for (const prompt of prompts) checkPrompt(error, prompt)
      for (const message of prompt_messages) {
        if (!message.has('role')) error(message.get('role'), 'is missing')
        oneOf(error, message.get('role'), ['user', 'assistant'])
      }
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-039',
      severity: 'both',
      why: 'Metadata of many parties share one object; only their names keep them apart.',
      spec: mcpSpec('basic', 'General fields, _meta'),
      hint: 'Name keys like com.example/name, with a prefix of your own.',
      good: { _meta: { 'com.example/trace': 'a1' } },
      bad: { _meta: { 'com.example/': 1, '-trace': 1 } },
    },
    (report, view) => {
      for (const meta of metasOf(view)) checkMeta(report, meta, view.context.atLeast('2025-06-18'))
    },
  ),
  rule<McpView>(
    {
      code: 'MCP-042',
      severity: 'both',
      why: 'Hosts load icons and sort content by priority; other schemes of URLs can carry code or leak who looks.',
      spec: mcpSpec('schema', 'Icon and Annotations'),
      hint: 'Send icons by https or data URLs, priorities from 0 to 1, and dates of RFC 3339.',
      hint_by_case: true,
      good: { icons: [{ src: 'https://example.com/icon.png' }], annotations: { priority: 0.5 } },
      bad: { icons: [{ src: 'icon.png' }], annotations: { priority: 5 } },
    },
    (report, view) => {
      for (const holder of iconHolders(view)) {
        const icons = holder.get('icons')
        if (!optional(report.error, icons, 'array')) continue
        for (const icon of icons.items()) if (optional(report.error, icon, 'object') && !icon.redacted) checkIcon(report, icon)
      }
      const { resources, templates, blocks } = view
      const others = blocks.filter((block) => block.get('type').text() !== 'resource_link')
      for (const holder of [...resources, ...templates, ...others]) annotations(report.error, holder.get('annotations'))
    },
  ),
]

/** Lists of other things than tools. */
function lists(error: Say, result: Place): void {
  for (const name of ['contents', 'resources', 'resourceTemplates', 'prompts', 'messages']) {
    const list = result.get(name)
    if (optional(error, list, 'array')) for (const item of list.items()) optional(error, item, 'object')
  }
  if (result.has('messages')) optional(error, result.get('description'), 'string')
}

function uri(error: Say, place: Place): void {
  if (need(error, place, 'string') && !place.redacted && !isUri(place.text() ?? ''))
    error(place, 'is not an absolute URI', { expected: 'a URI with a scheme' })
}

function checkPrompt(error: Say, prompt: Place): void {
  needText(error, prompt.get('name'))
  for (const name of ['title', 'description']) optional(error, prompt.get(name), 'string')
  const list = prompt.get('arguments')
  if (!optional(error, list, 'array')) return
  for (const item of list.items()) {
    if (!optional(error, item, 'object') || item.redacted) continue
    needText(error, item.get('name'))
    for (const name of ['title', 'description']) optional(error, item.get(name), 'string')
    optional(error, item.get('required'), 'boolean')
  }
  unique(
    error,
    objects(list).map((item) => item.get('name')),
    'the name of another argument',
  )
}

function metasOf({ results, tools, resources, templates, prompts, blocks, contents }: McpView): Place[] {
  // Links to resources stand among the resources already.
  const others = blocks.filter((block) => block.get('type').text() !== 'resource_link')
  const holders = [...results, ...tools.map(({ place }) => place), ...resources, ...templates, ...prompts, ...others, ...contents]
  return holders.map((holder) => holder.get('_meta'))
}

/** Keys under the own prefix that the versions define. */
const DEFINED: ReadonlySet<string> = new Set(
  [
    'related-task',
    'serverInfo',
    'subscriptionId',
    'protocolVersion',
    'clientInfo',
    'clientCapabilities',
    'logLevel',
    'model-immediate-response',
  ].map((name) => `io.modelcontextprotocol/${name}`),
)
const PREFIX = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/
const NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

function checkMeta({ error, warning }: Report, meta: Place, has_grammar: boolean): void {
  if (!optional(error, meta, 'object') || !has_grammar) return
  for (const member of meta.members()) {
    const { key } = member
    const slash = key.indexOf('/')
    const prefix = slash === -1 ? null : key.slice(0, slash)
    if ((prefix !== null && !PREFIX.test(prefix)) || !NAME.test(key.slice(slash + 1)))
      error(member, 'has a name that metadata may not have')
    else if (/^(?:mcp|modelcontextprotocol)$/i.test(prefix?.split('.')[1] ?? '') && !DEFINED.has(key))
      warning(member, 'has a prefix that MCP keeps for itself')
  }
}

function checkIcon({ error, warning }: Report, icon: Place): void {
  const src = icon.get('src')
  const url = readUrl(src.text())
  if (need(error, src, 'string') && !src.redacted) {
    if (url === null) error(src, 'is not an absolute URL', { expected: 'an https or data URL' })
    else if (url.protocol !== 'https:' && url.protocol !== 'data:') warning(src, 'is neither an https nor a data URL')
  }
  optional(error, icon.get('mimeType'), 'string')
  if (optional(error, icon.get('sizes'), 'array')) for (const size of icon.get('sizes').items()) optional(error, size, 'string')
  oneOf(error, icon.get('theme'), ['light', 'dark'])
}

function annotations(error: Say, place: Place): void {
  if (!optional(error, place, 'object')) return
  const [audience, priority, modified] = [place.get('audience'), place.get('priority'), place.get('lastModified')]
  if (optional(error, audience, 'array')) for (const role of audience.items()) oneOf(error, role, ['user', 'assistant'])
  const value = priority.number()
  if (optional(error, priority, 'number') && value !== null && !(value >= 0 && value <= 1)) error(priority, 'is not from 0 to 1')
  if (optional(error, modified, 'string') && modified.text() !== null && readDateTime(modified.text()) === null)
    error(modified, 'is no date and time with an offset', { expected: 'such as 2026-01-12T15:00:58Z' })
}
