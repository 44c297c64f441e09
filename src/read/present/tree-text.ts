import { jsonText } from "../../lib/json-text.ts";

/**
 * The JSON of a tree, a node at a time. The nodes come each before its children; the root, which must be there, has depth
 * 0. A node is shown as an object whose last key is the list of its children, empty;
 * undefined leaves it out, with everything below it.
 */
export async function* treeText(
  nodes: readonly { readonly depth: number }[],
  shown: AsyncIterator<object | undefined>,
): AsyncGenerator<string, void, void> {
  /** Nodes whose list of children is open: the path to the last one. */
  let open = 0;
  let skippedDepth = Number.POSITIVE_INFINITY;
  for (const { depth } of nodes) {
    const { value } = await shown.next();
    if (depth > skippedDepth) continue;
    skippedDepth = value ? Number.POSITIVE_INFINITY : depth;
    if (!value) continue;
    const closed = open - depth;
    open = depth + 1;
    yield `${closed > 0 ? `${"]}".repeat(closed)},` : ""}${jsonText(value).slice(0, -"]}".length)}`;
  }
  yield "]}".repeat(open);
}
