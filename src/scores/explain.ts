import { packSources } from "../db/index/counts/score-sources.ts";
import type { EvidenceGraph } from "./graph.ts";
import type { Trust } from "./method.ts";

const MAX_SOURCES = 8;

/** Returns the 8 strongest sources of an account, strongest first, packed; null if there are none. */
export function strongestSources(graph: EvidenceGraph, { voice }: Trust, target: number): Uint8Array | null {
  const { fids, offsets, sources, weights } = graph;
  const best: { source: number; part: number }[] = [];
  let sum = 0;
  for (let at = offsets[target] ?? 0; at < (offsets[target + 1] ?? 0); at++) {
    const source = sources[at] ?? 0;
    const part = (voice[source] ?? 0) * (weights[at] ?? 0);
    if (part === 0) continue;
    sum += part;
    if (best.length === MAX_SOURCES && part <= (best.at(-1)?.part ?? 0)) continue;
    const place = best.findIndex((other) => other.part < part);
    best.splice(place < 0 ? best.length : place, 0, { source, part });
    if (best.length > MAX_SOURCES) best.pop();
  }
  if (best.length === 0) return null;
  return packSources(best.map(({ source, part }) => ({ fid: fids[source] ?? 0, share: part / sum })));
}

/** Maximum number of accounts on a path from an account to a seed. */
export const MAX_PATH = 6;

/**
 * Returns, for each account, the preceding one on a shortest path from a seed, choosing the strongest. The array contains
 * the account's index + 1; 0 for seeds, and for accounts further away than `MAX_PATH`.
 */
export function pathsFromSeeds(
  graph: EvidenceGraph,
  { trust, voice }: Trust,
  seeds: readonly number[],
): Uint32Array {
  const { offsets, sources, weights } = graph;
  const n = graph.fids.length;
  const via = new Uint32Array(n);
  const level = new Uint8Array(n);
  for (const seed of seeds) level[seed] = 1;
  for (let round = 2; round <= MAX_PATH; round++) {
    let found = 0;
    for (let j = 0; j < n; j++) {
      if (level[j] !== 0 || trust[j] === 0) continue;
      let strongest = 0;
      for (let at = offsets[j] ?? 0; at < (offsets[j + 1] ?? 0); at++) {
        const source = sources[at] ?? 0;
        if (level[source] !== round - 1) continue;
        const part = (voice[source] ?? 0) * (weights[at] ?? 0);
        if (part <= strongest) continue;
        strongest = part;
        via[j] = source + 1;
      }
      if (via[j] === 0) continue;
      level[j] = round;
      found += 1;
    }
    if (found === 0) break;
  }
  return via;
}
