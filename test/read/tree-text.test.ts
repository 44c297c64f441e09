import { expect, test } from "bun:test";
import fc from "fast-check";
import { TreeText } from "../../src/read/present/native/cast.ts";

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

const preorder = (node: Tree, depth = 0): (Tree & { depth: number })[] => [
  { ...node, depth },
  ...node.children.flatMap((child) => preorder(child, depth + 1)),
];

interface Shown {
  readonly id: number;
  readonly replies: Shown[];
}

const shownTree = (node: Tree, isRoot = true): Shown | undefined =>
  node.isThere || isRoot
    ? { id: node.id, replies: node.children.flatMap((child) => shownTree(child, false) ?? []) }
    : undefined;

test("writes the JSON of the whole tree without undefined nodes and their subtrees", () => {
  fc.assert(
    fc.property(tree, (root) => {
      const text = new TreeText("replies");
      let written = "";
      for (const { id, isThere, depth } of preorder(root)) {
        written += text.next(depth, isThere || depth === 0 ? { id } : undefined);
      }
      expect(written + text.end()).toBe(JSON.stringify(shownTree(root)));
    }),
  );
});
