import type { Command } from "commander";
import { UserError } from "../../lib/failure.ts";
import type { ManagementClient } from "../client/client.ts";
import { type CallOptions, openClient, withCallOptions } from "../client/options.ts";
import type { CommandContext } from "../context.ts";
import { readInput } from "../input.ts";
import { print } from "../output.ts";
import { responseJson } from "./table.ts";

/** Enough for a million fids. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Maximum number of fids in one request. */
const PER_REQUEST = 1_000;
const PAGE = "100";

/** `bans import|export`: whole lists, which take several calls. */
export function registerBans(program: Command, context: CommandContext): void {
  const bans = program.commands.find((command) => command.name() === "bans");
  if (bans === undefined) throw new Error("the commands of bans are not registered");

  withCallOptions(
    bans
      .command("import")
      .description(
        "ban the users of a file: an fid a line, or the first column of a CSV; - for standard input",
      )
      .argument("<file>"),
  ).action(async (file: string, options: CallOptions) => {
    const fids = fidsOf(new TextDecoder().decode(await readInput(file, MAX_FILE_BYTES)), file);
    const client = await openClient(context, options);
    for (let at = 0; at < fids.length; at += PER_REQUEST)
      await client.call("addAppBans", { body: { fids: fids.slice(at, at + PER_REQUEST) } });
    print(options.json ? responseJson({ banned: fids.length }) : `banned ${fids.length} users\n`);
  });

  withCallOptions(
    bans
      .command("export")
      .description("print the users that the app of the fid bans, an fid a line, newest ban first"),
  ).action(async (options: CallOptions) => {
    const all = await allBans(await openClient(context, options));
    print(options.json ? responseJson({ bans: all }) : all.map(({ fid }) => `${fid}\n`).join(""));
  });
}

/** Reads the fids of a file, without duplicates. Empty lines, a heading and lines after `#` are ignored. */
export function fidsOf(text: string, file: string): number[] {
  const fids = new Set<number>();
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const first = line.split(",")[0]?.trim() ?? "";
    if (first === "" || first.startsWith("#") || (at === 0 && first.toLowerCase() === "fid")) continue;
    const fid = /^[0-9]{1,16}$/.test(first) ? Number(first) : Number.NaN;
    if (!Number.isSafeInteger(fid) || fid < 1)
      throw new UserError(`line ${at + 1} of ${file} does not begin with an fid`);
    fids.add(fid);
  }
  if (fids.size === 0) throw new UserError(`${file} has no fid`);
  return [...fids];
}

interface ListedBan {
  readonly fid: number;
  readonly banned_at: number;
}

async function allBans(client: ManagementClient): Promise<readonly ListedBan[]> {
  const bans: ListedBan[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = { limit: PAGE, ...(cursor === "" ? {} : { cursor }) };
    const page = (await client.call("listAppBans", { query })) as {
      bans: ListedBan[];
      next: { cursor: string | null };
    };
    bans.push(...page.bans);
    cursor = page.next.cursor;
  }
  return bans;
}
