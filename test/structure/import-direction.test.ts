import { expect, test } from "bun:test";
import { importsOfSource, roomOf } from "./imports.ts";
import { LAYERS, LAYERS_OF_ROOMS } from "./layers.ts";

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

test("imports within a room point down where its layers are listed", () => {
  const upward = imports.filter(({ from, to }) => {
    const room = roomOf(from);
    const layers = LAYERS_OF_ROOMS[room];
    if (layers === undefined || roomOf(to) !== room) return false;
    const [above, below] = [from, to].map((path) => layers.indexOf(path.split("/")[2] ?? ""));
    return above === undefined || below === undefined || above < 0 || below < above;
  });
  expect(upward.map(({ from, to }) => `${from} -> ${to}`)).toEqual([]);
});

/** The first parts in which two paths differ: an import of one by the other connects them. */
function siblingsOf(from: string, to: string): { readonly folder: string; readonly arrow: [string, string] } {
  const [a, b] = [from.split("/"), to.split("/")];
  const at = a.findIndex((part, index) => part !== b[index]);
  return { folder: a.slice(0, at).join("/"), arrow: [a[at] ?? "", b[at] ?? ""] };
}

test("the folders of a folder import each other in one direction", () => {
  const arrows = new Map<string, Map<string, Set<string>>>();
  for (const { from, to } of imports) {
    if (roomOf(from) !== roomOf(to)) continue;
    const { folder, arrow } = siblingsOf(from, to);
    if (arrow.some((name) => name.includes("."))) continue;
    const targets = arrows.get(folder) ?? new Map<string, Set<string>>();
    arrows.set(folder, targets.set(arrow[0], (targets.get(arrow[0]) ?? new Set()).add(arrow[1])));
  }
  const twoWay = [...arrows].flatMap(([folder, targets]) => {
    const inCircles = [...targets.keys()].filter((name) => reachableFrom(name, targets).has(name));
    return inCircles.length === 0 ? [] : [`${folder}: ${inCircles.toSorted().join(", ")}`];
  });
  expect(twoWay).toEqual([]);
});

function reachableFrom(start: string, targets: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const waiting = [start];
  for (const name of waiting) {
    for (const target of targets.get(name) ?? []) {
      if (reached.has(target)) continue;
      reached.add(target);
      waiting.push(target);
    }
  }
  return reached;
}

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
