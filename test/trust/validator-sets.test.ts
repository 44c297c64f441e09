import { describe, expect, test } from "bun:test";
import { MAINNET_VALIDATORS, parseValidatorSets, ValidatorSets } from "../../src/trust/validator-sets.ts";
import devnet from "./vectors/devnet-validators.json";

const KEY = devnet.sets[0]?.public_keys[0] ?? "";
const OTHER = MAINNET_VALIDATORS[0]?.public_keys[0] ?? "";
const setOf = (from: number, shards: number[], keys = [KEY]) => ({
  effective_at: from,
  shard_ids: shards,
  public_keys: keys,
});

describe("the validators of a height", () => {
  test("are those of the newest set of the shard from its first height on", () => {
    const sets = new ValidatorSets(MAINNET_VALIDATORS);
    expect([39_797_999, 39_798_000].map((height) => sets.at(1, height)?.size)).toEqual([6, 7]);
    expect([39_179_999, 39_180_000].map((height) => sets.at(0, height)?.size)).toEqual([6, 7]);
    expect([0, 1].map((height) => sets.at(2, height)?.size)).toEqual([5, 5]);
  });

  test("are unknown for a shard and for heights that no set names", () => {
    const sets = new ValidatorSets([setOf(10, [1])]);
    expect([sets.at(1, 9), sets.at(2, 10)]).toEqual([undefined, undefined]);
    expect(sets.at(1, 10)?.size).toBe(1);
  });

  test("do not depend on the order of the sets", () => {
    const sets = new ValidatorSets([setOf(20, [1], [KEY, OTHER]), setOf(0, [1])]);
    expect([19, 20].map((height) => sets.at(1, height)?.size)).toEqual([1, 2]);
  });
});

describe("a file of validator sets", () => {
  const sizeOf = (text: string) => {
    const parsed = parseValidatorSets(text);
    return parsed.ok ? parsed.value.at(1, 5)?.size : parsed.error;
  };

  test("is JSON, or the reference node's TOML", () => {
    expect(sizeOf(JSON.stringify(devnet))).toBe(1);
    expect(
      sizeOf(
        `[[consensus.validator_sets]]\neffective_at = 0\nshard_ids = [0, 1]\nvalidator_public_keys = ["${KEY}", "${OTHER}"]\n`,
      ),
    ).toBe(2);
  });

  for (const [what, text, reason] of [
    ["neither", "{", "neither JSON nor TOML"],
    ["JSON without sets", "{}", "/sets"],
    ["a set without validators", JSON.stringify({ sets: [setOf(0, [1], [])] }), "/sets/0/public_keys"],
    ["a validator twice", JSON.stringify({ sets: [setOf(0, [1], [KEY, KEY])] }), "/sets/0/public_keys"],
    ["a short key", JSON.stringify({ sets: [setOf(0, [1], ["00"])] }), "/sets/0/public_keys/0"],
    [
      "a key that signs anything",
      JSON.stringify({ sets: [setOf(0, [1], ["01".padEnd(64, "0")])] }),
      "not an Ed25519 key",
    ],
    [
      "two sets from one height on",
      JSON.stringify({ sets: [setOf(0, [1]), setOf(0, [1, 2])] }),
      "two sets of validators",
    ],
    ["65 validators", JSON.stringify({ sets: [setOf(0, [1], keys(65))] }), "/sets/0/public_keys"],
  ] as const)
    test(`with ${what} is refused with a reason`, () => {
      expect(sizeOf(text)).toContain(reason);
    });
});

function keys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => index.toString(16).padStart(64, "0"));
}
