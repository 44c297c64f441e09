/** A position on the chain. */
export interface ChainPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
}

/** Before every event. */
export const START: ChainPosition = { blockNumber: -1, logIndex: -1 };

/** Compares positions. */
export function isAfter(a: ChainPosition = START, b: ChainPosition = START): boolean {
  return a.blockNumber > b.blockNumber || (a.blockNumber === b.blockNumber && a.logIndex > b.logIndex);
}
