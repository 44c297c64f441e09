import { type ChainPosition, isAfter } from "./chain-position.ts";

interface TimedPosition extends ChainPosition {
  /** Unix seconds. */
  readonly at: number;
}

/** What a node has reported about the owner of an fid: acts by events that the indexes of other nodes may lack for a time. */
export interface Claim {
  /** The first act whose time is not over, or the last act. */
  readonly first: TimedPosition;
  /** The latest act that was first before, and whose time is over. */
  readonly over: TimedPosition | null;
  /** Whether the index of a node still lacked an event after its time. Acts at the node then count at no other node. */
  readonly isDoubted: boolean;
}

/** By the id of the node. */
export type Claims = Readonly<Record<string, Claim>>;

/** How many nodes are remembered. A state has at most as many live ones. */
const MAX_CLAIMS = 64;

/** Adds an act at a node. An event that the node claims while an earlier one counts has no time of its own. */
export function claimsWith(claims: Claims, nodeId: string, act: TimedPosition, countsSecs: number): Claims {
  const { [nodeId]: claim, ...others } = claims;
  const { blockNumber, logIndex, at } = act;
  const first = { blockNumber, logIndex, at };
  const isOver = claim !== undefined && claim.first.at + countsSecs < at;
  const over = isOver ? later(claim.over, claim.first) : (claim?.over ?? null);
  const next = { first: claim && !isOver ? claim.first : first, over, isDoubted: claim?.isDoubted ?? false };
  return Object.fromEntries([...Object.entries(others), [nodeId, next]].slice(-MAX_CLAIMS));
}

/**
 * Doubts the nodes that have claimed an event which an index lacks although its time is over.
 *
 * @param knownTo the event up to which the index knows the owners; undefined if it has none of the fid, and doubts no one.
 */
export function claimsDoubtedBy(
  claims: Claims,
  knownTo: ChainPosition | undefined,
  nowSecs: number,
  countsSecs: number,
): Claims {
  if (!knownTo) return claims;
  const isLacking = (event: TimedPosition | null) =>
    event !== null && event.at + countsSecs < nowSecs && isAfter(event, knownTo);
  return Object.fromEntries(
    Object.entries(claims).map(([id, claim]) => {
      const isContradicted = isLacking(claim.first) || isLacking(claim.over);
      return [id, isContradicted ? { ...claim, isDoubted: true } : claim];
    }),
  );
}

function later(a: TimedPosition | null, b: TimedPosition): TimedPosition {
  return a !== null && isAfter(a, b) ? a : b;
}
