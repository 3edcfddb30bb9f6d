import { isObject, jsonValue } from '../pure/is-object.ts'
import { type FurtherNetwork, networkOf, NETWORKS } from '../pure/networks.ts'

const MEMBERS = ['chain_id', 'rpc_urls', 'gas_key_file', 'gas_daily_wei', 'confirmations']
export const NETWORKS_EXAMPLE = '[{"chain_id":137,"rpc_urls":["https://polygon.example"]}]'

/** Reads further networks from JSON. Returns the fault as the rest of a sentence, which quotes no value, because URLs often carry keys. */
export function readFurtherNetworks(text: string, most: number, isUrl: (text: string) => boolean): FurtherNetwork[] | string {
  const read = jsonValue(text)
  if (!Array.isArray(read) || read.length > most) return `must be a JSON list of at most ${most} networks, such as ${NETWORKS_EXAMPLE}`
  const found: FurtherNetwork[] = []
  for (const [index, entry] of read.entries()) {
    const network = readFurtherNetwork(entry, isUrl)
    if (typeof network === 'string') return `has a fault in network ${index + 1}: ${network}`
    if (found.some(({ chain_id }) => chain_id === network.chain_id)) return `names chain ${network.chain_id} twice`
    found.push(network)
  }
  return found
}

/** Returns the network, or the fault of its entry. */
function readFurtherNetwork(entry: unknown, isUrl: (text: string) => boolean): FurtherNetwork | string {
  if (!isObject(entry)) return `it must be an object, such as ${NETWORKS_EXAMPLE.slice(1, -1)}`
  const stray = Object.keys(entry).find((name) => !MEMBERS.includes(name))
  if (stray !== undefined) return `${stray.slice(0, 40)} is not one of ${MEMBERS.join(', ')}`
  const { chain_id, rpc_urls, gas_key_file = '', gas_daily_wei, confirmations = null } = entry
  const network = typeof chain_id === 'number' ? networkOf(chain_id) : null
  if (network === null) return `chain_id must be one of ${NETWORKS.map((known) => known.chain_id).join(', ')}`
  const usable = Array.isArray(rpc_urls) ? rpc_urls.filter((url) => typeof url === 'string' && isUrl(url)) : []
  if (!Array.isArray(rpc_urls) || usable.length === 0 || usable.length !== rpc_urls.length)
    return 'rpc_urls must list at least one http or https URL of a JSON-RPC endpoint of this network'
  if (typeof gas_key_file !== 'string') return 'gas_key_file must be a path, such as "/run/secrets/gas"'
  const daily = gas_daily_wei ?? network.gas.daily_wei.toString()
  if (typeof daily !== 'string' || !/^\d{1,30}$/.test(daily)) return 'gas_daily_wei must be a whole number of wei as text'
  const is_depth = typeof confirmations === 'number' && Number.isInteger(confirmations) && confirmations >= 1 && confirmations <= 10_000
  if (confirmations !== null && !is_depth) return 'confirmations must be a whole number of blocks from 1 to 10000'
  return {
    chain_id: network.chain_id,
    rpc_urls: usable as string[],
    gas_key_file,
    gas_daily_wei: BigInt(daily),
    confirmations: is_depth ? confirmations : null,
  }
}
