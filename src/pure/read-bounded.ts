/** Reads all bytes of a stream; null if there are more than `most_bytes`, in which case reading stops. */
export async function readBounded(chunks: AsyncIterable<Uint8Array>, most_bytes: number): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const chunk of chunks) {
    length += chunk.byteLength
    // Leaving the loop cancels the stream.
    if (length > most_bytes) return null
    pieces.push(chunk)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}

/** Reads UTF-8 text, including a byte order mark. A null stream is empty. */
export async function readBoundedText(chunks: AsyncIterable<Uint8Array> | null, most_bytes: number): Promise<string | null> {
  const bytes = chunks === null ? new Uint8Array() : await readBounded(chunks, most_bytes)
  return bytes === null ? null : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}
