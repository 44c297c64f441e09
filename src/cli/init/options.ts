import { UserError } from "../../lib/failure.ts";
import type { Choice } from "../../setup/init/choice.ts";

/** The options of the command line. */
export interface InitOptions {
  readonly demo?: boolean;
  readonly fids?: readonly number[];
  readonly fidFile?: string;
  readonly channel?: string;
  readonly followersOf?: number;
  readonly all?: boolean;
  readonly upstream?: string;
  readonly public?: boolean;
  readonly output: string;
  readonly force?: boolean;
  /** False with --no-estimate. */
  readonly estimate: boolean;
  readonly json?: boolean;
}

const SCOPE_FLAGS = "--demo, --fids, --fid-file, --channel, --followers-of, --all";

/**
 * The choice of the flags; undefined without one.
 *
 * @throws UserError for several.
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

/** The error without a flag where there is no terminal to ask on. */
export function missingChoice(): UserError {
  return new UserError(`say which users the node serves, by one of ${SCOPE_FLAGS}; on a terminal it asks`);
}
