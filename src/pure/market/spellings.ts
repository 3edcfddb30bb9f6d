/** How the code of a currency or token may be written: as it is listed, in small letters, or with a capital in front. */
export function spellings(name: string): string[] {
  const small = name.toLowerCase()
  return [...new Set([name, small, small.charAt(0).toUpperCase() + small.slice(1)])]
}
