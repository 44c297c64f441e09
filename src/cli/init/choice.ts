import { UserError } from "../../lib/failure.ts";
import { itemsOf } from "../../lib/text.ts";

/** Which users a node serves. */
export type Choice =
  | { readonly kind: "demo" }
  | { readonly kind: "all" }
  | { readonly kind: "fids"; readonly fids: readonly number[] }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "channel"; readonly channel: string }
  | { readonly kind: "followers"; readonly fid: number };

/** What an operator wants, from flags or answers. */
export interface Wanted {
  readonly choice: Choice;
  /** Empty with the demo network. */
  readonly upstreamUrl: string;
  /** Nodes that take over if it fails. Default: none. */
  readonly furtherUrls?: readonly string[];
  /** The settings file to write. */
  readonly output: string;
  readonly dataDir: string;
  /** Whether other machines can reach the node. */
  readonly isPublic: boolean;
  /** Further settings, as `section.key=value`. */
  readonly set: readonly string[];
}

/** A positive integer; undefined for any other text. */
export function parseFid(text: string): number | undefined {
  const fid = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(fid) ? fid : undefined;
}

/** Parses fids that are separated by commas or spaces, with or without brackets; undefined if one is invalid or there are none. */
export function parseFids(text: string): number[] | undefined {
  const fids = itemsOf(text).map(parseFid);
  return fids.length > 0 && fids.every((fid) => fid !== undefined) ? [...new Set(fids)] : undefined;
}

/** The options of the command line. */
export interface InitOptions {
  readonly demo?: boolean;
  readonly fids?: readonly number[];
  readonly fidFile?: string;
  readonly channel?: string;
  readonly followersOf?: number;
  readonly all?: boolean;
  readonly upstream?: readonly string[];
  readonly public?: boolean;
  readonly output: string;
  readonly force?: boolean;
  /** False with --no-estimate. */
  readonly estimate: boolean;
  readonly json?: boolean;
}

const SCOPE_FLAGS = "--demo, --fids, --fid-file, --channel, --followers-of, --all";

/**
 * Returns the choice of the flags; undefined if there is none.
 *
 * @throws UserError for several choices.
 */
export function choiceOf(options: InitOptions): Choice | undefined {
  const { demo, fids, fidFile, channel, followersOf, all } = options;
  const choices: Choice[] = [];
  if (demo) choices.push({ kind: "demo" });
  if (fids) choices.push({ kind: "fids", fids });
  if (fidFile !== undefined) choices.push({ kind: "file", path: fidFile });
  if (channel !== undefined) choices.push({ kind: "channel", channel });
  if (followersOf !== undefined) choices.push({ kind: "followers", fid: followersOf });
  if (all) choices.push({ kind: "all" });
  if (choices.length > 1) throw new UserError(`only one of ${SCOPE_FLAGS} can be given`);
  return choices[0];
}

/** Returns the error for missing flags if there is no terminal to ask on. */
export function missingChoice(): UserError {
  return new UserError(`pass the users to serve with one of ${SCOPE_FLAGS}; on a terminal, init asks`);
}
