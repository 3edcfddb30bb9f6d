import { defineProtocol } from '../protocol.ts'
import { CATALOGUE_RULES } from './rules-catalogue.ts'
import { NODE_RULES, OFFER_RULES } from './rules-nodes.ts'
import { collectCatalogueView, type CatalogueView } from './view.ts'

/** Micro-AST 1.0: a small catalogue of goods for agents. No public specification is known; docs/micro-ast.md describes the format. */
export const MICRO_AST = defineProtocol<CatalogueView>({
  id: 'micro-ast',
  title: 'Micro-AST',
  versions: ['1.0'],
  types: ['catalogue'],
  not_checked: ['signatures', 'reachability of URLs', 'whether goods, prices and stock are as stated'],
  recognises: (document) => document.has('micro_ast'),
  detect: (document) => ({ type: 'catalogue', version: '1.0', version_source: document.has('micro_ast') ? 'declared' : 'assumed' }),
  view: collectCatalogueView,
  rules: [CATALOGUE_RULES, NODE_RULES, OFFER_RULES],
})
