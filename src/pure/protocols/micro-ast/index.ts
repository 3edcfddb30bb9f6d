import { defineProtocol } from '../protocol.ts'
import { CATALOGUE_RULES } from './rules-catalogue.ts'
import { NODE_RULES } from './rules-nodes.ts'
import { MICRO_AST_READER } from './view.ts'

/** Micro-AST 1.0: a small catalogue of goods for agents. No public specification is known; docs/guide/micro-ast.md describes the format. */
export const MICRO_AST = defineProtocol({
  id: 'micro-ast',
  title: 'Micro-AST',
  ...MICRO_AST_READER,
  not_checked: ['signatures', 'reachability of URLs', 'whether goods, prices and stock are as stated'],
  rules: [CATALOGUE_RULES, NODE_RULES],
})
