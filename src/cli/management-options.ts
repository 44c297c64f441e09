import { type Command, InvalidArgumentError } from "commander";
import type { ManagementClient } from "./client/client.ts";
import type { CommandContext } from "./context.ts";
import { printError } from "./output.ts";

/** What every command that signs takes. */
export interface SignerOptions {
  readonly fid: number;
  readonly keyFile?: string;
}

/** What every command that signs and sends takes. */
export interface CallOptions extends SignerOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** Adds the options that say who signs. */
export function withSignerOptions(command: Command): Command {
  return command
    .requiredOption("--fid <n>", "the fid that acts", parseFid)
    .option("--key-file <file>", "file with the fid's custody key in hex (default: the variable SVC_KEY)");
}

/** Adds the options that say who signs, which node is asked, and how the answer is shown. */
export function withCallOptions(command: Command): Command {
  return withSignerOptions(command)
    .option("--url <url>", "base URL of the node (default: the address in the settings)")
    .option("--json", "print the JSON of the answer, secrets included");
}

/** The service's names and the key that signs, as the options and the settings say; a warning goes to standard error. */
export async function openSigner(context: CommandContext, options: SignerOptions) {
  const { readConfig } = await import("./common.ts");
  const { serviceNames } = await import("../config/names.ts");
  const { KEY_VARIABLE, readCustodyKey } = await import("./client/custody-key.ts");
  const { config } = readConfig(context);
  const { account, warning } = readCustodyKey({ file: options.keyFile, variable: process.env[KEY_VARIABLE] });
  if (warning !== undefined) printError(`warning: ${warning}\n`);
  return { config, signer: { names: serviceNames(config.service.name), account, fid: options.fid } };
}

/** The client of the node that the options or the settings name. */
export async function openClient(context: CommandContext, options: CallOptions): Promise<ManagementClient> {
  const { systemClock } = await import("../runtime/clock.ts");
  const { createManagementClient } = await import("./client/client.ts");
  const { isPlainOverNetwork, nodeUrl } = await import("./node-url.ts");
  const { config, signer } = await openSigner(context, options);
  const baseUrl = nodeUrl(options.url ?? config.http);
  if (isPlainOverNetwork(baseUrl)) {
    printError(`warning: ${baseUrl.origin} is plain http: secrets cross the network readable\n`);
  }
  return createManagementClient({ ...signer, baseUrl, clock: systemClock });
}

/** A whole number up to 2^53 - 1, the range in which this node has fids. */
export function parseFid(text: string): number {
  const fid = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(fid)) throw new InvalidArgumentError("It is a whole number from 1 to 2^53 - 1.");
  return fid;
}

/** The fids of a comma-separated list; an empty text names none. */
export function parseFids(text: string): readonly number[] {
  return parseItems(text).map(parseFid);
}

/** The items of a comma-separated list; an empty text names none. */
export function parseItems(text: string): readonly string[] {
  return text
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** Makes the parser of a flag that may be repeated, each time with a list. */
export function collecting<T>(parse: (text: string) => readonly T[]) {
  return (text: string, before: readonly T[] = []): readonly T[] => [...before, ...parse(text)];
}
