import { expect, test } from "bun:test";
import fc from "fast-check";
import { treeText } from "../../src/read/present/tree-text.ts";

interface Tree {
  readonly id: number;
  readonly isThere: boolean;
  readonly children: Tree[];
}

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    id: fc.nat(),
    isThere: fc.boolean(),
    children: fc.oneof({ maxDepth: 4 }, fc.constant<Tree[]>([]), fc.array(tie("tree"), { maxLength: 4 })),
  }),
}));

const walk = (node: Tree, depth = 0): (Tree & { depth: number })[] => [
  { ...node, depth },
  ...node.children.flatMap((child) => walk(child, depth + 1)),
];

interface Shown {
  readonly id: number;
  readonly replies: Shown[];
}

const shownTree = (node: Tree, isRoot = true): Shown | undefined =>
  node.isThere || isRoot
    ? { id: node.id, replies: node.children.flatMap((child) => shownTree(child, false) ?? []) }
    : undefined;

test("a tree that is written a node at a time is the JSON of the whole, without what is gone and all below it", async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (root) => {
      const nodes = walk(root);
      async function* shown() {
        for (const { id, isThere, depth } of nodes)
          yield isThere || depth === 0 ? { id, replies: [] } : undefined;
      }
      let text = "";
      for await (const piece of treeText(nodes, shown())) text += piece;
      expect(text).toBe(JSON.stringify(shownTree(root)));
    }),
  );
});
