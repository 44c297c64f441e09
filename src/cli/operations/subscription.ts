import type { Command } from "commander";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { itemsOf } from "../../lib/text.ts";
import { collecting, parseFids } from "../client/options.ts";
import { readInput } from "../input.ts";

/** Maximum webhook body that a node accepts. */
const MAX_SUBSCRIPTION_BYTES = 256 * 1024;

type Filter = Readonly<Record<string, unknown>>;
interface FilterFlag {
  /** The name in a subscription. The flag has hyphens in place of `_`. */
  readonly filter: string;
  readonly value: string;
  readonly description: string;
  /** Parses the flag's text into a list. If omitted, the text itself is the value. */
  readonly parse?: (text: string) => readonly unknown[];
  /** Parses the flag's text into a single value. */
  readonly parseOne?: (text: string) => unknown;
}

const fids = { value: "<fids>", parse: parseFids };
const hashes = { value: "<hashes>", parse: itemsOf };
/** A URL may contain a comma, so each needs its own flag. */
const url = { value: "<url>", parse: (text: string) => [text] };

/** All filters. The node validates which kind accepts which filter. */
export const FILTER_FLAGS: readonly FilterFlag[] = [
  { filter: "author_fids", description: "casts, and changes of channels, by one of these", ...fids },
  { filter: "exclude_author_fids", description: "no casts by these", ...fids },
  {
    filter: "minimum_author_score",
    value: "<score>",
    description: "casts by authors with at least this score, 0 to 1, where the node lets scores decide",
    parseOne: Number,
  },
  { filter: "mentioned_fids", description: "casts that mention one of these", ...fids },
  { filter: "parent_urls", description: "casts directly under this URL; may be repeated", ...url },
  { filter: "root_parent_urls", description: "casts in threads under this URL; may be repeated", ...url },
  { filter: "parent_hashes", description: "replies to one of these casts", ...hashes },
  { filter: "parent_author_fids", description: "replies to casts by one of these", ...fids },
  { filter: "text", value: "<regex>", description: "casts whose text matches (RE2)" },
  { filter: "embeds", value: "<regex>", description: "casts with an embedded URL that matches (RE2)" },
  { filter: "embedded_cast_author_fids", description: "quotes of casts by one of these", ...fids },
  { filter: "embedded_cast_hashes", description: "quotes of one of these casts", ...hashes },
  { filter: "fids", description: "follows, reactions, profiles or roles of one of these", ...fids },
  { filter: "target_fids", description: "follows of, reactions to casts of, one of these", ...fids },
  { filter: "target_cast_hashes", description: "reactions to one of these casts", ...hashes },
  {
    filter: "channel_ids",
    value: "<id>",
    parse: url.parse,
    description: "changes of this channel; may be repeated",
  },
  {
    filter: "match",
    value: "<all|any>",
    description: "whether all given filters must match (default), or any",
  },
];

export interface SubscriptionOptions {
  readonly subscription?: string;
  readonly on?: readonly string[];
  /** The filter flags, with the names of the command line parser. */
  readonly [flag: string]: unknown;
}

/** Adds `--subscription`, `--on` and the filter flags. */
export function withSubscriptionOptions(command: Command): Command {
  command
    .option("--subscription <file.json>", 'the subscription as JSON; "-" reads standard input')
    .option(
      "--on <kinds>",
      "kinds of event instead of a file, such as cast.created,follow.created",
      collecting(itemsOf),
    );
  command
    .option("--exclude-fids <fids>", "with --on: no events by these, of any kind", collecting(parseFids))
    .option("--exclude-bans", "with --on: no events by users that the app of the fid bans");
  for (const { filter, value, description, parse } of FILTER_FLAGS) {
    const flag = `--${filter.replaceAll("_", "-")} ${value}`;
    if (parse === undefined) command.option(flag, `with --on: ${description}`);
    else command.option(flag, `with --on: ${description}`, collecting(parse));
  }
  return command;
}

/**
 * Returns the subscription that the options describe, not validated: each kind of `--on`, narrowed by all filter flags. Undefined if they
 * describe none.
 *
 * @throws UserError for contradictory options, and for a file that is not JSON.
 */
export async function subscriptionOf(options: SubscriptionOptions): Promise<unknown> {
  const { subscription, on = [] } = options;
  const filter = filterOf(options);
  const exclude = exclusionOf(options);
  const [filterName] = [...Object.keys(filter), ...Object.keys(exclude).map((key) => `exclude_${key}`)];
  if (subscription !== undefined) {
    if (on.length > 0 || filterName !== undefined) {
      throw new UserError("--subscription is complete: it cannot be combined with --on or filter flags");
    }
    return await readJson(subscription);
  }
  if (on.length > 0) {
    const filters = Object.fromEntries(on.map((kind) => [kind, filter]));
    return Object.keys(exclude).length === 0 ? filters : { ...filters, exclude };
  }
  if (filterName !== undefined) {
    throw new UserError(`--${filterName.replaceAll("_", "-")} narrows the kinds of --on, which is missing`);
  }
  return undefined;
}

function exclusionOf({ excludeFids: fids, excludeBans: bans }: SubscriptionOptions): Filter {
  return { ...(fids !== undefined && { fids }), ...(bans === true && { bans }) };
}

function filterOf(options: SubscriptionOptions): Filter {
  const input = FILTER_FLAGS.map(({ filter, parseOne }) => {
    const option = filter.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const given = options[option];
    return [filter, parseOne && typeof given === "string" ? parseOne(given) : given] as const;
  });
  return Object.fromEntries(input.filter(([, value]) => value !== undefined));
}

async function readJson(path: string): Promise<unknown> {
  const bytes = await readInput(path, MAX_SUBSCRIPTION_BYTES);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new UserError(`${path} is not JSON: ${reasonOf(cause)}`, { cause });
  }
}
