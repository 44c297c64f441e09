import { openListText } from "../../lib/json-text.ts";

const CHILDREN_END = "]}";

/**
 * Writes the JSON of a tree one node at a time, each node before its children, which become the last key of its object. A
 * node that is undefined is omitted together with its subtree. The first node is the root and must not be undefined.
 */
export class TreeText {
  readonly #childrenKey: string;
  /** The number of nodes whose list of children is open: the path to the last node. */
  #open = 0;
  #skippedDepth = Number.POSITIVE_INFINITY;

  constructor(childrenKey: string) {
    this.#childrenKey = childrenKey;
  }

  /**
   * Returns the text of the next node.
   * @param shown the object without its children
   * @param depth 0 for the root
   */
  next(depth: number, shown: object | undefined): string {
    if (depth > this.#skippedDepth) return "";
    this.#skippedDepth = shown ? Number.POSITIVE_INFINITY : depth;
    if (!shown) return "";
    const closed = this.#open - depth;
    this.#open = depth + 1;
    const before = closed > 0 ? `${CHILDREN_END.repeat(closed)},` : "";
    return before + openListText(shown, this.#childrenKey);
  }

  /** Returns the text after the last node. */
  end(): string {
    return CHILDREN_END.repeat(this.#open);
  }
}
