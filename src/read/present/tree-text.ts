import { openListText } from "../../lib/json-text.ts";

const CHILDREN_END = "]}";

/**
 * Writes the JSON of a tree a node at a time, each before its children, which become the last key of its object. A node
 * that is undefined is left out, with everything below it. The first node is the root, which must be there.
 */
export class TreeText {
  readonly #childrenKey: string;
  /** Nodes whose list of children is open: the path to the last one. */
  #open = 0;
  #skippedDepth = Number.POSITIVE_INFINITY;

  constructor(childrenKey: string) {
    this.#childrenKey = childrenKey;
  }

  /**
   * The text of the next node.
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

  /** The text behind the last node. */
  end(): string {
    return CHILDREN_END.repeat(this.#open);
  }
}
