/** What only the upstream has (`missing`), and what only the index has (`extra`), as texts such as `Casts 0x…`. */
export interface Differences {
  readonly missing: readonly string[];
  readonly extra: readonly string[];
}

export interface RoundsDeps {
  /** Number of items compared concurrently. */
  readonly concurrency: number;
  /** Lets the index follow for a while before differing items are compared again. */
  readonly settle: () => Promise<void>;
}

const ROUNDS = 3;

/**
 * Compares items of the upstream and the index. Both sides change meanwhile, so items that differ are compared again, and
 * only what differs in every round is returned.
 *
 * @param startRound reads what the comparisons of a round need.
 */
export async function compareInRounds<Item, Round, Found extends Differences>(
  items: readonly Item[],
  { concurrency, settle }: RoundsDeps,
  startRound: () => Promise<Round>,
  compareIn: (item: Item, round: Round) => Promise<Found>,
): Promise<Found[]> {
  const compareAgain = async (again: readonly Item[]) => {
    const round = await startRound();
    return compareAll(again, concurrency, (item) => compareIn(item, round));
  };
  let differing = await compareAgain(items);
  for (let round = 1; round < ROUNDS && differing.length > 0; round += 1) {
    await settle();
    const before = new Map(differing.map(({ item, found }) => [item, found]));
    const again = await compareAgain([...before.keys()]);
    differing = again
      .map(({ item, found }) => ({ item, found: inBoth(before.get(item) ?? found, found) }))
      .filter(({ found }) => isDifferent(found));
  }
  return differing.map(({ found }) => found);
}

/** Compares a few items at a time. Returns those that differ. */
async function compareAll<Item, Found extends Differences>(
  items: readonly Item[],
  concurrency: number,
  compare: (item: Item) => Promise<Found>,
): Promise<{ item: Item; found: Found }[]> {
  const left = [...items];
  const differing: { item: Item; found: Found }[] = [];
  const work = async () => {
    while (left.length > 0) {
      const item = left.pop() as Item;
      const found = await compare(item);
      if (isDifferent(found)) differing.push({ item, found });
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  return differing;
}

function isDifferent({ missing, extra }: Differences): boolean {
  return missing.length + extra.length > 0;
}

/** Returns what two comparisons of one item have in common. Changes in transit during the first are not differences. */
function inBoth<Found extends Differences>(first: Found, second: Found): Found {
  const [missing, extra] = [new Set(first.missing), new Set(first.extra)];
  return {
    ...second,
    missing: second.missing.filter((one) => missing.has(one)),
    extra: second.extra.filter((one) => extra.has(one)),
  };
}

/** Compares sets of ids, and lists what only one side has. */
export function setDifferences(
  theirs: ReadonlySet<string>,
  stored: ReadonlySet<string>,
  name: (id: string) => string,
): Differences {
  return {
    missing: [...theirs.difference(stored)].map(name),
    extra: [...stored.difference(theirs)].map(name),
  };
}
