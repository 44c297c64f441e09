interface Group<Item, Result> {
  readonly items: Item[];
  readonly results: Promise<readonly Result[]>;
}

/** Adds an item to the next call for its key; resolves with its result. */
export type GroupedCall<Item, Result> = (key: string, item: Item) => Promise<Result>;

/**
 * Returns a function that passes items to `call`, one call per key at a time. Items that arrive during a call share the next one: a write
 * costs about the same for one item as for several. A call that fails fails all its items.
 *
 * @param call returns a result for each item, in the same order
 */
export function createCallGroups<Item, Result>(options: {
  readonly maxItems: number;
  readonly call: (key: string, items: readonly Item[]) => Promise<readonly Result[]>;
}): GroupedCall<Item, Result> {
  const { maxItems, call } = options;
  /** The next call for each key, which more items can join. */
  const waiting = new Map<string, Group<Item, Result>>();
  /** The last call for each key. */
  const last = new Map<string, Promise<unknown>>();

  function join(key: string, item: Item): { readonly group: Group<Item, Result>; readonly at: number } {
    const open = waiting.get(key);
    if (open && open.items.length < maxItems) return { group: open, at: open.items.push(item) - 1 };
    const items = [item];
    const start = () => {
      if (waiting.get(key) === group) waiting.delete(key);
      return call(key, items);
    };
    const previous = last.get(key);
    const results = previous ? previous.then(start) : Promise.resolve().then(start);
    const group: Group<Item, Result> = { items, results };
    waiting.set(key, group);
    const ended = results
      .catch(() => undefined)
      .then(() => {
        if (last.get(key) === ended) last.delete(key);
      });
    last.set(key, ended);
    return { group, at: 0 };
  }

  return async (key, item) => {
    const { group, at } = join(key, item);
    return (await group.results)[at] as Result;
  };
}
