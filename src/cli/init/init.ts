import { type Command, InvalidArgumentError } from "commander";
import { isNodeUrlOrEmpty, MAX_UPSTREAMS } from "../../config/formats.ts";
import type { CommandContext } from "../context.ts";
import { type InitOptions, parseFid, parseFids } from "./choice.ts";

/** `init`: writes the first settings of a node, and prints what it will cost. */
export function registerInit(program: Command, context: CommandContext): void {
  program
    .command("init")
    .description(
      "write the first settings and estimate what the node will cost; asks on a terminal unless a flag names its users",
    )
    .option("--demo", "a demo network of its own, to try it out")
    .option(
      "--fids <list>",
      "the users of an app: these fids, separated by commas; may be repeated",
      readFids,
    )
    .option("--fid-file <file>", "the users of an app: the fids in this file (upstream.fid_file)")
    .option(
      "--channel <name>",
      "everyone who has a cast in this channel (name or parent URL) at the followed node; members who never cast are not in the protocol",
    )
    .option("--followers-of <fid>", "this fid and everyone who follows it, at most 100,000", readFid)
    .option("--all", "the whole network")
    .option(
      "--upstream <url>",
      "the snapchain node to follow, as http://host:3383 (upstream.url); may be repeated, so that others take over (upstream.urls)",
      readUrl,
    )
    .option("--public", "listen on every network of this machine (http.host)")
    .option("--output <file>", "the settings file, or the directory for svc.toml", "svc.toml")
    .option("--force", "replace files that exist")
    .option("--no-estimate", "do not ask the followed node what following it will cost")
    .option("--json", "print a JSON object, and ask nothing")
    .action(async (options: InitOptions) => {
      const { runInit } = await import("./run-init.ts");
      await runInit(context, options);
    });
}

function readFids(text: string, before: readonly number[] = []): readonly number[] {
  const fids = parseFids(text);
  if (!fids) throw new InvalidArgumentError("Fids are positive integers, separated by commas.");
  return [...new Set([...before, ...fids])];
}

function readFid(text: string): number {
  const fid = parseFid(text);
  if (fid === undefined) throw new InvalidArgumentError("It is a positive integer.");
  return fid;
}

function readUrl(text: string, before: readonly string[] = []): readonly string[] {
  if (text === "" || !isNodeUrlOrEmpty(text))
    throw new InvalidArgumentError("It is a URL such as http://host:3383, without a path.");
  if (before.length >= MAX_UPSTREAMS) throw new InvalidArgumentError(`At most ${MAX_UPSTREAMS} nodes.`);
  return [...new Set([...before, text])];
}
