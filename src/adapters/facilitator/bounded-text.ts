/** The body as text; null when it is longer than allowed, in which case the rest is not read. */
export async function textOf(response: Response, bytes_max: number): Promise<string | null> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (bytes > bytes_max) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
