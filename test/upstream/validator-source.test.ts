import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { MAINNET_VALIDATORS } from "../../src/trust/validator-sets.ts";
import { createValidatorSource } from "../../src/upstream/chain/validator-source.ts";
import { tempDir } from "../support/program.ts";

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

const path = `${dir.path}/validators.json`;
const [set] = MAINNET_VALIDATORS;
const remove = () => rmSync(path, { recursive: true, force: true });
const write = (from: number) =>
  writeFileSync(path, JSON.stringify({ sets: [{ ...set, effective_at: from, shard_ids: [1] }] }));

function source() {
  const faults: string[] = [];
  const read = createValidatorSource(
    {
      protocol: { network: "devnet", engine_versions: [] },
      trust: {
        level: "blocks",
        roots: "sample",
        validators_file: path,
        events: "two",
        on_unknown_set: "stop",
        on_mismatch: "serve",
        serve_unproven: true,
      },
    },
    (cause) => faults.push(cause instanceof Error ? cause.message : ""),
  );
  /** Whether the validators of a height of shard 1 are known. */
  return { faults, knows: (height: number) => read()?.sets.at(1, height) !== undefined };
}

const GARBAGE: readonly [string, () => void][] = [
  ["is gone", () => {}],
  ["is empty", () => writeFileSync(path, "")],
  ["is cut", () => writeFileSync(path, '{ "sets": [ { "effective_at": 0, "shard')],
  ["has no set", () => writeFileSync(path, '{ "sets": [] }')],
  ["has no UTF-8", () => writeFileSync(path, Buffer.alloc(4096, 0xff))],
  ["is too large", () => writeFileSync(path, Buffer.alloc(2 * 2 ** 20, " "))],
  ["is a directory", () => mkdirSync(path)],
  // No one writes to it: opening it would wait for ever.
  ["is a pipe", () => void Bun.spawnSync(["mkfifo", path])],
];

describe("a file of validators that", () => {
  test.each(GARBAGE)(
    "%s while the node follows leaves those that were read before, until it can be read again",
    (_, spoil) => {
      remove();
      write(10);
      const { faults, knows } = source();
      expect([knows(9), knows(10)]).toEqual([false, true]);
      remove();
      spoil();
      expect([knows(9), knows(10)]).toEqual([false, true]);
      expect(faults).toEqual(Array(2).fill(expect.stringContaining(`trust.validators_file names ${path}`)));
      remove();
      write(5);
      expect([knows(4), knows(5)]).toEqual([false, true]);
      expect(faults).toHaveLength(2);
    },
  );

  test.each(GARBAGE)("%s from the start is an error", (_, spoil) => {
    remove();
    spoil();
    const { faults, knows } = source();
    expect(() => knows(10)).toThrow(`trust.validators_file names ${path}`);
    expect(faults).toEqual([]);
  });
});
