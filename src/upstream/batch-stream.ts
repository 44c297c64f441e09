/**
 * Groups the items of `source` that arrive while the consumer processes the previous group: single items if they
 * arrive slowly, many at a time if they arrive fast. At most `maxWeight` is buffered, but at least one item.
 *
 * @param abandon ends the source if the consumer stops early; the source may be waiting for an item that never
 *   arrives.
 */
export async function* inBatches<Item>(
  source: AsyncGenerator<Item>,
  weightOf: (item: Item) => number,
  maxWeight: number,
  abandon: () => void,
): AsyncGenerator<Item[]> {
  let waiting: Item[] = [];
  let weight = 0;
  let isOver = false;
  let fault: unknown;
  let changed = Promise.withResolvers<void>();
  const notify = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const reading = (async () => {
    try {
      for await (const item of source) {
        waiting.push(item);
        weight += weightOf(item);
        notify();
        while (weight >= maxWeight && !isOver) await changed.promise;
        if (isOver) return;
      }
    } catch (cause) {
      fault = cause;
    } finally {
      isOver = true;
      notify();
    }
  })();
  try {
    for (;;) {
      while (waiting.length === 0 && !isOver) await changed.promise;
      if (waiting.length === 0) break;
      const batch = waiting;
      waiting = [];
      weight = 0;
      notify();
      yield batch;
    }
    if (fault !== undefined) throw fault;
  } finally {
    if (!isOver) {
      isOver = true;
      abandon();
      notify();
    }
    await reading;
  }
}
