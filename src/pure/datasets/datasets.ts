import type { DatasetDefinition } from './definition.ts'
import { NAME_LISTS } from './listed-names.ts'
import { ofacAddresses } from './ofac-addresses.ts'

/** Datasets that can be replaced while the service runs; all other tables come with the release. */
export const DATASETS = { ofac_addresses: ofacAddresses, ...NAME_LISTS } as const

export type DatasetId = keyof typeof DATASETS

export const DATASET_IDS = Object.keys(DATASETS) as DatasetId[]

export function isDatasetId(id: string): id is DatasetId {
  return Object.hasOwn(DATASETS, id)
}

/** Definition without the type of its rows. */
export function datasetDefinition(id: DatasetId): DatasetDefinition<unknown> {
  return DATASETS[id]
}

/** Dataset of a snapshot's text by its schema, which comes first; null if it is none. */
export function datasetOf(text: string): DatasetId | null {
  const schema = /^\s*\{\s*"schema"\s*:\s*"([^"]{1,100})"/.exec(text)?.[1]
  return DATASET_IDS.find((id) => DATASETS[id].schema === schema) ?? null
}
