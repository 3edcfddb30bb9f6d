import { cutText } from '../../cut-text.ts'
import { isRequest } from '../coverage.ts'
import type { Place } from '../place.ts'
import type { Detection, UncoveredType } from '../rule.ts'
import { at, isSet } from './names.ts'

/** Newest first. 0.2 stands for 0.2.0 to 0.2.4, whose cards do not say their version. */
export const A2A_VERSIONS = ['1.0', '0.3', '0.2.5', '0.2'] as const

/** The card itself: the method for extended cards wraps it into JSON-RPC. */
export function cardOf(document: Place): Place {
  return document.has('jsonrpc') ? document.get('result') : document
}

const USUAL = ['url', 'capabilities', 'defaultInputModes', 'defaultOutputModes', 'protocolVersion', 'preferredTransport']

export function isA2a(document: Place): boolean {
  const card = cardOf(document)
  if (at(card, 'supportedInterfaces').present) return true
  return card.has('skills') && USUAL.filter((name) => at(card, name).present).length >= 2
}

/** A task, whole or in the wrapper of 1.0. */
function taskIn(result: Place): Place {
  return result.get('task').kind === 'object' ? result.get('task') : result
}

function isTask(document: Place): boolean {
  const task = taskIn(cardOf(document))
  return task.get('kind').text() === 'task' || (task.has('id') && task.get('status').has('state'))
}

function isMessage(document: Place): boolean {
  const result = cardOf(document)
  const message = result.get('message').kind === 'object' ? result.get('message') : result
  return message.get('kind').text() === 'message' || (message.has('messageId') && message.has('parts'))
}

const EVENTS = ['statusUpdate', 'artifactUpdate']
const EVENT_KINDS: ReadonlySet<string> = new Set(['status-update', 'artifact-update'])

function isEvent(document: Place): boolean {
  const result = cardOf(document)
  return EVENTS.some((name) => result.get(name).kind === 'object') || EVENT_KINDS.has(result.get('kind').text() ?? '')
}

/** Documents of the protocol that no rule looks at. */
export const UNCOVERED: readonly UncoveredType[] = [
  { type: 'request', recognises: isRequest },
  { type: 'error', recognises: (document) => document.has('jsonrpc') && document.has('error') && !document.has('result') },
  { type: 'task_list', recognises: (document) => cardOf(document).get('tasks').kind === 'array' },
  { type: 'event', recognises: isEvent },
  { type: 'task', recognises: isTask },
  { type: 'message', recognises: isMessage },
]

/** Returns the version of the rules for one with a patch number. */
export function rulesVersion(text: string): string {
  return versionOfText(text).declared === undefined ? versionOfText(text).version : text
}

export function detectA2a(document: Place): Detection {
  return { type: 'agent_card', ...versionOf(cardOf(document)) }
}

/** Members of older cards that came together with protocolVersion, or after it. */
const LATER = ['preferredTransport', 'additionalInterfaces', 'signatures']

type Version = Omit<Detection, 'type'>

function versionOf(card: Place): Version {
  if (at(card, 'supportedInterfaces').present) return versionOfInterfaces(at(card, 'supportedInterfaces').items())
  const said = at(card, 'protocolVersion')
  const text = said.text()
  if (text !== null && text.trim() !== '') return versionOfText(text.trim())
  if (said.present) return { version: '0.3', version_source: 'assumed' }
  if (LATER.some((name) => isSet(card, name))) return { version: '0.3', version_source: 'inferred' }
  return { version: isSet(card, 'url') ? '0.2' : '1.0', version_source: 'assumed' }
}

/** Cards with a list of interfaces are of 1.0; the interfaces may also speak older versions. */
function versionOfInterfaces(interfaces: readonly Place[]): Version {
  const texts = interfaces.map((one) => at(one, 'protocolVersion').text() ?? '')
  if (texts.some((text) => /^1\.0(?:\.|$)/.test(text))) return { version: '1.0', version_source: 'declared' }
  const newer = texts.find((text) => /^(?:1\.[1-9][0-9]{0,2}|[2-9])(?:\.|$)/.test(text))
  if (newer !== undefined) return { version: '1.0', version_source: 'declared', declared: cutText(newer, 32, '') }
  return { version: '1.0', version_source: 'inferred' }
}

function versionOfText(text: string): Version {
  const [, major, minor, patch] = /^([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,3}))?$/.exec(text) ?? []
  if (major === undefined || minor === undefined) return { version: '0.3', version_source: 'assumed' }
  const declared = { version_source: 'declared', declared: cutText(text, 32, '') } as const
  if (/^1\.0(?:\.|$)/.test(text)) return { version: '1.0', version_source: 'declared' }
  if (!/^0+$/.test(major)) return { version: '1.0', ...declared }
  if (minor === '3') return { version: '0.3', version_source: 'declared' }
  if (/^(?:[4-9]|[1-9][0-9]+)$/.test(minor)) return { version: '0.3', ...declared }
  if (minor === '2' && /^(?:[5-9]|[1-9][0-9]+)$/.test(patch ?? '')) return { version: '0.2.5', version_source: 'declared' }
  return minor === '2' ? { version: '0.2', version_source: 'declared' } : { version: '0.2', ...declared }
}
