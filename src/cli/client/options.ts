import { type Command, InvalidArgumentError } from "commander";
import { itemsOf } from "../../lib/text.ts";
import type { CommandContext } from "../context.ts";
import { printError } from "../output.ts";
import type { ManagementClient } from "./client.ts";

/** The options of every command that signs. */
export interface SignerOptions {
  readonly fid: number;
  readonly keyFile?: string;
}

/** The options of every command that signs and sends. */
export interface CallOptions extends SignerOptions {
  readonly url?: string;
  readonly json?: boolean;
}

/** Adds the options for the signer. */
export function withSignerOptions(command: Command): Command {
  return command
    .requiredOption("--fid <n>", "the fid that acts", parseFid)
    .option("--key-file <file>", "file with the fid's custody key in hex (default: the variable SVC_KEY)");
}

/** Adds the options for the signer, the node and the output. */
export function withCallOptions(command: Command): Command {
  return withSignerOptions(command)
    .option(
      "--url <url>",
      "base URL of the node (default: that of the data directory, else the address in the settings)",
    )
    .option("--json", "print the JSON of the response, secrets included");
}

/** Reads the settings and the signing key. Prints a warning about the key to standard error. */
export async function openSigner(context: CommandContext, options: SignerOptions) {
  const { readConfig } = await import("../common.ts");
  const { serviceNames } = await import("../../config/names.ts");
  const { KEY_VARIABLE, readCustodyKey } = await import("./key-files.ts");
  const loaded = readConfig(context, "client");
  const { account, warning } = readCustodyKey({ file: options.keyFile, variable: process.env[KEY_VARIABLE] });
  if (warning !== undefined) printError(`warning: ${warning}\n`);
  return { loaded, signer: { names: serviceNames(loaded.config.service.name), account, fid: options.fid } };
}

/** Creates a client of the node from the options or settings. */
export async function openClient(context: CommandContext, options: CallOptions): Promise<ManagementClient> {
  const { systemClock } = await import("../../runtime/clock.ts");
  const { createManagementClient } = await import("./client.ts");
  const { isPlainOverNetwork, nodeUrl, ownNodeUrl } = await import("./node-url.ts");
  const { loaded, signer } = await openSigner(context, options);
  const baseUrl = nodeUrl(options.url ?? ownNodeUrl(loaded));
  if (isPlainOverNetwork(baseUrl)) {
    printError(`warning: ${baseUrl.origin} is plain http: secrets are readable on the network\n`);
  }
  return createManagementClient({ ...signer, baseUrl, clock: systemClock });
}

/** Parses an integer up to 2^53 - 1, the range of fids on this node. */
export function parseFid(text: string): number {
  const fid = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(fid)) throw new InvalidArgumentError("It is a whole number from 1 to 2^53 - 1.");
  return fid;
}

/** Parses a list of fids, which may be empty. */
export function parseFids(text: string): readonly number[] {
  return itemsOf(text).map(parseFid);
}

/** Returns the parser of a repeatable flag whose values are lists: `--fids 1,2` is the same as `--fids 1 --fids 2`. */
export function collecting<T>(parse: (text: string) => readonly T[]) {
  return (text: string, before: readonly T[] = []): readonly T[] => [...before, ...parse(text)];
}
