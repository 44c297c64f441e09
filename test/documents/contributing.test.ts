import { expect, test } from "bun:test";
import { importsOfSource } from "../structure/imports.ts";
import { LAYERS } from "../structure/layers.ts";
import { documentText } from "../support/documents.ts";

const text = documentText("CONTRIBUTING.md");

test("CONTRIBUTING.md lists the layers in their order", () => {
  const [, list = ""] = /From top to bottom: ([^.]+)\./.exec(text) ?? [];
  const layers = LAYERS.filter((layer) => layer !== "version.ts").map((layer) => layer.replace(".ts", ""));
  expect(list.split(/,\s+/)).toEqual(layers);
});

test("every circle of imports is closed by an import of a type that CONTRIBUTING.md lists", async () => {
  const [, table = ""] = /<!-- type circles -->([\s\S]*?)<!-- \/type circles -->/.exec(text) ?? [];
  const listed = new Set(
    [...table.matchAll(/^\| `([^`]+)` +\| `([^`]+)`/gm)].map(([, from, to]) => `${from} ${to}`),
  );
  const targets = Map.groupBy(
    (await importsOfSource()).filter(({ from, to }) => !listed.has(`${from} ${to}`)),
    ({ from }) => from,
  );
  const inCircles = [...targets.keys()].filter((file) => reaches(file, file));
  expect(inCircles).toEqual([]);

  function reaches(start: string, end: string): boolean {
    const seen = new Set<string>();
    const queue = [start];
    for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
      for (const { to } of targets.get(file) ?? []) {
        if (to === end) return true;
        if (seen.has(to)) continue;
        seen.add(to);
        queue.push(to);
      }
    }
    return false;
  }
});
