import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseJson } from "../lib/json.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type Ed25519Verifier, ed25519Verifier } from "../protocol/validate/ed25519.ts";
import mainnet from "./mainnet-validators.json";

/** The validators of some shards from a height on. Keys are in hex. */
export interface ValidatorSet {
  readonly effective_at: number;
  readonly shard_ids: readonly number[];
  readonly public_keys: readonly string[];
}

/** The validators of one shard at one height. */
export interface Validators {
  readonly size: number;
  /** Returns the verifier of a validator's signatures; undefined for a key that is not in the set. */
  verifierOf(publicKey: Uint8Array): Ed25519Verifier | undefined;
}

const MAX_SETS = 4096;
const MAX_VALIDATORS = 64;
const MAX_SHARDS = 64;

const FILE = Type.Object({
  sets: Type.Array(
    Type.Object({
      effective_at: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      shard_ids: Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }), {
        minItems: 1,
        maxItems: MAX_SHARDS,
        uniqueItems: true,
      }),
      public_keys: Type.Array(Type.String({ pattern: "^[0-9a-f]{64}$" }), {
        minItems: 1,
        maxItems: MAX_VALIDATORS,
        uniqueItems: true,
      }),
    }),
    { minItems: 1, maxItems: MAX_SETS },
  ),
});

/** The validator sets of mainnet at the time of this release. No sets of other networks are confirmed. */
export const MAINNET_VALIDATORS: readonly ValidatorSet[] = mainnet.sets;

/** The validators of each shard and height. */
export class ValidatorSets {
  readonly #byShard = new Map<number, { readonly from: number; readonly validators: Validators }[]>();

  /**
   * @throws RangeError for a key that is not a point of the curve, and for two sets of a shard with the same starting
   * height.
   */
  constructor(sets: readonly ValidatorSet[]) {
    for (const { effective_at: from, shard_ids: shards, public_keys: keys } of sets) {
      const validators = validatorsOf(keys);
      for (const shard of shards) {
        const ofShard = this.#byShard.getOrInsertComputed(shard, () => []);
        if (ofShard.some((other) => other.from === from))
          throw new RangeError(`two sets of validators are effective for shard ${shard} at ${from}`);
        ofShard.push({ from, validators });
        ofShard.sort((a, b) => b.from - a.from);
      }
    }
  }

  /** Returns the newest set of a shard in effect at a height. */
  at(shard: number, height: number): Validators | undefined {
    return this.#byShard.get(shard)?.find(({ from }) => from <= height)?.validators;
  }
}

function validatorsOf(keys: readonly string[]): Validators {
  const verifiers = new Map(
    keys.map((hex) => {
      const verifier = ed25519Verifier(Buffer.from(hex, "hex"));
      if (!verifier) throw new RangeError(`${hex} is not an Ed25519 key`);
      return [hex, verifier];
    }),
  );
  return { size: verifiers.size, verifierOf: (key) => verifiers.get(key.toHex()) };
}

/** Reads a file of validator sets: JSON with a list `sets`, or the reference node's TOML with tables `[[consensus.validator_sets]]`. */
export function parseValidatorSets(text: string): Result<ValidatorSets, string> {
  const parsed = parseJson(text) ?? parseToml(text);
  if (parsed === undefined) return err("it is neither JSON nor TOML");
  if (!Value.Check(FILE, parsed)) {
    const first = Value.Errors(FILE, parsed).First();
    return err(`${first?.path || "/"}: ${first?.message ?? "not a list of validator sets"}`);
  }
  try {
    return ok(new ValidatorSets(parsed.sets));
  } catch (cause) {
    if (cause instanceof RangeError) return err(cause.message);
    throw cause;
  }
}

const TOML_FILE = Type.Object({
  consensus: Type.Object({
    validator_sets: Type.Array(Type.Object({ validator_public_keys: Type.Unknown() })),
  }),
});

/** Returns the sets of a TOML text in the form of the JSON file. */
function parseToml(text: string): unknown {
  let parsed: unknown;
  try {
    parsed = Bun.TOML.parse(text);
  } catch {
    return undefined;
  }
  if (!Value.Check(TOML_FILE, parsed)) return parsed;
  return {
    sets: parsed.consensus.validator_sets.map(({ validator_public_keys: keys, ...set }) => ({
      ...set,
      public_keys: keys,
    })),
  };
}
