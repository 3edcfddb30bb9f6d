import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { locate, orientation, type PlaceE7, type PointE7, readGeofence, RING_VERTICES_MAX } from '../../src/pure/geometry/geofence.ts'
import { runs, SEED } from '../support/counts.ts'
import { besideEdge, exactLocation, exactSide, ringFault } from './exact-geometry.ts'

const LIMITS = { numRuns: runs(1_500, 100_000), seed: SEED }

/** Coordinates of every size within 90 degrees, so that no edge spans too much. */
const COORDINATE = fc.oneof(
  fc.integer({ min: -4, max: 4 }),
  fc.integer({ min: -899_999_999, max: 899_999_999 }),
  fc.constantFrom(-899_999_999, 899_999_999, 0),
)
const POINT: fc.Arbitrary<PointE7> = fc.record({ x: COORDINATE, y: COORDINATE })

/** Rings some of whose vertices are moved onto, or next to, an edge: slivers, spikes, touching and overlapping edges. */
const RING = fc
  .tuple(fc.array(POINT, { minLength: 3, maxLength: 9 }), fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.integer({ min: -1, max: 1 }))))
  .map(([points, moves]) => {
    const ring = points.filter(({ x, y }, index) => points.findIndex((one) => one.x === x && one.y === y) === index)
    for (const [vertex, edge, along, side] of moves.slice(0, 2)) {
      const [from, to] = [ring[edge % ring.length], ring[(edge + 1) % ring.length]]
      const moved = from === undefined || to === undefined ? null : besideEdge(from, to, along, side)
      if (moved !== null && ring.every(({ x, y }) => x !== moved.x || y !== moved.y)) ring[vertex % ring.length] = moved
    }
    return ring
  })
  .filter((ring) => ring.length >= 3)

/** Where to look: next to an edge, on it, at a vertex, at the height of a vertex, anywhere. */
const ASKED = fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: -1, max: 1 }), COORDINATE)

function placesAround(ring: readonly PointE7[], [edge, along, side, x]: [number, number, number, number]): PointE7[] {
  const [from, to] = [ring[edge % ring.length], ring[(edge + 1) % ring.length]]
  if (from === undefined || to === undefined) return []
  return [besideEdge(from, to, along, side) ?? from, from, { x, y: to.y }]
}

function places(points: readonly PointE7[]): PlaceE7[] {
  return points.map(({ x, y }) => ({ lat_e7: y, lon_e7: x }))
}

test('rings and places are judged as exact fractions judge them', () => {
  const seen = { ok: 0, inside: 0, boundary: 0, outside: 0 }
  const property = fc.property(RING, ASKED, (ring, asked) => {
    const read = readGeofence(places(ring), false)
    assert.equal(read.ok ? null : read.code, ringFault(ring))
    if (!read.ok) return
    seen.ok++
    for (const point of placesAround(ring, asked)) {
      const found = locate(read.fence, { lat_e7: point.y, lon_e7: point.x })
      assert.equal(found, exactLocation(ring, point))
      seen[found]++
    }
  })
  fc.assert(property, LIMITS)
  assert.ok(Math.min(...Object.values(seen)) > LIMITS.numRuns / 50, JSON.stringify(seen))
})

test('a ring over the antimeridian is judged as its twin on the other side of the globe', () => {
  const across = (lon_e7: number) => (lon_e7 >= 0 ? lon_e7 - 1_800_000_000 : lon_e7 + 1_800_000_000)
  const moved = (place: PlaceE7) => ({ ...place, lon_e7: across(place.lon_e7) })
  const property = fc.property(RING, ASKED, (ring, asked) => {
    const [here, there] = [readGeofence(places(ring), false), readGeofence(places(ring).map(moved), true)]
    assert.equal(there.ok ? null : there.code, here.ok ? null : here.code)
    if (!here.ok || !there.ok) return
    for (const place of places(placesAround(ring, asked))) {
      assert.equal(locate(there.fence, moved(place)), locate(here.fence, place))
      // Both names of the antimeridian.
      if (place.lon_e7 === 0)
        assert.equal(locate(there.fence, { ...place, lon_e7: 1_800_000_000 }), locate(there.fence, { ...place, lon_e7: -1_800_000_000 }))
    }
  })
  fc.assert(property, { ...LIMITS, numRuns: runs(500, 20_000) })
})

test('the side of a line is exact where doubles say that a point is on it', () => {
  // The whole plane, corner to corner: the exact cross product is 1.
  const [a, b, c] = [
    { x: -1_800_000_000, y: -900_000_000 },
    { x: 1_799_999_999, y: 899_999_998 },
    { x: 600_000_000, y: 299_999_999 },
  ]
  assert.equal((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x), 0)
  assert.equal(orientation(a, b, c), 1)
  const wide = fc.record({
    x: fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }),
    y: fc.integer({ min: -900_000_000, max: 900_000_000 }),
  })
  const near = fc.tuple(wide, wide, fc.nat(), fc.integer({ min: -5_000, max: 5_000 }), wide)
  const property = fc.property(near, ([from, to, along, side, anywhere]) => {
    const beside = besideEdge(from, to, along, side) ?? anywhere
    for (const point of [beside, anywhere]) assert.equal(orientation(from, to, point), exactSide(from, to, point))
  })
  fc.assert(property, LIMITS)
})

const SQUARE: PlaceE7[] = [
  { lat_e7: 0, lon_e7: 1_790_000_000 },
  { lat_e7: 0, lon_e7: 1_800_000_000 },
  { lat_e7: 9, lon_e7: 1_800_000_000 },
  { lat_e7: 9, lon_e7: 1_790_000_000 },
]

test('-180 and 180 degrees are one meridian, for vertices and for places', () => {
  const renamed = SQUARE.map((place) => (place.lon_e7 === 1_800_000_000 ? { ...place, lon_e7: -1_800_000_000 } : place))
  for (const ring of [SQUARE, renamed]) {
    const read = readGeofence(ring, false)
    assert.ok(read.ok)
    for (const lon_e7 of [-1_800_000_000, 1_800_000_000]) assert.equal(locate(read.fence, { lat_e7: 5, lon_e7 }), 'boundary')
    assert.equal(locate(read.fence, { lat_e7: 5, lon_e7: 1_799_999_999 }), 'inside')
    assert.equal(locate(read.fence, { lat_e7: 5, lon_e7: -1_799_999_999 }), 'outside')
  }
})

test('a band around the globe has the antimeridian in it under both names', () => {
  const lons = [-180, -90, 0, 90, 180].map((degrees) => degrees * 10_000_000)
  const ring = [...lons.map((lon_e7) => ({ lat_e7: 0, lon_e7 })), ...lons.toReversed().map((lon_e7) => ({ lat_e7: 100, lon_e7 }))]
  const read = readGeofence(ring, false)
  assert.ok(read.ok)
  for (const lon_e7 of [-1_800_000_000, 1_800_000_000]) assert.equal(locate(read.fence, { lat_e7: 50, lon_e7 }), 'boundary')
})

test('repeated neighbours count once, and no vertex more than the bound makes a ring', () => {
  const doubled = SQUARE.flatMap((place) => [place, place])
  assert.equal(readGeofence(doubled, false).ok, true)
  assert.deepEqual(readGeofence([], false), { ok: false, code: 'ring_too_few_vertices' })
  // A comb: every edge is near many others, none meet.
  const comb = Array.from({ length: RING_VERTICES_MAX }, (_, index) => ({
    lat_e7: index % 2 === 0 ? 0 : 800_000_000,
    lon_e7: index === RING_VERTICES_MAX - 1 ? RING_VERTICES_MAX : index,
  }))
  const bottom = [...comb, { lat_e7: -1, lon_e7: RING_VERTICES_MAX }, { lat_e7: -1, lon_e7: -1 }]
  const read = readGeofence(bottom, false)
  assert.ok(read.ok)
  assert.equal(locate(read.fence, { lat_e7: 1, lon_e7: 2 }), 'outside')
  assert.equal(locate(read.fence, { lat_e7: 1, lon_e7: 1 }), 'inside')
})
