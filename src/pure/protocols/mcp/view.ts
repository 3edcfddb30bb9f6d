import type { Place } from '../place.ts'
import type { Context } from '../rule.ts'
import { isEnvelope, resultOf } from './detect.ts'
import { readSchema, type ToolSchema } from './schemas.ts'
import { jsonIn } from './texts.ts'

/** One message, or a bare result. */
interface Message {
  place: Place
  /** Whether it is a JSON-RPC message. */
  is_envelope: boolean
  result: Place
}

interface Tool {
  place: Place
  /** null where there is no object, something in it is redacted, or it is beyond a bound. */
  input: ToolSchema | null
  output: ToolSchema | null
}

/** The answer to a call of a tool. */
export interface Call {
  place: Place
  structured: Place
  /** Content that is text. */
  texts: Place[]
  /** The JSON in each of them; absent where it is none. */
  values: Place[]
}

/** What the rules of MCP are about, gathered once. */
export interface McpView {
  context: Context
  document: Place
  messages: Message[]
  /** Results that are objects. */
  results: Place[]
  tools: Tool[]
  calls: Call[]
  /** Content of answers and prompts: objects only. */
  blocks: Place[]
  /** What resources hold, on their own or within content. */
  contents: Place[]
  resources: Place[]
  templates: Place[]
  prompts: Place[]
  prompt_messages: Place[]
  /** Those who describe a server. */
  implementations: Place[]
}

export function viewMcp(context: Context): McpView {
  const { document } = context
  const messages = (document.kind === 'array' ? objects(document) : [document]).map((place) => ({
    place,
    is_envelope: document.kind === 'array' || isEnvelope(place),
    result: resultOf(place),
  }))
  const results = messages.map(({ result }) => result).filter(({ kind }) => kind === 'object')
  const listed = (name: string) => results.flatMap((result) => objects(result.get(name)))
  const prompt_messages = listed('messages')
  const content = [...listed('content'), ...prompt_messages.map((message) => message.get('content'))]
  const blocks = content.filter(({ kind }) => kind === 'object')
  return {
    context,
    document,
    messages,
    results,
    tools: listed('tools').map((tool) => toolOf(context, tool)),
    calls: results.filter(isCall).map(callOf),
    blocks,
    contents: [...listed('contents'), ...blocks.map((block) => block.get('resource')).filter(({ kind }) => kind === 'object')],
    resources: [...listed('resources'), ...blocks.filter((block) => block.get('type').text() === 'resource_link')],
    templates: listed('resourceTemplates'),
    prompts: listed('prompts'),
    prompt_messages,
    implementations: results
      .flatMap((result) => [result.get('serverInfo'), result.get('_meta').get('io.modelcontextprotocol/serverInfo')])
      .filter(({ kind }) => kind === 'object'),
  }
}

/** The items of an array that are objects; rules about shape speak of the others. */
export function objects(list: Place): Place[] {
  return list.items().filter(({ kind }) => kind === 'object')
}

function toolOf(context: Context, place: Place): Tool {
  return { place, input: readSchema(context, place.get('inputSchema')), output: readSchema(context, place.get('outputSchema')) }
}

function isCall(result: Place): boolean {
  return !isAsking(result) && ['content', 'structuredContent', 'isError'].some((name) => result.has(name))
}

/** Whether a result asks for more before there is one. */
export function isAsking(result: Place): boolean {
  return result.get('resultType').text() === 'input_required'
}

function callOf(place: Place): Call {
  const blocks = objects(place.get('content')).filter((block) => block.get('type').text() === 'text')
  const texts = blocks.map((block) => block.get('text'))
  return { place, structured: place.get('structuredContent'), texts, values: texts.map(jsonIn) }
}
