import { protocolSuite } from './harness.ts'
import { X402_CASES } from './x402-cases.ts'
import { X402_CLEAN } from './x402-clean.ts'

protocolSuite('x402', { clean: X402_CLEAN, cases: X402_CASES })
