import schemas from '../../../../data/protocol-schemas/ucp.json' with { type: 'json' }
import { isObject } from '../../is-object.ts'
import { reportBySchema, schemaRef, schemaSet, type PublishedSchemas } from '../kit/published-schemas.ts'
import type { RuleTable } from '../protocol.ts'
import { ucpSpec, type UcpView } from './view.ts'

const PUBLISHED: PublishedSchemas = schemas

const SET = schemaSet(PUBLISHED, [])

/** UCP-048: everything in the published schemas that no other rule reads. */
export const UCP_SCHEMA_RULES: RuleTable<UcpView> = {
  'UCP-048': {
    why: 'Platforms that validate documents refuse what the published schema of the version refuses.',
    spec: ucpSpec('reference', 'Schemas'),
    hint: 'Compare this member with the schema of the version.',
    good: { policies: [] },
    bad: { policies: 'none' },
    check({ error }, view) {
      // Members differ between versions, so an unknown version says nothing about them.
      const root = view.context.version_source === 'assumed' ? null : schemaOf(view)
      if (root !== null) reportBySchema(error, view.context, view.body, SET, root)
    },
  },
}

/** Extensions that add members to a response, each with a definition for it. */
const EXTENSIONS = ['fulfillment', 'discount', 'buyer_consent']

function schemaOf({ context, body }: UcpView): object | null {
  const { type, version } = context
  const files = PUBLISHED[version] ?? {}
  const has = (path: string, name: string) =>
    isObject(files[path]) && isObject(files[path]['$defs']) && Object.hasOwn(files[path]['$defs'], name)
  switch (type) {
    case 'business_profile':
    case 'platform_profile': {
      const name = `${type.split('_', 1)[0]}_schema`
      if (has('schemas/profile.json', name)) return schemaRef(`schemas/profile.json#/$defs/${name}`)
      const path = 'discovery/profile_schema.json'
      return has(path, type) ? schemaRef(`${path}#/$defs/${type}`) : schemaRef(path)
    }
    case 'catalog': {
      const isLookup =
        body.has('product') || body.objects('products').some((product) => product.objects('variants').some((one) => one.has('inputs')))
      const [file, name] = isLookup
        ? ['lookup', body.has('product') ? 'get_product_response' : 'lookup_response']
        : ['search', 'search_response']
      return has(`schemas/shopping/catalog_${file}.json`, name) ? schemaRef(`schemas/shopping/catalog_${file}.json#/$defs/${name}`) : null
    }
    case 'error': {
      const path = ['common', 'shopping']
        .map((area) => `schemas/${area}/types/error_response.json`)
        .find((one) => Object.hasOwn(files, one))
      return path === undefined ? null : schemaRef(path)
    }
    default: {
      const path = `schemas/shopping/${type}.json`
      if (!Object.hasOwn(files, path)) return null
      const extensions = EXTENSIONS.flatMap((name) => {
        const file = `schemas/shopping/${name}.json`
        const found = [`dev.ucp.shopping.${type}`, type].find((one) => has(file, one))
        return found === undefined ? [] : [schemaRef(`${file}#/$defs/${found}`)]
      })
      return { allOf: [schemaRef(path), ...extensions] }
    }
  }
}
