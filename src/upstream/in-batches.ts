/**
 * The items of `source` in the groups in which they come in while the reader is busy with the group before: one by one
 * when they come slowly, many at a time when they come fast. At most `maxWeight` wait, one item at least.
 *
 * @param abandon ends the source where the reader stops before it; the source may be waiting for what never comes.
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
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const reading = (async () => {
    try {
      for await (const item of source) {
        waiting.push(item);
        weight += weightOf(item);
        tell();
        while (weight >= maxWeight && !isOver) await changed.promise;
        if (isOver) return;
      }
    } catch (cause) {
      fault = cause;
    } finally {
      isOver = true;
      tell();
    }
  })();
  try {
    for (;;) {
      while (waiting.length === 0 && !isOver) await changed.promise;
      if (waiting.length === 0) break;
      const batch = waiting;
      waiting = [];
      weight = 0;
      tell();
      yield batch;
    }
    if (fault !== undefined) throw fault;
  } finally {
    if (!isOver) {
      isOver = true;
      abandon();
      tell();
    }
    await reading;
  }
}
