import { expect, test } from "bun:test";
import { importsOfSource, roomOf } from "./imports.ts";
import { LAYERS } from "./layers.ts";

const imports = await importsOfSource();
const layerOf = (path: string): number => LAYERS.indexOf(roomOf(path) as (typeof LAYERS)[number]);

test("every room of src has a layer", () => {
  const rooms = new Set(imports.flatMap(({ from, to }) => [roomOf(from), roomOf(to)]));
  expect([...rooms].filter((room) => !(LAYERS as readonly string[]).includes(room))).toEqual([]);
});

test("imports point to the same room or a lower one", () => {
  const upward = imports.filter(({ from, to }) => layerOf(to) < layerOf(from));
  expect(upward.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

test("no files import each other in a circle at run time", () => {
  const targets = new Map<string, string[]>();
  for (const { from, to, isTypeOnly } of imports) {
    if (!isTypeOnly) targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const circles: string[] = [];
  const finished = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
      return;
    }
    if (finished.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    finished.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  expect(circles).toEqual([]);
});
