import { readFileSync } from "node:fs";
import { BinaryReader } from "@bufbuild/protobuf/wire";

const FOLDER = new URL("../trust/vectors/", import.meta.url);

/** Reads a file of the recorded networks (test/trust/vectors/README.md). */
export function vectorBytes(name: string): Uint8Array {
  return Bun.zstdDecompressSync(readFileSync(new URL(`${name}.zst`, FOLDER)));
}

export function vectorJson<Json>(name: string): Json {
  return JSON.parse(Buffer.from(vectorBytes(name)).toString("utf8"));
}

/** Returns the messages of a file, each of which follows its length. */
export function vectorList(name: string): Uint8Array[] {
  const reader = new BinaryReader(vectorBytes(name));
  const items: Uint8Array[] = [];
  while (reader.pos < reader.len) items.push(reader.bytes());
  return items;
}
