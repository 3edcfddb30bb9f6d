import { protocolSuite } from './harness.ts'
import { MICRO_AST_CASES, MICRO_AST_CLEAN } from './micro-ast-cases.ts'

protocolSuite('micro-ast', { clean: MICRO_AST_CLEAN, cases: MICRO_AST_CASES })
