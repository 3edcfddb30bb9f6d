import type { TestContext } from 'node:test'

/** Accidents between a service and its store, each of them once. */

type Methods<Port> = { [Name in keyof Port]: Port[Name] extends (...args: never[]) => Promise<unknown> ? Name : never }[keyof Port] & string

/** The store does not answer this one question, and has not done what it was asked to. */
export function rejectOnce<Port extends object>(context: TestContext, port: Port, method: Methods<Port>): void {
  replaceOnce(context, port, method, () => down())
}

/** The store does what it is asked to this once, and its answer is lost. */
export function loseOnce<Port extends object>(context: TestContext, port: Port, method: Methods<Port>): void {
  replaceOnce(context, port, method, async (original) => {
    await original()
    return down()
  })
}

function down(): Promise<never> {
  return Promise.reject(Object.assign(new Error('the store is gone'), { code: 'STORE_UNAVAILABLE' }))
}

function replaceOnce<Port extends object>(
  context: TestContext,
  port: Port,
  method: Methods<Port>,
  instead: (original: () => Promise<unknown>) => Promise<unknown>,
): void {
  const original = (port[method] as (...args: unknown[]) => Promise<unknown>).bind(port)
  const once = (...args: unknown[]) => instead(() => original(...args))
  context.mock.method(port as Record<string, (...args: unknown[]) => unknown>, method, once, { times: 1 })
}
