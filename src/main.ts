import { readSettings } from './service/config.ts'
import { start, StartError } from './start.ts'

/** The only reader of the environment: settings → adapters → app → listen. */
const read = readSettings(process.env)
if (!read.ok) stopWith(read.message)
else {
  try {
    const running = await start(read.settings)
    announce(running.url, read.settings.ASSAY_MODE, running.app.deps.call.stamp.signer)
    let stopping = false
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (stopping) process.exit(1)
        stopping = true
        void running.stop().then(() => process.exit(0))
      })
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    stopWith(error.message)
  }
}

function stopWith(message: string): void {
  process.stderr.write(`assay: ${message}\n`)
  process.exitCode = 78
}

/** What a newcomer wants to know first, on standard error, so that standard output stays a log. */
function announce(url: string, mode: string, signer: { address: string; implementation: string }): void {
  const lines = [
    mode === 'sandbox' ? '//// SANDBOX //// no real money moves here ////' : 'assay, live',
    `assay listens on ${url}`,
    `receipts are signed by ${signer.address} (${signer.implementation})`,
    `try it:  curl -s ${url}/v1/tools/iban-check/call -d '{"input":{"iban":"GB82 WEST 1234 5698 7654 32"}}'`,
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
}
