import type { Context } from 'hono'
import { quotaClient } from '../../service/clients.ts'
import type { InvoiceFollower } from '../../service/invoices/live.ts'
import { INVOICE_RULES } from '../../service/invoices/rules.ts'
import type { InvoiceView } from '../../service/invoices/view.ts'
import { problem } from '../../service/problems.ts'
import { JSON_TYPE, storedDocument } from '../discovery/document.ts'
import type { Env } from '../http/env.ts'
import { response } from '../http/reply.ts'
import { refuse, type InvoiceRoutes } from './exchange.ts'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // The connection serves nothing else, and goes with the stream.
  connection: 'close',
  'x-accel-buffering': 'no',
}

/** What may wait for a slow reader; beyond it the stream ends, and the reader comes again. */
const QUEUE_BYTES = 262_144

/**
 * An invoice as server-sent events (WHATWG HTML, "Server-sent events", 2026): the record at once and after every change, each event with the
 * entity tag of the record as its id. Who comes back with Last-Event-ID is spared what it knows. Comments keep the connection alive. HEAD
 * follows nothing: nobody would read its stream, nor end it.
 */
export function invoiceEvents(routes: InvoiceRoutes, context: Context<Env>, { invoice, record }: InvoiceView): Response {
  if (context.req.method === 'HEAD') return new Response(null, { headers: HEADERS })
  const { live } = routes.deps.invoices
  const text = JSON.stringify(record)
  const known = context.req.header('last-event-id')
  const client = quotaClient(routes.caller(context))
  let leave: (() => void) | null = null
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const follower = followerOf(controller, () => leave?.())
        leave = live.follow(invoice.invoice_id, client, text, follower)
        if (leave === null) return
        controller.enqueue(bytes(`retry: ${INVOICE_RULES.live_every_ms}\n\n`))
        if (known === tagOf(text)) follower.still()
        else follower.changed(text)
      },
      cancel: () => leave?.(),
    },
    { highWaterMark: QUEUE_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  )
  if (leave !== null) return new Response(stream, { headers: HEADERS })
  const detail = `A client may follow ${INVOICE_RULES.followers_client} invoices at once, and all clients ${INVOICE_RULES.followers}. Read it again later.`
  return response(refuse(routes, context, problem('INVOICE_RATE_LIMITED', detail, { retry_after_s: 10 })))
}

function followerOf(controller: ReadableStreamDefaultController<Uint8Array>, leave: () => void): InvoiceFollower {
  let open = true
  const end = () => {
    if (!open) return
    open = false
    controller.close()
  }
  const write = (text: string) => {
    if (!open) return
    if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(bytes(text))
    leave()
    end()
  }
  return {
    changed: (text) => write(`id: ${tagOf(text)}\nevent: invoice\ndata: ${text}\n\n`),
    still: () => write(': nothing new\n\n'),
    end() {
      write('event: end\ndata: {}\n\n')
      end()
    },
  }
}

/** A record is one line of JSON, so one line of data. */
function tagOf(text: string): string {
  return storedDocument(JSON_TYPE, text).headers['etag'] ?? ''
}

const UTF8 = new TextEncoder()

function bytes(text: string): Uint8Array {
  return UTF8.encode(text)
}
