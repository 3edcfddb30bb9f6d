export type FileText = { ok: true; text: string } | { ok: false; message: string }

/** Reads a file as UTF-8 text, in the browser. */
export async function readFileText(file: File, most_chars: number): Promise<FileText> {
  // A character takes at most four bytes.
  if (file.size > most_chars * 4)
    return { ok: false, message: `The file is too long (${file.size} bytes); the limit is ${most_chars} characters.` }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
    return text.length <= most_chars
      ? { ok: true, text }
      : { ok: false, message: `The file has ${text.length} characters; the limit is ${most_chars}.` }
  } catch {
    return { ok: false, message: 'The file is not UTF-8 text, or cannot be read.' }
  }
}
