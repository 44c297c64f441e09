import { constants } from "node:fs";
import { resolve } from "node:path";
import { readSmallFile } from "../../config/files/small-file.ts";
import type { Config } from "../../config/schema.ts";
import { reasonOf } from "../../lib/failure.ts";
import { MAINNET_VALIDATORS, parseValidatorSets, ValidatorSets } from "../../trust/validator-sets.ts";

/** Source of the validator sets: the release, or the operator's file. */
export type ValidatorOrigin = "release" | "file";

export interface KnownValidators {
  readonly origin: ValidatorOrigin;
  readonly sets: ValidatorSets;
}

/**
 * Returns a function that returns the validators of the network, or undefined if neither the release nor the settings name
 * any. A file is read on each call, so that a change takes effect without a restart. If it becomes unreadable, nothing
 * changes: the validators that it last named still count.
 *
 * @param onFault called whenever the file cannot be read after it could be before.
 * @throws Error (from the function) when the file is missing or invalid from the start.
 */
export function createValidatorSource(
  { protocol, trust }: Pick<Config, "protocol" | "trust">,
  onFault: (cause: unknown) => void,
): () => KnownValidators | undefined {
  if (trust.validators_file !== "") {
    const path = resolve(trust.validators_file);
    let last: KnownValidators | undefined;
    return () => {
      try {
        last = { origin: "file", sets: readSets(path) };
      } catch (cause) {
        if (!last) throw cause;
        onFault(cause);
      }
      return last;
    };
  }
  if (protocol.network !== "mainnet") return () => undefined;
  const known: KnownValidators = { origin: "release", sets: new ValidatorSets(MAINNET_VALIDATORS) };
  return () => known;
}

function readSets(path: string): ValidatorSets {
  const sets = parseValidatorSets(readText(path));
  if (!sets.ok) throw new Error(`trust.validators_file names ${path}, which is invalid: ${sets.error}`);
  return sets.value;
}

function readText(path: string): string {
  try {
    const text = readSmallFile(path, ({ mode }) => {
      // Opening a pipe would wait for a writer.
      if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new Error("not a regular file");
    });
    if (text !== undefined) return text;
  } catch (cause) {
    throw new Error(`trust.validators_file names ${path}, which cannot be read: ${reasonOf(cause)}`);
  }
  throw new Error(`trust.validators_file names ${path}, which does not exist`);
}
