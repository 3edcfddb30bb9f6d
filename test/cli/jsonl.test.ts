import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { progressLine } from '../../src/cli/terminal.ts'
import { verifyReceipt } from '../../src/pure/receipts/verify.ts'
import { limits } from '../../src/service/limits.ts'
import { openDesk, parsed, spawnCli, terminal, type Desk } from './run-cli.ts'

let desk: Desk
before(async () => {
  desk = await openDesk()
})
after(() => desk.clear())

function linesOf(stdout: string): Record<string, unknown>[] {
  assert.ok(stdout === '' || stdout.endsWith('\n'))
  return stdout.split('\n').slice(0, -1).map(parsed)
}

function normalized(line: Record<string, unknown> | undefined): unknown {
  return (line?.['result'] as Record<string, unknown> | undefined)?.['normalized']
}

/** A line that must be refused, and the code and pointer with which. */
const BROKEN: [string | Buffer, string, string?][] = [
  ['', 'PARSE_ERROR'],
  ['  ', 'PARSE_ERROR'],
  ['{"iban":', 'PARSE_ERROR'],
  ['{"iban":"a"} {"iban":"b"}', 'PARSE_ERROR'],
  [Buffer.from([0x7b, 0xff, 0x7d]), 'NOT_UTF8'],
  ['{"iban":"a","iban":"b"}', 'DUPLICATE_KEY'],
  [String.raw`{"iban":"\ud800"}`, 'LONE_SURROGATE'],
  ['{"__proto__":1}', 'FORBIDDEN_KEY'],
  ['{"iban":1e400}', 'UNSAFE_NUMBER'],
  [`${'['.repeat(65)}${']'.repeat(65)}`, 'JSON_TOO_DEEP'],
  ['["GB82"]', 'INPUT_SCHEMA_INVALID', ''],
  ['null', 'INPUT_SCHEMA_INVALID', ''],
  ['{"input":{"iban":"a"}}', 'INPUT_SCHEMA_INVALID', '/input'],
  ['{"iban":7}', 'INPUT_SCHEMA_INVALID', '/iban'],
  [`{"iban":"${'x'.repeat(limits.jsonl_line_chars)}"}`, 'PAYLOAD_TOO_LARGE'],
]

test('each line gets one line, in order, broken ones among good ones', async () => {
  const good = (index: number) => `{"iban":"GB82 WEST 1234 5698 7654 ${index}"}`
  const pieces = BROKEN.flatMap(([line], index) => [Buffer.from(line), Buffer.from(`\n${good(index)}${index % 2 === 0 ? '\r\n' : '\n'}`)])
  // The last line lacks its end.
  const input = Buffer.concat([...pieces, Buffer.from(good(99))])
  const { code, stdout, stderr } = await desk.run(['call', 'iban-check', '--jsonl', '--no-receipt'], { input })
  assert.deepEqual([code, stderr], [65, ''])
  const lines = linesOf(stdout)
  assert.equal(lines.length, 2 * BROKEN.length + 1)
  BROKEN.forEach(([, problem_code, pointer], index) => {
    const problem = lines[2 * index]?.['problem'] as { line: number; code: string; errors: { pointer: string }[] } | undefined
    assert.deepEqual([problem?.line, problem?.code], [2 * index + 1, problem_code])
    if (pointer !== undefined) assert.ok(problem?.errors.some((error) => error.pointer === pointer))
    assert.deepEqual(Object.keys(lines[2 * index + 1] ?? {}), ['result'])
    assert.equal(normalized(lines[2 * index + 1]), `GB82WEST123456987654${index}`)
  })
  assert.equal(normalized(lines.at(-1)), 'GB82WEST12345698765499')
})

test('receipts of a stream verify, one for each result, none twice', async () => {
  const input = '{"iban":"DE89370400440532013000"}\n'.repeat(50)
  const { code, stdout } = await desk.run(['call', 'iban-check', '--jsonl'], { input })
  assert.equal(code, 0)
  const verdicts = linesOf(stdout).map(({ receipt }) => verifyReceipt(receipt))
  assert.ok(verdicts.every(({ valid, warnings }) => valid && warnings.length === 0))
  assert.equal(new Set(verdicts.map(({ digest }) => digest)).size, 50)
})

test('a reader that has seen enough ends the stream quietly', async () => {
  const child = spawnCli(['call', 'iban-check', '--jsonl', '--no-receipt'], { settings: desk.settings })
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  child.stdin?.on('error', () => undefined)
  child.stdin?.end('{"iban":"DE89370400440532013000"}\n'.repeat(20_000))
  child.stdout?.once('data', () => child.stdout?.destroy())
  const [code] = (await once(child, 'close')) as [number | null]
  assert.deepEqual([code, stderr], [0, ''])
})

const REPORT_MEMORY = 'data:text/javascript,process.on("exit",()=>process.stderr.write(String(process.resourceUsage().maxRSS)))'

/** Greatest resident memory of a run over this input, in KiB. */
async function memoryOf(...input: [text: string, times: number]): Promise<number> {
  const child = spawnCli(['call', 'iban-check', '--jsonl', '--no-receipt'], { settings: desk.settings, imports: [REPORT_MEMORY] })
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  child.stdout?.resume()
  const [text, times] = input
  for (let sent = 0; sent < times; sent++) if (child.stdin?.write(text) === false) await once(child.stdin, 'drain')
  child.stdin?.end()
  await once(child, 'close')
  return Number(stderr)
}

test('memory does not grow with the number of lines, nor with the length of a line', async () => {
  const thousand = '{"iban":"GB82 WEST 1234 5698 7654 32"}\n'.repeat(1_000)
  const mebibyte = 'x'.repeat(1_048_576)
  const [few, many] = [await memoryOf(thousand, 10), await memoryOf(thousand, 60)]
  assert.ok(few > 10_000 && many < 1.4 * few, `60,000 lines took ${many} KiB, 10,000 took ${few}`)
  const [long, longer] = [await memoryOf(mebibyte, 40), await memoryOf(mebibyte, 200)]
  assert.ok(longer < 1.4 * long, `a line of 200 MiB took ${longer} KiB, one of 40 MiB ${long}`)
})

test('a short stream shows no progress, even to a terminal', async () => {
  const { stdout, stderr } = await desk.run(['call', 'iban-check', '--jsonl', '--no-receipt'], {
    input: '{"iban":"x"}\n',
    imports: [terminal(80, 'stderr')],
  })
  assert.equal(stderr, '')
  assert.equal(linesOf(stdout).length, 1)
})

test('progress names lines, rate and time, and the share where the length is known', () => {
  const state = { lines: 1_234_567, elapsed_ms: 10_000, bytes: 25, total_bytes: null }
  assert.equal(progressLine(state), '1,234,567 lines  123,457/s  0:10')
  assert.equal(progressLine({ ...state, total_bytes: 100 }), '█████░░░░░░░░░░░░░░░ 25 %  1,234,567 lines  123,457/s  0:10  0:30 left')
  assert.equal(
    progressLine({ ...state, bytes: 100, total_bytes: 100, elapsed_ms: 3_661_000 }),
    '████████████████████ 100 %  1,234,567 lines  337/s  1:01:01',
  )
})
