/** Scores by cumulative share: the share of the total that the accounts up to this point have, strongest first. */
const ANCHORS = [
  [0.1, 0.9],
  [0.4, 0.7],
  [0.69, 0.5],
  [0.88, 0.25],
] as const;
/** The value at which the score is 0, as a share of the value at the last anchor. */
const ZERO_SHARE = 1 / 20;

/** Scores in hundredths, and ranks from 1 on. Equal values are ranked in the order of accounts. */
export interface Mapped {
  readonly scores: Uint8Array;
  readonly ranks: Uint32Array;
}

/**
 * Maps values to scores from 0 to 1 by mass: a score is fixed where the cumulative share reaches an anchor, and linear in
 * the logarithm in between. Accounts without weight that join therefore lower no other account.
 */
export function mapByMass(counted: Float64Array): Mapped {
  const n = counted.length;
  const order = Uint32Array.from({ length: n }, (_, at) => at).sort(
    (a, b) => (counted[b] ?? 0) - (counted[a] ?? 0) || a - b,
  );
  const ranks = new Uint32Array(n);
  for (let at = 0; at < n; at++) ranks[order[at] ?? 0] = at + 1;
  const points = anchorPoints(counted, order);
  return { scores: Uint8Array.from(counted, (value) => Math.round(100 * valueAt(points, value))), ranks };
}

/** `[logarithm of the value, score]`, strongest first; empty if all values are 0. */
type Points = readonly (readonly [log: number, score: number])[];

function anchorPoints(counted: Float64Array, order: Uint32Array): Points {
  let total = 0;
  for (const at of order) total += counted[at] ?? 0;
  const greatest = counted[order[0] ?? 0] ?? 0;
  if (!(total > 0)) return [];
  const points: [number, number][] = [[Math.log(greatest), 1]];
  let sum = 0;
  let last = greatest;
  let next = 0;
  for (const at of order) {
    last = counted[at] ?? 0;
    sum += last;
    for (let anchor = ANCHORS[next]; anchor && sum >= anchor[0] * total; anchor = ANCHORS[next]) {
      points.push([Math.log(last), anchor[1]]);
      next += 1;
    }
    if (next === ANCHORS.length) break;
  }
  points.push([Math.log(last * ZERO_SHARE), 0]);
  return points;
}

function valueAt(points: Points, counted: number): number {
  if (counted <= 0) return 0;
  const log = Math.log(counted);
  let above: readonly [number, number] | undefined;
  for (const point of points) {
    if (log >= point[0]) {
      if (!above || above[0] === point[0]) return point[1];
      return point[1] + ((above[1] - point[1]) * (log - point[0])) / (above[0] - point[0]);
    }
    above = point;
  }
  return 0;
}
