import { resolve } from "node:path";
import type { Config } from "../config/schema.ts";
import { readSmallFile } from "../config/small-file.ts";
import { MAINNET_VALIDATORS, parseValidatorSets, ValidatorSets } from "../trust/validator-sets.ts";

/** Where the sets of validators are from: the release, or the operator's file. */
export type ValidatorOrigin = "release" | "file";

export interface KnownValidators {
  readonly origin: ValidatorOrigin;
  readonly sets: ValidatorSets;
}

/**
 * Returns a function that returns the validators of the network, or undefined where neither the release nor the settings name
 * any. A file is read at each call, so that a changed one counts without a restart.
 *
 * @throws Error (the function) when the file is missing or invalid.
 */
export function createValidatorSource({
  protocol,
  trust,
}: Pick<Config, "protocol" | "trust">): () => KnownValidators | undefined {
  if (trust.validators_file !== "") {
    const path = resolve(trust.validators_file);
    return () => ({ origin: "file", sets: readSets(path) });
  }
  if (protocol.network !== "mainnet") return () => undefined;
  const known: KnownValidators = { origin: "release", sets: new ValidatorSets(MAINNET_VALIDATORS) };
  return () => known;
}

function readSets(path: string): ValidatorSets {
  const text = readSmallFile(path);
  if (text === undefined) throw new Error(`trust.validators_file names ${path}, which does not exist`);
  const sets = parseValidatorSets(text);
  if (!sets.ok) throw new Error(`trust.validators_file names ${path}, which is invalid: ${sets.error}`);
  return sets.value;
}
