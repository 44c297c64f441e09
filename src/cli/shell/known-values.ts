/** What a shell completes after an option whose text the program reads itself. */
export interface KnownValues {
  readonly words: readonly string[];
  /** Whether the value is a list with commas. */
  readonly isList: boolean;
}

const one = (...words: string[]): KnownValues => ({ words, isList: false });
const list = (...words: string[]): KnownValues => ({ words, isList: true });

/** By the option's long name, which has the same values in every command. Tests compare them with the schemas that validate them. */
const KNOWN_VALUES: Readonly<Record<string, KnownValues>> = {
  "--log-level": one("trace", "debug", "info", "warn", "error", "fatal", "silent"),
  "--log-format": one("json", "pretty"),
  "--on": list(
    "cast.created",
    "cast.deleted",
    "follow.created",
    "follow.deleted",
    "reaction.created",
    "reaction.deleted",
    "user.created",
    "user.updated",
  ),
  "--scopes": list("read", "write", "signers", "webhooks", "apps", "push"),
};

/** The values of an option, by its long name. */
export function knownValues(option: string | undefined): KnownValues | undefined {
  return option !== undefined && Object.hasOwn(KNOWN_VALUES, option) ? KNOWN_VALUES[option] : undefined;
}
