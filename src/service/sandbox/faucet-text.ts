/** Path of the faucet of a sandbox. */
export const FAUCET_PATH = '/v1/sandbox/fund'
/** Path of the public JSON-RPC of a sandbox's chain. */
export const SANDBOX_RPC_PATH = '/v1/sandbox/rpc'

/** Says how to get test money; for problems and documents of a sandbox. */
export function faucetWords(api_url: string): string {
  return `This is a sandbox; test USDC is free: POST ${api_url}${FAUCET_PATH} {"address":"0x…"}`
}

/** True if an origin is an address of this machine, so that clients of the service run on it too. */
function isLoopback(origin: string): boolean {
  const { hostname } = new URL(origin)
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/**
 * JSON-RPC of the sandbox's chain for clients: the public one, or the node itself where the service is only reached from its own machine, so that the
 * operator's tools can mine blocks and mint.
 */
export function sandboxRpcUrl(api_url: string, node_url: string): string {
  return isLoopback(api_url) ? node_url : api_url + SANDBOX_RPC_PATH
}
