/**
 * Seal of a receipt: a guilloche drawn from its digest, so that people can compare receipts at a glance. It is a visual fingerprint, not
 * a proof. Coordinates are whole numbers computed with + - * / and Math.round, which all engines compute identically; Math.sin may be
 * rounded differently. The rim contains the whole digest, one tick per hex digit, clockwise from the top; bytes 0 to 11 determine lobes,
 * strands, amplitude and rotation of the three bands.
 */

/** Side of the square view box. */
export const SEAL_UNITS = 1_000

export interface SealPath {
  /** SVG path data. */
  d: string
  /** In units of the view box. */
  stroke_width: number
}

/** A broken seal has a missing wedge and a crack. */
export interface SealForm {
  broken?: boolean
}

/** Seal as paths, for badges and PDF. An invalid digest gives an empty, broken seal. */
export function sealPaths(digest: string, form: SealForm = {}): SealPath[] {
  const bytes = /^0x[0-9a-f]{64}$/.test(digest) ? digest.slice(2) : null
  if (bytes === null) return [crack(0)]
  const wedge = form.broken === true ? Math.round((byteAt(bytes, 31) * 360) / 256) : null
  const bands = BANDS.map((place, index) => ({ d: band(bytes, index, place, wedge), stroke_width: 4 }))
  const rim = { d: ticks(bytes, wedge), stroke_width: 7 }
  return wedge === null ? [rim, ...bands] : [rim, ...bands, crack(wedge + WEDGE_DEGREES / 2)]
}

/** Seal as SVG markup in a square of `SEAL_UNITS`, in the current text colour. */
export function sealShape(digest: string, form: SealForm = {}): string {
  const paths = sealPaths(digest, form).map(({ d, stroke_width }) => `<path stroke-width="${stroke_width}" d="${d}"/>`)
  return `<g fill="none" stroke="currentColor">${paths.join('')}</g>`
}

/** The seal as an SVG document. */
export function sealSvg(digest: string, form: SealForm = {}): string {
  const title =
    form.broken === true ? 'Broken seal: this receipt does not verify.' : 'Seal of this receipt: a visual fingerprint, not proof.'
  const frame = `xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SEAL_UNITS} ${SEAL_UNITS}" role="img"`
  return `<svg ${frame}><title>${title}</title>${sealShape(digest, form)}</svg>`
}

const CENTRE = SEAL_UNITS / 2
/** Fixed literal, precise enough for a drawing. */
const PI = 3.14159
const WEDGE_DEGREES = 50
/** Middle radius and amplitude of the three bands, from the outside in. */
const BANDS = [
  { radius: 345, room: 75 },
  { radius: 225, room: 85 },
  { radius: 110, room: 70 },
]

function byteAt(hex: string, index: number): number {
  return parseInt(hex.slice(2 * index, 2 * index + 2), 16)
}

/**
 * Sine of an angle in degrees by Bhaskara's rational formula (7th century), error below 0.0017; only one division, which IEEE 754 rounds
 * identically everywhere.
 */
function sine(degrees: number): number {
  const turn = ((degrees % 360) + 360) % 360
  const half = turn < 180 ? turn : turn - 180
  const product = half * (180 - half)
  return ((turn < 180 ? 4 : -4) * product) / (40_500 - product)
}

function point(radius: number, degrees: number): [x: number, y: number] {
  return [Math.round(CENTRE + radius * sine(degrees)), Math.round(CENTRE - radius * sine(degrees + 90))]
}

function missing(degrees: number, wedge: number | null): boolean {
  return wedge !== null && (((degrees - wedge) % 360) + 360) % 360 < WEDGE_DEGREES
}

/** Band: a wave around a circle, drawn as two or three shifted strands. */
function band(bytes: string, index: number, place: { radius: number; room: number }, wedge: number | null): string {
  const at = 4 * index
  const lobes = 5 + (byteAt(bytes, at) % 10) - index
  const count = 2 + (byteAt(bytes, at + 1) % 2)
  const height = Math.round((place.room * (128 + (byteAt(bytes, at + 2) >> 1))) / 255)
  const phase = (byteAt(bytes, at + 3) * 360) / 256
  const shift = 360 / lobes / count
  return Array.from({ length: count }, (_, strand) => wave(place.radius, height, lobes, phase + strand * shift, wedge)).join('')
}

/**
 * Closed wave with `lobes` crests. Each half lobe is one cubic curve from crest to trough, tangential at both ends; the handle is 0.38 of
 * the half lobe's angle, close to a cosine.
 */
function wave(radius: number, height: number, lobes: number, phase: number, wedge: number | null): string {
  const step = 180 / lobes
  const handle = (step * 0.38 * PI) / 180
  let text = ''
  let drawing = false
  for (let half = 0; half < 2 * lobes; half++) {
    const [from, to] = [phase + half * step, phase + (half + 1) * step]
    if (missing(from + step / 2, wedge)) {
      drawing = false
      continue
    }
    const [near, far] = half % 2 === 0 ? [radius + height, radius - height] : [radius - height, radius + height]
    const [start, end] = [point(near, from), point(far, to)]
    if (!drawing) text += `M${start[0]} ${start[1]}`
    text += `c${relative(start, [along(near, from, near * handle), along(far, to, -far * handle), end])}`
    drawing = true
  }
  return text
}

/** Point at `distance` clockwise along the tangent of a circle. */
function along(radius: number, degrees: number, distance: number): [x: number, y: number] {
  const [x, y] = point(radius, degrees)
  return [Math.round(x + distance * sine(degrees + 90)), Math.round(y + distance * sine(degrees))]
}

/** Coordinates relative to `origin`, without the spaces before minus signs. */
function relative(origin: readonly [number, number], points: readonly (readonly [number, number])[]): string {
  return points
    .flatMap(([x, y]) => [x - origin[0], y - origin[1]])
    .join(' ')
    .replaceAll(' -', '-')
}

/** Rim: the length of tick n is hex digit n. */
function ticks(bytes: string, wedge: number | null): string {
  let text = ''
  for (let index = 0; index < 64; index++) {
    const degrees = (index * 360) / 64
    if (missing(degrees, wedge)) continue
    const start = point(490, degrees)
    const end = point(482 - 3 * parseInt(bytes.charAt(index), 16), degrees)
    text += `M${start[0]} ${start[1]}l${relative(start, [end])}`
  }
  return text
}

/** Jagged line from the rim through the centre. */
function crack(degrees: number): SealPath {
  const corners = [490, 380, 290, 170, 90, 0].map((radius, index) => point(radius, degrees + (index % 2 === 0 ? -7 : 9)))
  return { d: `M${corners.map(([x, y]) => `${x} ${y}`).join('L')}`, stroke_width: 9 }
}
